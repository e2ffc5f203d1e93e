// The rules of the mixtures. Layers count from the input; i of n layers.
#include "compress/mixture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>

#include "base/error.h"
#include "compress/tensor_role.h"
#include "io/ggml_types.h"
#include "quant/weight_format.h"

namespace arion {

namespace {

// Type ids as files spell them.
enum Type : uint32_t {
  kF32 = ggml_type_number("F32"),
  kF16 = ggml_type_number("F16"),
  kQ4_0 = ggml_type_number("Q4_0"),
  kQ4_1 = ggml_type_number("Q4_1"),
  kQ5_0 = ggml_type_number("Q5_0"),
  kQ5_1 = ggml_type_number("Q5_1"),
  kQ8_0 = ggml_type_number("Q8_0"),
  kQ2_K = ggml_type_number("Q2_K"),
  kQ3_K = ggml_type_number("Q3_K"),
  kQ4_K = ggml_type_number("Q4_K"),
  kQ5_K = ggml_type_number("Q5_K"),
  kQ6_K = ggml_type_number("Q6_K"),
  kIQ2_XXS = ggml_type_number("IQ2_XXS"),
  kIQ2_XS = ggml_type_number("IQ2_XS"),
  kIQ3_XXS = ggml_type_number("IQ3_XXS"),
  kIQ1_S = ggml_type_number("IQ1_S"),
  kIQ4_NL = ggml_type_number("IQ4_NL"),
  kIQ3_S = ggml_type_number("IQ3_S"),
  kIQ2_S = ggml_type_number("IQ2_S"),
  kIQ4_XS = ggml_type_number("IQ4_XS"),
  kIQ1_M = ggml_type_number("IQ1_M"),
  kBF16 = ggml_type_number("BF16"),
  kTQ1_0 = ggml_type_number("TQ1_0"),
  kTQ2_0 = ggml_type_number("TQ2_0"),
  kMXFP4 = ggml_type_number("MXFP4"),
  kQ1_0 = ggml_type_number("Q1_0"),
  kQ2_0 = ggml_type_number("Q2_0"),
};

// Names as in the table of general.file_type.
consteval Mixture mixture(std::string_view name, Type base) {
  return {name, ggml_mixture_number(name), base};
}

constexpr std::array kMixtures = {
    mixture("F32", kF32),         mixture("F16", kF16),       mixture("BF16", kBF16),
    mixture("Q4_0", kQ4_0),       mixture("Q4_1", kQ4_1),     mixture("Q5_0", kQ5_0),
    mixture("Q5_1", kQ5_1),       mixture("Q8_0", kQ8_0),     mixture("Q2_K", kQ2_K),
    mixture("Q2_K_S", kQ2_K),     mixture("Q3_K_S", kQ3_K),   mixture("Q3_K_M", kQ3_K),
    mixture("Q3_K_L", kQ3_K),     mixture("Q4_K_S", kQ4_K),   mixture("Q4_K_M", kQ4_K),
    mixture("Q5_K_S", kQ5_K),     mixture("Q5_K_M", kQ5_K),   mixture("Q6_K", kQ6_K),
    mixture("IQ1_S", kIQ1_S),     mixture("IQ1_M", kIQ1_M),   mixture("IQ2_XXS", kIQ2_XXS),
    mixture("IQ2_XS", kIQ2_XS),   mixture("IQ2_S", kIQ2_XS),  mixture("IQ2_M", kIQ2_S),
    mixture("IQ3_XXS", kIQ3_XXS), mixture("IQ3_XS", kIQ3_S),  mixture("IQ3_S", kIQ3_S),
    mixture("IQ3_M", kIQ3_S),     mixture("IQ4_NL", kIQ4_NL), mixture("IQ4_XS", kIQ4_XS),
    mixture("TQ1_0", kTQ1_0),     mixture("TQ2_0", kTQ2_0),   mixture("MXFP4_MOE", kMXFP4),
    mixture("Q1_0", kQ1_0),       mixture("Q2_0", kQ2_0),
};

std::string upper(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::toupper(c); });
  return out;
}

bool matches(std::string_view pattern, std::string_view name) {
  size_t p = 0, n = 0, star = std::string_view::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p, ++n;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  return std::ranges::all_of(pattern.substr(p), [](char c) { return c == '*'; });
}

// What the rules ask about a model.
struct ModelFacts {
  std::string_view architecture;
  int layers = 0;
  int experts = 0;
  int queries_per_key = 0;
  bool is_70b = false;
  bool has_output = false;
};

// A number of the architecture, of its first layer where each has one; 0 where the file is silent.
int number(const GgufFile& file, std::string_view architecture, std::string_view key) {
  const GgufMetadata& metadata = file.metadata();
  const std::string full = fmt::format("{}.{}", architecture, key);
  const GgufEntry* const entry = metadata.find(full);
  if (entry == nullptr) return 0;
  uint64_t value = 0;
  if (entry->is_array()) {
    const auto all = metadata.get_integers(full);
    value = all->empty() ? 0 : static_cast<uint64_t>(std::max<int64_t>(all->front(), 0));
  } else {
    value = *metadata.get_unsigned(full);
  }
  return static_cast<int>(std::min<uint64_t>(value, 1u << 20));
}

ModelFacts facts_of(const GgufFile& file) {
  ModelFacts facts;
  facts.architecture = file.metadata().get_string("general.architecture").value_or("");
  facts.layers = number(file, facts.architecture, "block_count");
  facts.experts = number(file, facts.architecture, "expert_count");
  const int heads = number(file, facts.architecture, "attention.head_count");
  const int key_heads = number(file, facts.architecture, "attention.head_count_kv");
  facts.queries_per_key = key_heads > 0 ? heads / key_heads : heads > 0 ? 1 : 0;
  constexpr std::array<std::string_view, 3> kWith70b = {"llama", "deci", "qwen2"};
  facts.is_70b = facts.layers == 80 && facts.queries_per_key > 1 &&
                 std::ranges::count(kWith70b, facts.architecture) > 0;
  facts.has_output = file.find_tensor("output.weight") != nullptr;
  return facts;
}

// One tensor and its place among those of its role.
struct Place {
  TensorRole role = TensorRole::other;
  int index = 0;  // of this role, from the input on
  int count = 0;
  uint64_t cols = 0;
  bool is_stack = false;  // of experts

  bool is_before(int part) const { return index < count / part; }
  // The first and last eighth and every third layer between.
  bool deserves_more() const {
    return is_before(8) || index >= 7 * count / 8 || (index - count / 8) % 3 == 2;
  }
};

class Rules {
 public:
  Rules(const ModelFacts& model, const MixtureOptions& options)
      : model_(model),
        mix_(options.mixture.name),
        base_(options.mixture.base),
        has_importance_(options.has_importance) {}

  uint32_t choose(const Place& at) const {
    if (at.role == TensorRole::output ||
        (at.role == TensorRole::token_embedding && !model_.has_output)) {
      return output(at);
    }
    if (is("MXFP4_MOE")) return at.is_stack ? kMXFP4 : kQ8_0;
    if (at.role == TensorRole::token_embedding) return embedding();
    if (is_tiny()) return tiny(at);
    switch (at.role) {
      case TensorRole::attention_value:
        return value(at);
      case TensorRole::attention_key:
        return model_.experts == 8 ? kQ8_0 : key_or_query();
      case TensorRole::attention_query:
        return key_or_query();
      case TensorRole::attention_output:
        return attention_output();
      case TensorRole::ffn_down:
        return down(at);
      case TensorRole::ffn_gate:
      case TensorRole::ffn_up:
        return is("IQ3_XS") && !at.is_before(8) && at.index < 7 * at.count / 8 ? kIQ3_XXS : base_;
      default:
        return base_;
    }
  }

 private:
  template <typename... Names>
  bool is(Names... names) const {
    return ((mix_ == names) || ...);
  }
  bool is_falcon() const { return model_.architecture == "falcon"; }
  bool is_grouped() const { return model_.queries_per_key >= 4; }
  bool is_tiny() const { return is("IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ2_M"); }

  uint32_t output(const Place& at) const {
    const uint32_t block = find_ggml_type(base_)->block_values;
    if (is("MXFP4_MOE") || is_falcon() || at.cols % block != 0) return kQ8_0;
    if (is_tiny() || is("IQ3_XXS")) return kQ5_K;
    return base_ == kQ8_0 ? kQ8_0 : kQ6_K;
  }

  uint32_t embedding() const {
    if (is("IQ2_XXS", "IQ2_XS", "IQ1_S", "IQ1_M")) return kQ2_K;
    if (is("IQ2_S", "IQ2_M", "IQ3_XXS")) return kIQ3_S;
    if (is("TQ1_0", "TQ2_0", "Q2_0")) return kQ4_K;
    return base_;
  }

  uint32_t tiny(const Place& at) const {
    const uint32_t better = is("IQ2_S", "IQ2_M") ? kIQ3_S : kQ2_K;
    switch (at.role) {
      case TensorRole::attention_value:
        return is_grouped() || model_.experts >= 4 ? kQ4_K : better;
      case TensorRole::attention_key:
        return model_.experts == 8 ? kQ4_K : base_;
      case TensorRole::ffn_down:
        return at.is_before(8) ? better : base_;
      case TensorRole::attention_output:
        if (model_.experts == 8) return kQ5_K;
        if (is("IQ1_S", "IQ1_M")) return kIQ2_XXS;
        return is("IQ2_S", "IQ2_M") ? kIQ3_S : base_;
      default:
        return base_;
    }
  }

  uint32_t value(const Place& at) const {
    if (model_.experts == 8) return kQ8_0;
    const uint32_t type = plain_value(at);
    return model_.is_70b && (type == kQ3_K || type == kQ4_K) ? kQ5_K : type;
  }

  uint32_t plain_value(const Place& at) const {
    if (is("Q2_K")) return is_grouped() ? kQ4_K : kQ3_K;
    if (is("Q2_K_S", "IQ3_XS", "IQ3_S") && is_grouped()) return kQ4_K;
    if (is("IQ3_XXS")) return is_grouped() ? kQ4_K : has_importance_ ? kIQ3_XXS : kIQ3_S;
    if (is("IQ3_M")) return kQ4_K;
    if (is("Q3_K_M")) return at.index < 2 ? kQ5_K : kQ4_K;
    if (is("Q3_K_L")) return kQ5_K;
    if (is("IQ4_NL", "IQ4_XS") && is_grouped()) return kQ5_K;
    if (is("Q4_K_M", "Q5_K_M") && at.deserves_more()) return kQ6_K;
    if (is("Q4_K_S") && at.index < 4) return kQ5_K;
    return base_;
  }

  uint32_t key_or_query() const {
    if (is("IQ3_XS")) return kIQ3_XXS;
    return is("IQ3_XXS") ? kIQ2_S : base_;
  }

  uint32_t attention_output() const {
    if (is_falcon()) return is("Q3_K_L") ? kQ4_K : base_;
    if (model_.experts == 8) {
      return is("Q2_K", "IQ3_XS", "IQ3_XXS", "Q3_K_S", "Q3_K_M", "IQ4_NL", "Q4_K_S", "Q4_K_M",
                "IQ3_S", "IQ3_M", "IQ4_XS")
                 ? kQ5_K
                 : base_;
    }
    if (is("Q2_K")) return kQ3_K;
    if (is("IQ3_XXS")) return kIQ3_S;
    if (is("Q3_K_M", "IQ3_M")) return kQ4_K;
    return is("Q3_K_L") ? kQ5_K : base_;
  }

  uint32_t down(const Place& at) const {
    if (is("Q2_K")) return kQ3_K;
    if (is("Q2_K_S")) return at.is_before(8) ? kQ4_K : base_;
    if (is("IQ3_XXS")) return has_importance_ ? base_ : at.is_before(8) ? kQ4_K : kQ3_K;
    if (is("Q3_K_M")) {
      if (at.is_before(16)) return kQ5_K;
      return !is_falcon() || at.deserves_more() ? kQ4_K : kQ3_K;
    }
    if (is("IQ3_M")) {
      return at.is_before(8) || (model_.experts == 8 && at.deserves_more()) ? kQ4_K : base_;
    }
    if (is("Q3_K_L")) return is_falcon() ? kQ4_K : kQ5_K;
    if (is("Q4_K_M")) {
      if (!is_falcon()) return at.deserves_more() ? kQ6_K : base_;
      return at.is_before(16) ? kQ6_K : at.deserves_more() ? kQ5_K : kQ4_K;
    }
    if (is("IQ4_NL", "IQ4_XS")) return at.is_before(8) && !has_importance_ ? kQ5_K : base_;
    if (is("Q5_K_M")) return at.deserves_more() ? kQ6_K : base_;
    if (is("Q4_K_S")) return at.is_before(8) && !is_falcon() ? kQ5_K : base_;
    // Importance can mislead these two in the first layers.
    if (is("Q4_0", "Q5_0") && has_importance_ && at.is_before(8)) {
      return is("Q4_0") ? kQ4_1 : kQ5_1;
    }
    return base_;
  }

  const ModelFacts& model_;
  std::string_view mix_;
  uint32_t base_;
  bool has_importance_;
};

// Where a row does not divide into blocks: a type of blocks of 32, or else F16.
uint32_t fitting(uint32_t type, uint64_t cols) {
  const auto fits = [&](uint32_t id) { return cols % find_ggml_type(id)->block_values == 0; };
  if (fits(type)) return type;
  uint32_t smaller = type;
  switch (type) {
    case kIQ1_S:
    case kIQ1_M:
    case kIQ2_XXS:
    case kIQ2_XS:
    case kIQ2_S:
    case kIQ3_XXS:
    case kIQ3_S:
    case kIQ4_XS:
      smaller = kIQ4_NL;
      break;
    case kQ1_0:
    case kQ2_0:
    case kQ2_K:
    case kQ3_K:
    case kTQ1_0:
    case kTQ2_0:
      smaller = kQ4_0;
      break;
    case kQ4_K:
      smaller = kQ5_0;
      break;
    case kQ5_K:
      smaller = kQ5_1;
      break;
    case kQ6_K:
      smaller = kQ8_0;
      break;
    default:
      break;
  }
  return fits(smaller) ? smaller : static_cast<uint32_t>(kF16);
}

bool is_float(uint32_t type) {
  return type == kF32 || type == kF16 || type == kBF16;
}

// What is not quantised keeps its type, but for vectors of 16 bits.
uint32_t stored_type(const GgufTensor& tensor) {
  const bool is_small = tensor.rows() == 1 && (tensor.type == kF16 || tensor.type == kBF16);
  return is_small ? static_cast<uint32_t>(kF32) : tensor.type;
}

bool requires_importance(const GgufTensor& tensor, uint32_t type, const Mixture& mixture) {
  const TensorRole role = tensor_role(tensor.name);
  if (role == TensorRole::output || role == TensorRole::token_embedding) return false;
  constexpr std::array<uint32_t, 6> kCoarse = {kIQ3_XXS, kIQ2_XXS, kIQ2_XS, kIQ2_S, kIQ1_M, kIQ1_S};
  return std::ranges::count(kCoarse, type) > 0 || (type == kQ2_K && mixture.name == "Q2_K_S");
}

// Norms, biases and the like never get another type, nor does what cannot be decoded.
bool may_change(const GgufTensor& tensor) {
  return is_quantizable(tensor) && find_weight_format(tensor.type) != nullptr;
}

// Of a pattern that matches both, as * does, only what may change is meant.
void check_is_of_use(const TypeOverride& choice, std::span<const GgufTensor> tensors) {
  const GgufTensor* fixed = nullptr;
  for (const GgufTensor& tensor : tensors) {
    if (!matches(choice.pattern, tensor.name)) continue;
    if (may_change(tensor) || !choice.type) return;
    if (stored_type(tensor) == choice.type) return;
    fixed = &tensor;
  }
  if (fixed == nullptr) {
    fail(ErrorCode::usage, "no tensor of the model has a name like {}", printable(choice.pattern));
  }
  fail(ErrorCode::usage, "no tensor with a name like {} can become {}: {}, for one, stays {}",
       printable(choice.pattern), ggml_type_name(*choice.type), printable(fixed->name),
       ggml_type_name(stored_type(*fixed)));
}

}  // namespace

std::span<const Mixture> mixtures() {
  return kMixtures;
}

const Mixture& require_mixture(std::string_view name) {
  std::string wanted = upper(name);
  if (wanted == "Q3_K" || wanted == "Q4_K" || wanted == "Q5_K") wanted += "_M";
  const auto found = std::ranges::find(kMixtures, wanted, &Mixture::name);
  if (found != kMixtures.end()) return *found;
  std::vector<std::string_view> names;
  for (const Mixture& mixture : kMixtures) names.push_back(mixture.name);
  fail(ErrorCode::usage, "unknown type '{}'; known are {}", printable(name),
       fmt::join(names, ", "));
}

TypeOverride parse_type_override(std::string_view text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) {
    fail(ErrorCode::usage, "'{}': expected PATTERN=TYPE, such as blk.*.attn_v.weight=Q8_0",
         printable(text));
  }
  TypeOverride out{std::string(text.substr(0, equals)), {}};
  const std::string type = upper(text.substr(equals + 1));
  if (type == "SOURCE") return out;
  if (type.empty()) {
    fail(ErrorCode::usage,
         "'{}': the type is missing; expected PATTERN=TYPE, such as blk.*.attn_v.weight=Q8_0, or "
         "PATTERN=source",
         printable(text));
  }
  const WeightFormat* const format = find_weight_format(std::string_view(type));
  if (format == nullptr) {
    fail(ErrorCode::usage, "'{}': there is no tensor type {}", printable(text), printable(type));
  }
  out.type = format->gguf_type();
  return out;
}

std::vector<TypeChoice> choose_types(const GgufFile& file, const MixtureOptions& options) {
  const std::span<const GgufTensor> tensors = file.tensors();
  for (const TypeOverride& choice : options.overrides) check_is_of_use(choice, tensors);
  const ModelFacts model = facts_of(file);
  const Rules rules(model, options);

  // Tensors of a role are counted from the input on, in whatever order the file has them.
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) {
    const int layer_a = layer_of(tensors[a].name), layer_b = layer_of(tensors[b].name);
    return layer_a != layer_b ? layer_a < layer_b : tensors[a].name < tensors[b].name;
  });
  std::array<int, kTensorRoles> seen{};
  const auto value_tensors = std::ranges::count_if(tensors, [](const GgufTensor& tensor) {
    return tensor_role(tensor.name) == TensorRole::attention_value;
  });

  std::vector<TypeChoice> choices(tensors.size());
  for (const size_t i : order) {
    const GgufTensor& tensor = tensors[i];
    TypeChoice& choice = choices[i];
    choice.type = choice.wanted = stored_type(tensor);
    if (!may_change(tensor)) continue;
    Place place{.role = tensor_role(tensor.name), .cols = tensor.cols()};
    place.is_stack = tensor.ne[2] > 1;
    place.count =
        place.role == TensorRole::attention_value ? static_cast<int>(value_tensors) : model.layers;
    int& count = seen[static_cast<size_t>(place.role)];
    // Models with experts have several such tensors in a layer.
    place.index = model.experts > 1 && place.role != TensorRole::attention_value
                      ? layer_of(tensor.name)
                      : count;

    const auto chosen = std::ranges::find_if(options.overrides, [&](const TypeOverride& rule) {
      return matches(rule.pattern, tensor.name);
    });
    if (chosen != options.overrides.end()) {
      if (!chosen->type) continue;
      choice.wanted = *chosen->type;
    } else if (options.is_pure || is_float(options.mixture.base)) {
      choice.wanted = options.mixture.base;
    } else {
      ++count;
      choice.wanted = rules.choose(place);
    }
    choice.type = fitting(choice.wanted, tensor.cols());
    choice.requires_importance = requires_importance(tensor, choice.type, options.mixture);
  }
  return choices;
}

}  // namespace arion

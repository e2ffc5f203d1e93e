// Which key means what, and what transformers takes when it is absent.
#include "model/hf_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "base/error.h"
#include "io/gguf_metadata.h"

namespace arion {
namespace {

using nlohmann::json;

// What the model types differ in.
struct Family {
  std::string_view model_type;  // of config.json
  std::string_view arch;
  std::string_view activation;
  int head_dim;      // default; 0: hidden / heads
  double rope_base;  // default
  bool is_tied;      // default
  bool adds_one_to_norms;
  bool is_reordered;  // GGUF has the rows of queries and keys in another order
};
constexpr Family kFamilies[] = {
    {"llama", "llama", "silu", 0, 10000, false, false, true},
    {"qwen2", "qwen2", "silu", 0, 10000, false, false, false},
    {"qwen3", "qwen3", "silu", 128, 10000, false, false, false},
    {"gemma3_text", "gemma3", "gelu_pytorch_tanh", 256, 1e6, true, true, false},
};

constexpr int64_t kMaxCount = 1 << 26;
constexpr int64_t kMostLayers = 4096;

// Typed access to one JSON object, or one within it; null counts as absent.
class Keys {
 public:
  Keys(const json& object, const std::string& file) : Keys(object, file, "") {}
  Keys(const json& object, const std::string& file, const std::string& name)
      : object_(object), file_(file), prefix_(name.empty() ? "" : name + ".") {
    if (object.is_object()) return;
    fail(ErrorCode::bad_input, "{}: {}expected an object", file,
         name.empty() ? "" : fmt::format("{} is {}, ", name, shown(object)));
  }

  const json* find(const char* key) const {
    const auto it = object_.find(key);
    return it == object_.end() || it->is_null() ? nullptr : &*it;
  }
  std::optional<int> integer(const char* key, int64_t low = 1, int64_t high = kMaxCount) const {
    const json* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_number_integer() || *value < low || *value > high) {
      wrong(key, fmt::format("a whole number from {} to {}", low, high));
    }
    return value->get<int>();
  }
  int require(const char* key, int64_t high = kMaxCount) const {
    const auto value = integer(key, 1, high);
    if (!value) fail(ErrorCode::bad_input, "{}: {}{} is missing", file_, prefix_, key);
    return *value;
  }
  std::optional<double> number(const char* key) const {
    const json* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_number() || !std::isfinite(value->get<double>())) wrong(key, "a number");
    return value->get<double>();
  }
  std::optional<bool> boolean(const char* key) const {
    const json* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_boolean()) wrong(key, "true or false");
    return value->get<bool>();
  }
  std::optional<std::string> string(const char* key) const {
    const json* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_string()) wrong(key, "a string");
    return value->get<std::string>();
  }
  // Refuses a key whose value would change the mathematics.
  void expect_absent(const char* key) const {
    const json* value = find(key);
    if (value == nullptr || *value == false || (value->is_number() && *value == 0)) return;
    wrong(key, "nothing: this build cannot compute such a model");
  }
  [[noreturn]] void wrong(const char* key, std::string_view expected) const {
    fail(ErrorCode::bad_input, "{}: {}{} is {}, expected {}", file_, prefix_, key,
         shown(*find(key)), expected);
  }
  const json& object() const { return object_; }
  const std::string& file() const { return file_; }

 private:
  static std::string shown(const json& value) { return printable(value.dump(-1, ' ', true)); }

  const json& object_;
  const std::string& file_;
  const std::string prefix_;
};

const Family& find_family(const Keys& config) {
  const std::string type = config.string("model_type").value_or("");
  std::string known;
  for (const Family& family : kFamilies) {
    if (family.model_type == type) return family;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", family.model_type);
  }
  fail(ErrorCode::bad_input, "{}: model_type '{}' is not supported; supported are {}",
       config.file(), printable(type), known);
}

// Which layers have a window.
std::vector<bool> window_pattern(const Keys& config, const Family& family, int layers) {
  std::vector<bool> is_windowed(static_cast<size_t>(layers), false);
  if (const json* types = config.find("layer_types")) {
    if (!types->is_array() || types->size() != is_windowed.size()) {
      config.wrong("layer_types", fmt::format("a list of {} layers", layers));
    }
    for (size_t l = 0; l < is_windowed.size(); ++l) {
      is_windowed[l] = (*types)[l] == "sliding_attention";
      if (!is_windowed[l] && (*types)[l] != "full_attention") {
        config.wrong("layer_types", "full_attention and sliding_attention only");
      }
    }
  } else if (family.arch == "gemma3") {
    const char* key = config.find("_sliding_window_pattern") != nullptr ? "_sliding_window_pattern"
                                                                        : "sliding_window_pattern";
    const int period = config.integer(key).value_or(6);
    for (int l = 0; l < layers; ++l) is_windowed[static_cast<size_t>(l)] = (l + 1) % period != 0;
  } else if (config.boolean("use_sliding_window").value_or(false)) {
    const int first = config.integer("max_window_layers", 0).value_or(28);
    for (int l = first; l < layers; ++l) is_windowed[static_cast<size_t>(l)] = true;
  }
  return is_windowed;
}

class Converter {
 public:
  Converter(const json& config, const std::string& file, GgufWriter& out)
      : config_(config, file), family_(find_family(config_)), out_(out) {}

  HfModel convert() {
    model_.arch = family_.arch;
    model_.is_tied = config_.boolean("tie_word_embeddings").value_or(family_.is_tied);
    model_.adds_one_to_norms = family_.adds_one_to_norms;
    refuse_unknown();

    out_.add_string("general.architecture", family_.arch);
    layers_ = config_.require("num_hidden_layers", kMostLayers);
    const int hidden = config_.require("hidden_size");
    const int heads = config_.require("num_attention_heads");
    add("block_count", layers_);
    add("embedding_length", hidden);
    add("context_length", config_.require("max_position_embeddings"));
    add("vocab_size", config_.require("vocab_size"));
    add("feed_forward_length", config_.require("intermediate_size"));
    add("attention.head_count", heads);
    add("attention.head_count_kv", config_.integer("num_key_value_heads").value_or(heads));
    head_dim_ = config_.integer("head_dim")
                    .value_or(family_.head_dim > 0 ? family_.head_dim : hidden / heads);
    add("attention.key_length", head_dim_);
    add("attention.value_length", head_dim_);
    add("rope.dimension_count", head_dim_);
    add("attention.layer_norm_rms_epsilon", config_.number("rms_norm_eps").value_or(1e-6));
    if (family_.is_reordered) out_.add_string(key("rope.pairing"), "half_split");
    if (family_.arch == "gemma3") {
      add("attention.scale", 1 / std::sqrt(config_.number("query_pre_attn_scalar").value_or(256)));
    }
    add_windows();
    add_rotation();
    return model_;
  }

 private:
  std::string key(std::string_view name) const { return fmt::format("{}.{}", family_.arch, name); }
  void add(std::string_view name, int value) {
    out_.add_u32(key(name), static_cast<uint32_t>(value));
  }
  void add(std::string_view name, double value) {
    out_.add_f32(key(name), static_cast<float>(value));
  }

  void refuse_unknown() const {
    for (const char* name : {"attn_logit_softcapping", "final_logit_softcapping",
                             "use_bidirectional_attention", "num_experts", "num_local_experts"}) {
      config_.expect_absent(name);
    }
    if (const auto partial = config_.number("partial_rotary_factor"); partial && *partial != 1) {
      config_.wrong("partial_rotary_factor", "1");
    }
    for (const char* name : {"hidden_act", "hidden_activation"}) {
      const auto activation = config_.string(name);
      // Gemma's files carry an old name that its code ignores beside the one it reads.
      const bool is_ignored = name == std::string_view("hidden_act") && family_.arch == "gemma3";
      if (activation && !is_ignored && *activation != family_.activation) {
        config_.wrong(name, family_.activation);
      }
    }
    if (const json* quantization = config_.find("quantization_config")) {
      const auto method = Keys(*quantization, config_.file(), "quantization_config")
                              .string("quant_method")
                              .value_or("");
      if (method != "fp8" && method != "fbgemm_fp8") {
        fail(ErrorCode::bad_input,
             "{}: quantization_config.quant_method '{}' is not supported; supported is fp8",
             config_.file(), printable(method));
      }
    }
  }

  void add_windows() {
    const std::vector<bool> pattern = window_pattern(config_, family_, layers_);
    if (std::ranges::find(pattern, true) == pattern.end()) {
      if (family_.arch == "gemma3")
        out_.add_bools(key("attention.sliding_window_pattern"), pattern);
      return;
    }
    add("attention.sliding_window", config_.require("sliding_window"));
    out_.add_bools(key("attention.sliding_window_pattern"), pattern);
  }

  // transformers 5 keeps base and scaling together, Gemma's by kind of layer; 4 has them apart.
  void add_rotation() {
    const json empty = json::object();
    const json* all = config_.find("rope_parameters");
    const json* full = all;
    const json* windowed = nullptr;
    std::string name = "rope_parameters";
    if (all != nullptr && all->is_object() && all->contains("full_attention")) {
      full = &(*all)["full_attention"];
      name += ".full_attention";
      if (all->contains("sliding_attention")) windowed = &(*all)["sliding_attention"];
    }
    if (full == nullptr) {
      full = config_.find("rope_scaling");
      name = "rope_scaling";
    }
    const Keys scaling(full != nullptr ? *full : empty, config_.file(), name);
    const double base = scaling.number("rope_theta")
                            .value_or(config_.number("rope_theta").value_or(family_.rope_base));
    add("rope.freq_base", base);
    if (windowed != nullptr) {
      const Keys local(*windowed, config_.file(), "rope_parameters.sliding_attention");
      const std::string type = local.string("rope_type").value_or("default");
      if (type != "default") local.wrong("rope_type", "default in layers with a window");
      add("rope.freq_base_swa", local.number("rope_theta").value_or(10000));
    } else if (const auto local = config_.number("rope_local_base_freq")) {
      add("rope.freq_base_swa", *local);
    }
    add_scaling(scaling, base);
  }

  void add_scaling(const Keys& scaling, double base) {
    const char* name = scaling.find("rope_type") != nullptr ? "rope_type" : "type";
    const std::string type = scaling.string(name).value_or("default");
    if (type == "default") return;
    const double factor = scaling.number("factor").value_or(1);
    if (!(factor >= 1)) scaling.wrong("factor", "a number from 1");
    if (type == "llama3") {
      model_.rope_divisors = llama3_divisors(scaling, base, factor);
      return;
    }
    if (type != "linear" && type != "yarn") {
      scaling.wrong(name, "default, linear, yarn or llama3");
    }
    out_.add_string(key("rope.scaling.type"), type);
    add("rope.scaling.factor", factor);
    if (type == "linear") return;
    for (const char* unknown : {"mscale", "mscale_all_dim"}) scaling.expect_absent(unknown);
    if (const auto truncate = scaling.boolean("truncate"); truncate == false) {
      scaling.wrong("truncate", "true");
    }
    if (const auto original = scaling.integer("original_max_position_embeddings")) {
      add("rope.scaling.original_context_length", *original);
    }
    add("rope.scaling.yarn_beta_fast", scaling.number("beta_fast").value_or(32));
    add("rope.scaling.yarn_beta_slow", scaling.number("beta_slow").value_or(1));
    if (const auto magnitude = scaling.number("attention_factor")) {
      add("rope.scaling.yarn_attn_factor", *magnitude);
    }
  }

  // Long waves are stretched by the factor, short ones left, those between blended.
  std::vector<float> llama3_divisors(const Keys& scaling, double base, double factor) const {
    const double low = scaling.number("low_freq_factor").value_or(1);
    const double high = scaling.number("high_freq_factor").value_or(4);
    const double original = scaling.require("original_max_position_embeddings");
    if (!(low > 0 && high > low)) scaling.wrong("high_freq_factor", "more than low_freq_factor");
    std::vector<float> divisors;
    for (int i = 0; i < head_dim_ / 2; ++i) {
      const double wave = 2 * std::numbers::pi * std::pow(base, 2.0 * i / head_dim_);
      const double blend = std::clamp((original / wave - low) / (high - low), 0.0, 1.0);
      divisors.push_back(static_cast<float>(1 / ((1 - blend) / factor + blend)));
    }
    return divisors;
  }

  const Keys config_;
  const Family& family_;
  GgufWriter& out_;
  HfModel model_;
  int layers_ = 0, head_dim_ = 0;
};

void add_sampling(const json& generation, const std::string& file, GgufWriter& out) {
  const Keys keys(generation, file);
  const bool is_greedy = !keys.boolean("do_sample").value_or(false);
  if (is_greedy) return;
  const std::array<std::pair<const char*, const char*>, 3> numbers = {
      {{"temperature", "general.sampling.temp"},
       {"top_p", "general.sampling.top_p"},
       {"min_p", "general.sampling.min_p"}}};
  for (const auto& [name, key] : numbers) {
    if (const auto value = keys.number(name)) out.add_f32(key, static_cast<float>(*value));
  }
  if (const auto top_k = keys.integer("top_k", 0)) out.add_i32("general.sampling.top_k", *top_k);
}

}  // namespace

HfModel convert_hf_config(const json& config, const std::optional<json>& generation,
                          const std::string& file, GgufWriter& metadata) {
  HfModel model = Converter(config, file, metadata).convert();
  if (generation) add_sampling(*generation, file, metadata);
  return model;
}

}  // namespace arion

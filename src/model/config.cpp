// Reads, defaults and bounds each key; keys that nobody computes are refused.
#include "model/config.h"

#include <cmath>
#include <optional>

#include "base/error.h"
#include "io/gguf_value.h"

namespace arion {
namespace {

constexpr int kMaxLayers = 4096;
constexpr int kMaxHidden = 1 << 20;
constexpr int kMaxHeads = 4096;
constexpr int kMaxHeadDim = 512;  // what the attention kernels are built for
constexpr int kMaxContext = 1 << 26;
constexpr double kMinRopeBase = 2, kMaxRopeBase = 1e12;  // models use 10,000 and more

// Reads the keys of one architecture: "<arch>.block_count" and so on.
class Reader {
 public:
  Reader(const GgufMetadata& metadata, std::string_view arch)
      : metadata_(metadata), prefix_(std::string(arch) + ".") {}

  std::string key(std::string_view name) const { return prefix_ + std::string(name); }

  int required(std::string_view name, int low, int high) const {
    return check(name, metadata_.require_unsigned(key(name)), low, high);
  }
  int optional(std::string_view name, int fallback, int low, int high) const {
    const auto value = metadata_.get_unsigned(key(name));
    return value ? check(name, *value, low, high) : fallback;
  }
  double number(std::string_view name, double fallback, double low, double high) const {
    const auto value = metadata_.get_float(key(name));
    if (value && !(*value >= low && *value <= high)) {
      fail(ErrorCode::bad_input, "metadata key {} is {}, expected a number from {} to {}",
           key(name), *value, low, high);
    }
    return value.value_or(fallback);
  }
  // One value per layer, from a single number or an array.
  std::vector<int> per_layer(std::string_view name, size_t layers, int high) const {
    const auto values = metadata_.get_unsigned_per_layer(key(name), layers);
    if (!values) fail(ErrorCode::bad_input, "metadata key {} is missing", key(name));
    std::vector<int> checked;
    for (uint64_t value : *values) checked.push_back(check(name, value, 1, high));
    return checked;
  }
  bool has(std::string_view name) const { return metadata_.has(key(name)); }
  const GgufMetadata& metadata() const { return metadata_; }

 private:
  int check(std::string_view name, uint64_t value, int low, int high) const {
    if (value < static_cast<uint64_t>(low) || value > static_cast<uint64_t>(high)) {
      fail(ErrorCode::bad_input, "metadata key {} is {}, expected {} to {}", key(name), value, low,
           high);
    }
    return static_cast<int>(value);
  }

  const GgufMetadata& metadata_;
  std::string prefix_;
};

// Which layers have a window: a bool per layer, a period, or the architecture's own period.
std::vector<bool> window_pattern(const Reader& reader, const ArchSpec& spec, size_t layers) {
  const std::string key = reader.key("attention.sliding_window_pattern");
  const GgufEntry* entry = reader.metadata().find(key);
  if (entry != nullptr && entry->is_array()) {
    const auto pattern = reader.metadata().get_bools(key);
    if (!pattern || pattern->size() != layers) {
      fail(ErrorCode::bad_input, "metadata key {} has {} entries, expected one per layer, {}", key,
           entry->count, layers);
    }
    return *pattern;
  }
  const int period =
      reader.optional("attention.sliding_window_pattern", spec.window_period, 0, kMaxLayers);
  std::vector<bool> is_windowed(layers, period == 0 && entry != nullptr);
  for (size_t l = 0; l < layers && period > 0; ++l) {
    is_windowed[l] = static_cast<int>(l) % period < period - 1;
  }
  return is_windowed;
}

RopeScaling read_rope_scaling(const Reader& reader, int context_length) {
  RopeScaling scaling;
  const auto type = reader.metadata().get_string(reader.key("rope.scaling.type"));
  const char* key = reader.has("rope.scaling.factor") ? "rope.scaling.factor" : "rope.scale_linear";
  scaling.factor = reader.number(key, 0, 0, 1e6);
  if (scaling.factor == 0) scaling.factor = 1;  // as if absent
  scaling.attention_factor = reader.number("rope.scaling.attn_factor", 1, 1e-6, 1e6);
  if (type == "none" || (!type && scaling.factor == 1)) return scaling;
  if (!type || type == "linear") {
    scaling.type = RopeScaling::Type::linear;
  } else if (type == "yarn") {
    scaling.type = RopeScaling::Type::yarn;
    scaling.original_context =
        reader.optional("rope.scaling.original_context_length", context_length, 1, kMaxContext);
    scaling.beta_fast = reader.number("rope.scaling.yarn_beta_fast", 32, 1e-3, 1e6);
    scaling.beta_slow = reader.number("rope.scaling.yarn_beta_slow", 1, 1e-3, 1e6);
    scaling.extrapolation = reader.number("rope.scaling.yarn_ext_factor", 1, -1, 1);
    if (scaling.extrapolation < 0) scaling.extrapolation = 1;  // as if absent
    scaling.magnitude = reader.number("rope.scaling.yarn_attn_factor", 0, 0, 1e6);
    scaling.log_multiplier = reader.number("rope.scaling.yarn_log_multiplier", 0, 0, 1e6);
  } else {
    fail(ErrorCode::bad_input,
         "metadata key {} is '{}'; supported rotations are none, linear and yarn",
         reader.key("rope.scaling.type"), printable(*type));
  }
  return scaling;
}

// Keys that change the mathematics in a way no row of the table describes. Their neutral value is
// 0 or, for factors, 1.
void refuse_unknown_mathematics(const Reader& reader) {
  struct Key {
    const char* name;
    bool is_factor;
  };
  static constexpr Key kKeys[] = {
      {"logit_scale", true},
      {"residual_scale", true},
      {"embedding_scale", true},
      {"attn_logit_softcapping", false},
      {"final_logit_softcapping", false},
      {"attention.temperature_scale", false},
      {"attention.shared_kv_layers", false},
      {"expert_count", false},
      {"nextn_predict_layers", false},
  };
  for (const Key& key : kKeys) {
    const GgufEntry* entry = reader.metadata().find(reader.key(key.name));
    if (entry == nullptr) continue;
    std::optional<double> value;
    if (!entry->is_array()) {
      value = load_float(entry->type, entry->payload.data());
      if (const auto integer = load_integer(entry->type, entry->payload.data())) value = *integer;
    }
    if (value == 0.0 || (key.is_factor && value == 1.0)) continue;
    fail(ErrorCode::bad_input, "metadata key {} is {}: this build cannot compute such a model",
         reader.key(key.name), describe_value(*entry));
  }
  if (reader.metadata().get_bool(reader.key("attention.causal")) == false) {
    fail(ErrorCode::bad_input, "metadata key {} is false: this build only runs causal models",
         reader.key("attention.causal"));
  }
}

void read_head_dim(const Reader& reader, ModelConfig& config) {
  const int heads = config.layers[0].heads;
  if (!reader.has("attention.key_length") && config.hidden % heads != 0) {
    fail(ErrorCode::bad_input, "metadata key {} is {}, which does not divide {} = {}",
         reader.key("attention.head_count"), heads, reader.key("embedding_length"), config.hidden);
  }
  config.head_dim = reader.optional("attention.key_length", config.hidden / heads, 1, kMaxHeadDim);
  const int value_dim = reader.optional("attention.value_length", config.head_dim, 1, kMaxHeadDim);
  if (value_dim != config.head_dim) {
    fail(ErrorCode::bad_input, "{} is {} but {} is {}; heads of two sizes are not supported",
         reader.key("attention.value_length"), value_dim, reader.key("attention.key_length"),
         config.head_dim);
  }
  if (config.head_dim < 2 || config.head_dim % 2 != 0 || config.head_dim > kMaxHeadDim) {
    fail(ErrorCode::bad_input, "heads have {} elements ({} / {}); expected an even number up to {}",
         config.head_dim, reader.key("embedding_length"), reader.key("attention.head_count"),
         kMaxHeadDim);
  }
  config.rope_dims = reader.optional("rope.dimension_count", config.head_dim, 2, config.head_dim);
  if (config.rope_dims % 2 != 0) {
    fail(ErrorCode::bad_input, "metadata key {} is {}, expected an even number",
         reader.key("rope.dimension_count"), config.rope_dims);
  }
}

}  // namespace

ModelConfig read_config(const GgufMetadata& metadata, int vocab) {
  ModelConfig config;
  config.spec = &find_arch_spec(printable(metadata.require_string("general.architecture")));
  config.name = std::string(metadata.get_string("general.name").value_or(""));
  const ArchSpec& spec = *config.spec;
  const Reader reader(metadata, spec.name);

  refuse_unknown_mathematics(reader);

  const auto layers = static_cast<size_t>(reader.required("block_count", 1, kMaxLayers));
  config.hidden = reader.required("embedding_length", 1, kMaxHidden);
  config.context_length = reader.required("context_length", 1, kMaxContext);
  config.vocab = reader.optional("vocab_size", vocab, 1, kMaxContext);
  if (config.vocab != vocab) {
    fail(ErrorCode::bad_input, "metadata key {} is {}, but the embedding matrix has {} rows",
         reader.key("vocab_size"), config.vocab, vocab);
  }

  const std::vector<int> heads = reader.per_layer("attention.head_count", layers, kMaxHeads);
  const std::vector<int> kv_heads =
      reader.has("attention.head_count_kv")
          ? reader.per_layer("attention.head_count_kv", layers, kMaxHeads)
          : heads;
  const std::vector<int> feed_forward =
      reader.per_layer("feed_forward_length", layers, 8 * kMaxHidden);
  const int window = reader.optional("attention.sliding_window", 0, 0, kMaxContext);
  const std::vector<bool> is_windowed = window_pattern(reader, spec, layers);
  for (size_t l = 0; l < layers; ++l) {
    if (heads[l] % kv_heads[l] != 0) {
      fail(ErrorCode::bad_input, "layer {}: {} = {} does not divide {} = {}", l,
           reader.key("attention.head_count_kv"), kv_heads[l], reader.key("attention.head_count"),
           heads[l]);
    }
    config.layers.push_back({.heads = heads[l],
                             .kv_heads = kv_heads[l],
                             .feed_forward = feed_forward[l],
                             .window = is_windowed[l] ? window : 0});
  }
  read_head_dim(reader, config);

  config.eps = static_cast<float>(reader.number("attention.layer_norm_rms_epsilon", -1, 0, 1));
  if (config.eps < 0) {
    fail(ErrorCode::bad_input, "metadata key {} is missing",
         reader.key("attention.layer_norm_rms_epsilon"));
  }
  config.rope_base = reader.number("rope.freq_base", 10000, kMinRopeBase, kMaxRopeBase);
  const double fallback = spec.window_rope_base > 0 ? spec.window_rope_base : config.rope_base;
  config.window_rope_base =
      reader.number("rope.freq_base_swa", fallback, kMinRopeBase, kMaxRopeBase);
  // A conversion to GGUF may reorder the rows of queries and keys; weights as published say so.
  const auto pairing = metadata.get_string(reader.key("rope.pairing"));
  if (pairing && pairing != "half_split") {
    fail(ErrorCode::bad_input, "metadata key {} is '{}', expected half_split",
         reader.key("rope.pairing"), printable(*pairing));
  }
  config.pairing = pairing ? RopePairing::half_split : spec.pairing;
  config.rope_scaling = read_rope_scaling(reader, config.context_length);

  const bool is_hidden_scale = static_cast<int>(layers) == spec.hidden_scale_layers;
  const double scored = is_hidden_scale ? static_cast<double>(config.hidden) / heads[0]
                                        : static_cast<double>(config.head_dim);
  const double scale = reader.number("attention.scale", 0, 0, 1e9);
  config.attention_scale = static_cast<float>(scale > 0 ? scale : 1.0 / std::sqrt(scored));
  if (spec.scales_embedding) {
    config.embedding_scale = static_cast<float>(std::sqrt(static_cast<double>(config.hidden)));
  }
  return config;
}

}  // namespace arion

// The network common to all architectures, with its rotations, from embedding to head.
#include "model/model.h"

#include "base/error.h"
#include "base/numerics_mode.h"
#include "model/layer_builder.h"
#include "model/rope_table.h"

namespace arion {
namespace {

// Records the whole network: embedding, layers, final norm and head.
class ModelBuilder {
 public:
  ModelBuilder(const GgufFile& file, const ModelConfig& config)
      : config_(config), tensors_(file, graph_) {}

  Graph build() {
    graph_.set_scope("embedding");
    const WeightId table = tensors_.matrix("token_embd.weight", config_.vocab, config_.hidden);
    ValueId x = graph_.embed(table, config_.embedding_scale);
    make_rotations();
    for (size_t l = 0; l < config_.layers.size(); ++l) x = layer(static_cast<int>(l), x);

    graph_.set_scope("head");
    x = graph_.select_rows(x);
    x = graph_.rms_norm(x, tensors_.vector("output_norm.weight", config_.hidden), config_.eps);
    WeightId head = tensors_.find_matrix("output.weight", config_.vocab, config_.hidden);
    if (!head) head = table;  // tied
    const ValueId logits =
        graph_.linear(x, head, tensors_.find_vector("output.bias", config_.vocab));
    tensors_.check_leftovers();
    return graph_.finish(logits);
  }

 private:
  void make_rotations() {
    const int pairs = config_.rope_dims / 2;
    std::vector<float> divisors =
        tensors_.find_values("rope_freqs.weight", pairs).value_or(std::vector<float>{});
    for (float divisor : divisors) {
      if (!(divisor > 0)) {
        fail(ErrorCode::bad_input, "tensor rope_freqs.weight holds {}, expected positive numbers",
             divisor);
      }
    }
    const RopeAttributes attributes{
        .head_dim = config_.head_dim, .pairs = pairs, .pairing = config_.pairing};
    bool any_full = false, any_window = false;
    for (const LayerConfig& layer : config_.layers) {
      (layer.window == 0 ? any_full : any_window) = true;
    }
    auto rotation = [&](double base, const RopeScaling& scaling, std::span<const float> factors) {
      const int table =
          graph_.rope_table(make_rope_table(config_.rope_dims, base, scaling, factors));
      return Rotation{.angles = graph_.rope_angles(table), .attributes = attributes};
    };
    const bool is_shared =
        config_.spec->window_rope_base == 0 && config_.window_rope_base == config_.rope_base;
    if (any_full || is_shared) {
      full_ = rotation(config_.rope_base, config_.rope_scaling, divisors);
    }
    // Windowed layers see short distances only: their rotation is never stretched.
    if (is_shared) {
      windowed_ = full_;
    } else if (any_window) {
      windowed_ = rotation(config_.window_rope_base, {}, {});
    }
  }

  ValueId layer(int index, ValueId x) {
    const LayerConfig& config = config_.layers[static_cast<size_t>(index)];
    const LayerBuilder l{.graph = graph_,
                         .tensors = tensors_,
                         .config = config_,
                         .layer = config,
                         .rotation = config.window > 0 ? windowed_ : full_,
                         .index = index};
    graph_.set_scope("layer " + std::to_string(index));
    x = sublayer(l, x, "attn_norm.weight", "post_attention_norm.weight", mix_attention);
    return sublayer(l, x, "ffn_norm.weight", "post_ffw_norm.weight", ffn_glu);
  }

  // x + norm?(f(norm(x))): the norm behind f is there if its tensor is.
  ValueId sublayer(const LayerBuilder& l, ValueId x, const char* before, const char* after,
                   ValueId (*f)(const LayerBuilder&, ValueId)) {
    const WeightId gain = tensors_.vector(l.name(before), config_.hidden);
    ValueId y = f(l, graph_.rms_norm(x, gain, config_.eps));
    if (const WeightId post = tensors_.find_vector(l.name(after), config_.hidden)) {
      y = graph_.rms_norm(y, post, config_.eps);
    }
    return graph_.add(x, y);
  }

  const ModelConfig& config_;
  GraphBuilder graph_;
  TensorBinder tensors_;
  Rotation full_, windowed_;
};

// The vocabulary must name every row of the embedding, where the file carries one at all.
void check_vocabulary(const GgufMetadata& metadata, int vocab) {
  const auto kind = metadata.get_string("tokenizer.ggml.model");
  if (!kind || *kind == "none" || *kind == "no_vocab") return;
  const GgufEntry* tokens = metadata.find("tokenizer.ggml.tokens");
  if (tokens == nullptr)
    fail(ErrorCode::bad_input, "metadata key tokenizer.ggml.tokens is missing");
  if (tokens->count != static_cast<uint64_t>(vocab)) {
    fail(ErrorCode::bad_input,
         "metadata key tokenizer.ggml.tokens has {} entries, but the embedding matrix has {} rows",
         tokens->count, vocab);
  }
}

}  // namespace

Model describe_model(GgufFile file) {
  const NumericsMode mode;  // rotation tables are results too
  const GgufTensor& embedding = file.require_tensor("token_embd.weight");
  if (embedding.rows() > (1u << 26)) {
    fail(ErrorCode::bad_input, "tensor token_embd.weight has {} rows, expected at most {}",
         embedding.rows(), 1u << 26);
  }
  check_vocabulary(file.metadata(), static_cast<int>(embedding.rows()));
  ModelConfig config = read_config(file.metadata(), static_cast<int>(embedding.rows()));
  Graph graph = ModelBuilder(file, config).build();
  return {.file = std::move(file), .config = std::move(config), .graph = std::move(graph)};
}

}  // namespace arion

// Makes small random models of every architecture and weight format, as GGUF files in memory.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "io/gguf.h"
#include "io/gguf_writer.h"
#include "quant/weight_format.h"

namespace arion::test {

// Which format a matrix gets, by its name without "blk.N." and ".weight".
using FormatOf = std::function<std::string(std::string_view tensor)>;

struct TinyModel {
  std::string arch = "llama";
  int layers = 2;
  int hidden = 64, feed_forward = 96, vocab = 64;
  int heads = 4, kv_heads = 2, head_dim = 16;
  int context = 2048;
  int window = 0, window_period = 0;  // tokens, layers; gemma3
  bool is_tied = false;
  FormatOf format = [](std::string_view) { return std::string("F32"); };
  uint64_t seed = 1;

  bool has_biases() const { return arch == "qwen2"; }
  bool has_head_norms() const { return arch == "qwen3" || arch == "gemma3"; }
  bool has_post_norms() const { return arch == "gemma3"; }
};

inline FormatOf all_in(std::string format) {
  return [format = std::move(format)](std::string_view) { return format; };
}

// What files called Q4_K_M hold when the hidden size is no multiple of 256: Gemma 3 270M.
inline FormatOf fallback_mix() {
  return [](std::string_view tensor) -> std::string {
    if (tensor == "attn_output") return "Q4_K";
    if (tensor == "ffn_down") return "Q6_K";
    if (tensor == "attn_v" || tensor == "token_embd") return "Q8_0";
    return "Q5_0";
  };
}

// A shape whose matrices divide into blocks of `block` columns. Those of llama have 576 and 640
// columns (blocks of 32) or 256, 768 and 2048 (blocks of 256). The heads of qwen3 end within a
// padded tile, gemma3 has windows shorter than a tile.
inline TinyModel tiny_shape(const std::string& arch, int block) {
  TinyModel m{.arch = arch, .is_tied = arch == "qwen3" || arch == "gemma3"};
  auto shape = [&m](int hidden, int feed_forward, int heads, int kv_heads, int head_dim) {
    m.hidden = hidden;
    m.feed_forward = feed_forward;
    m.heads = heads;
    m.kv_heads = kv_heads;
    m.head_dim = head_dim;
  };
  const bool is_large = block > 32;
  if (arch == "llama") is_large ? shape(256, 2048, 6, 2, 128) : shape(576, 640, 9, 3, 64);
  if (arch == "qwen2") is_large ? shape(256, 512, 4, 1, 64) : shape(96, 160, 3, 1, 32);
  if (arch == "qwen3") is_large ? shape(256, 256, 2, 1, 128) : shape(64, 96, 3, 1, 96);
  if (arch == "gemma3") {
    is_large ? shape(256, 256, 1, 1, 256) : shape(160, 96, 2, 1, 32);
    m.layers = 3;
    m.window = 16;
    m.window_period = 3;
  }
  return m;
}

// The matrices of Gemma 3 270M, with fewer layers and tokens.
inline TinyModel fallback_mix_model() {
  TinyModel m{.arch = "gemma3", .hidden = 640, .feed_forward = 2048, .heads = 4, .kv_heads = 1};
  m.head_dim = 256;
  m.window = 32;
  m.window_period = 2;
  m.is_tied = true;
  m.format = fallback_mix();
  return m;
}

class TinyModelWriter {
 public:
  // Rows of a matrix repeat after this many, since encoding is slow: primes, so that panels beside
  // each other are not equal.
  static int distinct_rows(const WeightFormat& format) {
    return format.block_values() == 256 ? 17 : 67;
  }

  explicit TinyModelWriter(const TinyModel& model) : m_(model), state_(model.seed) {}

  std::string write() {
    write_metadata();
    matrix("token_embd", "token_embd", m_.vocab, m_.hidden, m_.is_tied ? 0.15f : 1.0f);
    for (int l = 0; l < m_.layers; ++l) write_layer("blk." + std::to_string(l) + ".");
    vector("output_norm.weight", m_.hidden, 1.0f, 0.2f);
    if (!m_.is_tied) matrix("output", "output", m_.vocab, m_.hidden, scale(m_.hidden));
    return writer_.bytes();
  }

 private:
  void write_metadata() {
    writer_.add_string("general.architecture", m_.arch);
    const std::string p = m_.arch + ".";
    auto add = [&](const char* key, int value) {
      writer_.add_u32(p + key, static_cast<uint32_t>(value));
    };
    add("block_count", m_.layers);
    add("context_length", m_.context);
    add("embedding_length", m_.hidden);
    add("feed_forward_length", m_.feed_forward);
    add("attention.head_count", m_.heads);
    add("attention.head_count_kv", m_.kv_heads);
    add("attention.key_length", m_.head_dim);
    add("attention.value_length", m_.head_dim);
    if (m_.window > 0) add("attention.sliding_window", m_.window);
    if (m_.window_period > 0) add("attention.sliding_window_pattern", m_.window_period);
    writer_.add_f32(p + "attention.layer_norm_rms_epsilon", 1e-5f);
    writer_.add_f32(p + "rope.freq_base", 10000.0f);
  }

  void write_layer(const std::string& base) {
    const int q_rows = m_.heads * m_.head_dim, kv_rows = m_.kv_heads * m_.head_dim;
    auto project = [&](const char* name, int rows, int cols, bool has_bias) {
      matrix(base + name, name, rows, cols, scale(cols));
      if (has_bias) vector(base + name + ".bias", rows, 0.0f, 0.3f);
    };
    vector(base + "attn_norm.weight", m_.hidden, 1.0f, 0.2f);
    project("attn_q", q_rows, m_.hidden, m_.has_biases());
    project("attn_k", kv_rows, m_.hidden, m_.has_biases());
    project("attn_v", kv_rows, m_.hidden, m_.has_biases());
    project("attn_output", m_.hidden, q_rows, false);
    if (m_.has_head_norms()) {
      vector(base + "attn_q_norm.weight", m_.head_dim, 1.0f, 0.2f);
      vector(base + "attn_k_norm.weight", m_.head_dim, 1.0f, 0.2f);
    }
    if (m_.has_post_norms()) {
      vector(base + "post_attention_norm.weight", m_.hidden, 1.0f, 0.2f);
      vector(base + "post_ffw_norm.weight", m_.hidden, 1.0f, 0.2f);
    }
    vector(base + "ffn_norm.weight", m_.hidden, 1.0f, 0.2f);
    project("ffn_gate", m_.feed_forward, m_.hidden, false);
    project("ffn_up", m_.feed_forward, m_.hidden, false);
    project("ffn_down", m_.hidden, m_.feed_forward, false);
  }

  // Keeps activations near 1, so that every part of the model shows in the logits.
  static float scale(int cols) { return 2.6f / std::sqrt(static_cast<float>(cols)); }

  void matrix(const std::string& name, std::string_view kind, int rows, int cols, float scale) {
    const WeightFormat* format = find_weight_format(m_.format(kind));
    if (format == nullptr) throw std::invalid_argument("no format for " + name);
    add(name + ".weight", *format, rows, cols, 0.0f, scale);
  }
  void vector(const std::string& name, int size, float centre, float scale) {
    add(name, *find_weight_format("F32"), 1, size, centre, scale);
  }
  void add(const std::string& name, const WeightFormat& format, int rows, int cols, float centre,
           float scale) {
    const size_t row_bytes = format.row_bytes(cols);
    const int distinct = distinct_rows(format);
    std::vector<std::byte> data(static_cast<size_t>(rows) * row_bytes);
    std::vector<float> row(static_cast<size_t>(cols));
    for (int r = 0; r < rows; ++r) {
      const auto out = std::span(data).subspan(static_cast<size_t>(r) * row_bytes, row_bytes);
      if (r >= distinct) {
        std::memcpy(out.data(), out.data() - static_cast<size_t>(distinct) * row_bytes, row_bytes);
        continue;
      }
      for (float& value : row) value = centre + scale * noise();
      format.encode_row(row, {}, out);
    }
    std::vector<uint64_t> dims = {static_cast<uint64_t>(cols)};
    if (rows > 1) dims.push_back(static_cast<uint64_t>(rows));
    writer_.add_tensor(name, dims, format.gguf_type(), std::move(data));
  }

  // Uniform in [-1, 1). splitmix64.
  float noise() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return static_cast<float>((z ^ (z >> 31)) >> 40) * 0x1p-23f - 1.0f;
  }

  const TinyModel& m_;
  uint64_t state_;
  GgufWriter writer_;
};

// The bytes of a whole file.
inline std::string write_tiny_model(const TinyModel& model) {
  return TinyModelWriter(model).write();
}

// `bytes` must outlive the result.
inline GgufFile open_in_memory(const std::string& bytes) {
  return GgufFile::parse(std::as_bytes(std::span(bytes)), "tiny.gguf");
}

}  // namespace arion::test

// GGUF files of the tiny model, whole or with changed entries and tensors.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/gguf_writer.h"
#include "io/tiny_model.h"
#include "quant/weight_format.h"

namespace arion::test {

struct TinyEntry {
  std::string key;
  std::function<void(GgufWriter&, std::string_view key)> add;
};

struct TinyTensor {
  std::string name;
  std::vector<uint64_t> dims;
  uint32_t type;
  std::vector<std::byte> data;
};

inline TinyEntry u32_entry(std::string key, uint32_t value) {
  return {std::move(key), [=](GgufWriter& w, std::string_view k) { w.add_u32(k, value); }};
}
inline TinyEntry f32_entry(std::string key, float value) {
  return {std::move(key), [=](GgufWriter& w, std::string_view k) { w.add_f32(k, value); }};
}
inline TinyEntry string_entry(std::string key, std::string value) {
  return {std::move(key), [=](GgufWriter& w, std::string_view k) { w.add_string(k, value); }};
}
inline TinyEntry strings_entry(std::string key, std::vector<std::string> values) {
  return {std::move(key), [=](GgufWriter& w, std::string_view k) { w.add_strings(k, values); }};
}

// Puts the entry at the end, in place of another with its key.
inline std::vector<TinyEntry> with_changed(std::vector<TinyEntry> entries, TinyEntry entry) {
  std::erase_if(entries, [&](const TinyEntry& e) { return e.key == entry.key; });
  entries.push_back(std::move(entry));
  return entries;
}
inline std::vector<TinyEntry> without(std::vector<TinyEntry> entries, std::string_view key) {
  std::erase_if(entries, [&](const TinyEntry& e) { return e.key == key; });
  return entries;
}

// Entries and tensors of the file; a test may change them before it calls tiny_gguf().
inline std::vector<TinyEntry> tiny_entries(const TinyModel& model) {
  const TinyVocabulary& v = model.vocabulary;
  return {
      string_entry("general.architecture", "llama"),
      string_entry("general.name", "tinylm"),
      u32_entry("llama.context_length", model.context),
      u32_entry("llama.embedding_length", kTinyHidden),
      u32_entry("llama.block_count", 1),
      u32_entry("llama.feed_forward_length", kTinyFeedForward),
      u32_entry("llama.attention.head_count", kTinyHeads),
      u32_entry("llama.attention.head_count_kv", kTinyHeads),
      f32_entry("llama.attention.layer_norm_rms_epsilon", model.epsilon),
      u32_entry("llama.rope.dimension_count", kTinyHeadDim),
      f32_entry("llama.rope.freq_base", model.rope_theta),
      u32_entry("llama.vocab_size", kTinyHidden),
      u32_entry("general.file_type", 0),
      string_entry("tokenizer.ggml.model", "gpt2"),
      string_entry("tokenizer.ggml.pre", "gpt-2"),
      strings_entry("tokenizer.ggml.tokens", v.tokens),
      {"tokenizer.ggml.token_type",
       [types = v.types](GgufWriter& w, std::string_view k) { w.add_i32s(k, types); }},
      strings_entry("tokenizer.ggml.merges", v.merges),
      u32_entry("tokenizer.ggml.bos_token_id", kTinyBos),
      u32_entry("tokenizer.ggml.eos_token_id", kTinyEos),
      u32_entry("tokenizer.ggml.padding_token_id", kTinyPad),
      {"tokenizer.ggml.add_bos_token",
       [](GgufWriter& w, std::string_view k) { w.add_bool(k, false); }},
      string_entry("tokenizer.chat_template", model.chat_template),
  };
}

// Rows in the order of GGUF's llama layout: the two rotary halves of each head interleaved.
inline std::vector<float> interleave_rotary_rows(const std::vector<float>& weight) {
  std::vector<float> out;
  for (int head = 0; head < kTinyHeads; ++head) {
    for (int i = 0; i < kTinyHeadDim; ++i) {
      const int row = head * kTinyHeadDim + i / 2 + i % 2 * (kTinyHeadDim / 2);
      const auto begin = weight.begin() + row * kTinyHidden;
      out.insert(out.end(), begin, begin + kTinyHidden);
    }
  }
  return out;
}

// With a format, matrices are encoded in it; vectors stay f32.
inline std::vector<TinyTensor> tiny_tensors(const TinyModel& model,
                                            const WeightFormat* format = nullptr) {
  std::vector<TinyTensor> tensors;
  const auto add = [&](std::string name, int cols, const std::vector<float>& weight) {
    const uint64_t rows = weight.size() / cols;
    TinyTensor tensor{std::move(name), {static_cast<uint64_t>(cols)}, 0, {}};
    if (rows > 1) tensor.dims.push_back(rows);
    const std::span<const float> values(weight);
    if (rows == 1 || format == nullptr) {
      const auto bytes = std::as_bytes(values);
      tensor.data.assign(bytes.begin(), bytes.end());
    } else {
      tensor.type = format->gguf_type();
      const size_t row_bytes = format->row_bytes(cols);
      tensor.data.resize(rows * row_bytes);
      for (uint64_t r = 0; r < rows; ++r) {
        format->encode_row(values.subspan(r * cols, cols), {},
                           std::span(tensor.data).subspan(r * row_bytes, row_bytes));
      }
    }
    tensors.push_back(std::move(tensor));
  };
  const std::vector<float> ones(kTinyHidden, 1.0f);
  add("token_embd.weight", kTinyHidden, model.embedding);
  add("output_norm.weight", kTinyHidden, ones);
  add("blk.0.attn_norm.weight", kTinyHidden, ones);
  add("blk.0.attn_q.weight", kTinyHidden, interleave_rotary_rows(model.q));
  add("blk.0.attn_k.weight", kTinyHidden, interleave_rotary_rows(model.k));
  add("blk.0.attn_v.weight", kTinyHidden, model.v);
  add("blk.0.attn_output.weight", kTinyHidden, model.o);
  add("blk.0.ffn_norm.weight", kTinyHidden, ones);
  add("blk.0.ffn_gate.weight", kTinyHidden, model.gate);
  add("blk.0.ffn_up.weight", kTinyHidden, model.up);
  add("blk.0.ffn_down.weight", kTinyFeedForward, model.down);
  add("output.weight", kTinyHidden, model.output);
  return tensors;
}

inline GgufWriter tiny_writer(const std::vector<TinyEntry>& entries,
                              const std::vector<TinyTensor>& tensors) {
  GgufWriter writer;
  for (const TinyEntry& entry : entries) entry.add(writer, entry.key);
  for (const TinyTensor& t : tensors) writer.add_tensor(t.name, t.dims, t.type, t.data);
  return writer;
}
inline std::string tiny_gguf(const std::vector<TinyEntry>& entries,
                             const std::vector<TinyTensor>& tensors) {
  return tiny_writer(entries, tensors).bytes();
}
inline std::string tiny_gguf(const TinyModel& model, const WeightFormat* format = nullptr) {
  return tiny_gguf(tiny_entries(model), tiny_tensors(model, format));
}

}  // namespace arion::test

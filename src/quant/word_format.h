// WeightFormat of plain numbers: one word per value, no scales.
#pragma once
#include <cstring>
#include <string_view>

#include "base/check.h"
#include "quant/block_format.h"
#include "quant/panel_pack.h"
#include "quant/weight_format.h"

namespace arion {

// Layout has kName, kType (ggml type id), kCodec, Word, and
//   static float decode(Word)
//   static Word encode(float)
template <typename Layout>
class WordFormat final : public WeightFormat {
 public:
  using Word = typename Layout::Word;
  static constexpr PanelSpec kPanel{Layout::kCodec, ScaleMode::none, 0};

  std::string_view name() const override { return Layout::kName; }
  uint32_t gguf_type() const override { return Layout::kType; }
  int block_values() const override { return 1; }
  size_t block_bytes() const override { return sizeof(Word); }
  PanelSpec panel() const override { return kPanel; }

  void decode_row(std::span<const std::byte> blocks, std::span<float> out) const override {
    CHECK(blocks.size() == out.size() * sizeof(Word));
    for (size_t i = 0; i < out.size(); ++i) {
      Word word;
      std::memcpy(&word, blocks.data() + i * sizeof word, sizeof word);
      out[i] = Layout::decode(word);
    }
  }

  // Every value is rounded to the nearest by itself, so importance cannot matter.
  void encode_row(std::span<const float> row, std::span<const float> /*importance*/,
                  std::span<std::byte> blocks) const override {
    CHECK(blocks.size() == row.size() * sizeof(Word));
    for (size_t i = 0; i < row.size(); ++i) {
      const Word word = Layout::encode(row[i]);
      std::memcpy(blocks.data() + i * sizeof word, &word, sizeof word);
    }
  }

  void pack(std::span<const std::byte> rows, int cols, std::span<std::byte> panel) const override {
    CHECK(cols > 0);
    pack_words(kPanel, rows, packed_rows(rows.size(), row_bytes(cols)), cols, panel);
  }

  void unpack_row(std::span<const std::byte> panel, int r, std::span<float> out) const override {
    unpack_panel_row(kPanel, panel, r, out);
  }
};

}  // namespace arion

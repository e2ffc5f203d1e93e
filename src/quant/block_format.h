// WeightFormat from the least a format can say: its names, its block, how to split one, how to
// encode one. See formats/q4_0.cpp for the shortest example.
#pragma once
#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>

#include "base/check.h"
#include "quant/panel_pack.h"
#include "quant/panel_store.h"
#include "quant/weight_format.h"

namespace arion {

// What an encoder sees: one block of a row, or a run of blocks.
struct BlockSource {
  const float* x = nullptr;
  const float* importance = nullptr;  // per column; null when all are equal
  float row_mean_square = 0;          // of the whole row; only with importance
};

float mean_square(std::span<const float> row);

// Rows packed by one pack() call of a format with rows of `row_bytes` bytes.
int packed_rows(size_t bytes, size_t row_bytes);

// Layout has kName, kType (ggml type id), kValues (columns per block, a multiple of 32), kPanel,
// and
//   struct Block                                           the bytes of the file, no padding
//   static void split(const Block&, BlockParts&)           codes[kValues] and the mode's scales
//   static void encode(const BlockSource&, Block&)         one block of zeros to be filled, or
//   static void encode(const BlockSource&, std::span<Block>)  a run of at most kBlockRun of them
inline constexpr size_t kBlockRun = 4;

template <typename Layout>
class BlockFormat final : public WeightFormat {
 public:
  using Block = typename Layout::Block;
  static_assert(alignof(Block) <= 2 && Layout::kValues % 32 == 0);

  std::string_view name() const override { return Layout::kName; }
  uint32_t gguf_type() const override { return Layout::kType; }
  int block_values() const override { return Layout::kValues; }
  size_t block_bytes() const override { return sizeof(Block); }
  PanelSpec panel() const override { return Layout::kPanel; }

  void decode_row(std::span<const std::byte> blocks, std::span<float> out) const override {
    CHECK(out.size() % Layout::kValues == 0);
    CHECK(blocks.size() == out.size() / Layout::kValues * sizeof(Block));
    BlockParts parts;
    for (size_t i = 0; i * Layout::kValues < out.size(); ++i) {
      Layout::split(load(blocks.data() + i * sizeof(Block)), parts);
      arion::block_values(Layout::kPanel, parts, out.subspan(i * Layout::kValues, Layout::kValues));
    }
  }

  void encode_row(std::span<const float> row, std::span<const float> importance,
                  std::span<std::byte> blocks) const override {
    CHECK(row.size() % Layout::kValues == 0);
    CHECK(blocks.size() == row.size() / Layout::kValues * sizeof(Block));
    CHECK(importance.empty() || importance.size() == row.size());
    BlockSource source;
    if (!importance.empty()) source.row_mean_square = mean_square(row);
    constexpr bool kTakesRuns = requires(std::span<Block> run) {
      Layout::encode(source, run);
    };
    constexpr size_t kRun = kTakesRuns ? kBlockRun : 1;
    const size_t count = row.size() / Layout::kValues;
    for (size_t i = 0; i < count; i += kRun) {
      source.x = row.data() + i * Layout::kValues;
      source.importance = importance.empty() ? nullptr : importance.data() + i * Layout::kValues;
      std::array<Block, kRun> run{};
      const size_t length = std::min(kRun, count - i);
      if constexpr (kTakesRuns) {
        Layout::encode(source, std::span(run).first(length));
      } else {
        Layout::encode(source, run[0]);
      }
      std::memcpy(blocks.data() + i * sizeof(Block), run.data(), length * sizeof(Block));
    }
  }

  void pack(std::span<const std::byte> rows, int cols, std::span<std::byte> panel) const override {
    CHECK(cols > 0 && cols % Layout::kValues == 0);
    const size_t bytes = row_bytes(cols);
    const int count = packed_rows(rows.size(), bytes);
    blank_panel(Layout::kPanel, count, cols, panel);
    BlockParts parts;
    for (int i = 0; i < cols / Layout::kValues; ++i) {
      for (int r = 0; r < count; ++r) {
        Layout::split(load(rows.data() + r * bytes + i * sizeof(Block)), parts);
        packing::store_block(Layout::kPanel, parts, Layout::kValues, {r, i * Layout::kValues},
                             panel.data());
      }
    }
  }

  void unpack_row(std::span<const std::byte> panel, int r, std::span<float> out) const override {
    unpack_panel_row(Layout::kPanel, panel, r, out);
  }

 private:
  static Block load(const std::byte* from) {
    Block block;
    std::memcpy(&block, from, sizeof block);
    return block;
  }
};

}  // namespace arion

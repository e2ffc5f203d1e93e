// How rows of a weight matrix are stored in a file, and how they become panels.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "quant/panel.h"

namespace arion {

// Stateless and immutable; one instance per format, in src/quant/formats/NAME.cpp behind
// `const WeightFormat& format_NAME()`. All functions are thread-safe.
class WeightFormat {
 public:
  virtual ~WeightFormat() = default;
  virtual std::string_view name() const = 0;  // as GGUF files spell it: "Q4_0"
  virtual uint32_t gguf_type() const = 0;     // ggml type id
  virtual int block_values() const = 0;       // columns per block; a row holds whole blocks
  virtual size_t block_bytes() const = 0;
  virtual PanelSpec panel() const = 0;

  size_t row_bytes(int cols) const {
    return static_cast<size_t>(cols / block_values()) * block_bytes();
  }

  // Exact values of one row. `blocks` holds out.size() / block_values() blocks.
  virtual void decode_row(std::span<const std::byte> blocks, std::span<float> out) const = 0;

  // Rounds one row of finite values into blocks, deterministically. `importance` weighs the squared
  // error of each column; empty means all equal.
  virtual void encode_row(std::span<const float> row, std::span<const float> importance,
                          std::span<std::byte> blocks) const = 0;

  // Packs up to 16 consecutive rows of `cols` columns (`rows`, row-major blocks as in the file; the
  // number of rows follows from its size) into one panel of panel_bytes(panel(), cols) bytes, all
  // of which are written.
  virtual void pack(std::span<const std::byte> rows, int cols,
                    std::span<std::byte> panel) const = 0;

  // Exact values of row r (0..15) of a panel: equal to decode_row of the packed row, bit for bit.
  virtual void unpack_row(std::span<const std::byte> panel, int r, std::span<float> out) const = 0;
};

// All formats compiled in, in order of their names.
std::span<const WeightFormat* const> weight_formats();

// Null when no format has that id or name.
const WeightFormat* find_weight_format(uint32_t gguf_type);
const WeightFormat* find_weight_format(std::string_view name);

}  // namespace arion

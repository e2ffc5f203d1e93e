// Random weights, activations and buffers for the tests of the linear kernels.
#pragma once
#include <algorithm>
#include <cstring>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "backend/kernel.h"
#include "base/half.h"
#include "cpu/cpu_kernels.h"
#include "op/reference_matrix.h"
#include "quant/panel_store.h"
#include "quant/weight_format.h"
#include "tensor/memory.h"

namespace arion::test {

using Random = std::mt19937_64;

inline float uniform(Random& random, float low, float high) {
  return low + (high - low) * static_cast<float>(random() >> 40) * 0x1p-24f;
}

// The panels of all quantised formats, one for each pair of codec and mode.
inline std::vector<PanelSpec> quantised_specs() {
  std::vector<PanelSpec> specs;
  for (const WeightFormat* format : weight_formats()) {
    const PanelSpec spec = format->panel();
    const auto is_same_kind = [&](const PanelSpec& other) {
      return other.codec == spec.codec && other.mode == spec.mode;
    };
    if (spec.mode == ScaleMode::none || std::ranges::any_of(specs, is_same_kind)) continue;
    specs.push_back(spec);
  }
  return specs;
}

inline std::vector<PanelSpec> all_specs() {
  std::vector<PanelSpec> specs = quantised_specs();
  for (const Codec codec : {Codec::f32, Codec::f16, Codec::bf16}) {
    specs.push_back({codec, ScaleMode::none, 0});
  }
  return specs;
}

// All codes a format may store.
inline std::vector<uint8_t> codes_of(Codec codec) {
  if (codec == Codec::c1) return {0, 2};
  constexpr std::pair<Codec, int> kBits[] = {{Codec::c2, 2}, {Codec::c3, 3}, {Codec::t3, 3},
                                             {Codec::c4, 4}, {Codec::t4, 4}, {Codec::c5, 5},
                                             {Codec::c6, 6}, {Codec::c8, 8}};
  std::vector<uint8_t> codes;
  for (const auto& [kind, bits] : kBits) {
    for (int c = 0; kind == codec && c < 1 << bits; ++c) codes.push_back(static_cast<uint8_t>(c));
  }
  return codes;
}

// What a code is multiplied as: an integer.
inline int code_value(const PanelSpec& spec, uint8_t code) {
  return is_table(spec.codec) ? code_values(spec.table).value[code] : code - spec.zero;
}

// Small scales as formats may store them.
inline uint8_t random_scale(Random& random, ScaleMode mode) {
  const auto any = static_cast<uint8_t>(random());
  switch (mode) {
    case ScaleMode::d16:
      return any;
    case ScaleMode::d16m:
      return any % 16;
    case ScaleMode::e16:
      return any % 128;
    case ScaleMode::e32:
      return static_cast<uint8_t>(random() % 16 == 0 ? any % 3 : 115 + any % 10);
    default:
      return any % 64;
  }
}

enum class Codes { random, largest, smallest };

// A matrix as blocks (quantised) or words, and packed.
struct TestWeights {
  PanelSpec spec;
  int rows = 0, cols = 0, block = 0;
  std::vector<BlockParts> parts;  // [rows][cols / block]
  std::vector<float> words;       // [rows][cols], specs without scales
  Memory panels;

  TestWeights(const PanelSpec& panel_spec, int row_count, int col_count, uint64_t seed,
              Codes codes = Codes::random)
      : spec(panel_spec), rows(row_count), cols(col_count) {
    Random random(seed);
    panels = Memory(panel_bytes(spec, cols) * static_cast<size_t>(panel_count(rows)));
    if (spec.mode == ScaleMode::none) {
      fill_words(random);
    } else {
      fill_blocks(random, codes);
    }
  }

  PanelMatrix matrix() const { return {panels.data(), spec, rows, cols}; }
  const BlockParts& part(int row, int col) const {
    return parts[static_cast<size_t>(row) * (cols / block) + col / block];
  }

  // Exact values.
  std::vector<float> row(int r) const {
    std::vector<float> values(cols);
    if (block == 0) {
      std::copy_n(words.begin() + static_cast<size_t>(r) * cols, cols, values.begin());
      return values;
    }
    for (int c = 0; c < cols; c += block) {
      block_values(spec, part(r, c), std::span(values).subspan(c, block));
    }
    return values;
  }

 private:
  std::span<std::byte> panel(int index) {
    const size_t bytes = panel_bytes(spec, cols);
    return {panels.data() + bytes * static_cast<size_t>(index), bytes};
  }

  void fill_blocks(Random& random, Codes codes) {
    block = part_cols(spec.mode);
    const int per_row = cols / block;
    parts.resize(static_cast<size_t>(rows) * per_row);
    std::vector<uint8_t> all = codes_of(spec.codec);
    std::ranges::stable_sort(all, {}, [&](uint8_t code) { return code_value(spec, code); });
    for (BlockParts& p : parts) {
      for (uint8_t& code : p.codes) {
        code = codes == Codes::largest    ? all.back()
               : codes == Codes::smallest ? all.front()
                                          : all[random() % all.size()];
      }
      p.d = float_to_half(uniform(random, -0.02f, 0.02f));
      p.m = float_to_half(uniform(random, -0.1f, 0.1f));
      for (uint8_t& s : p.s) s = random_scale(random, spec.mode);
      for (uint8_t& s : p.sm) s = random_scale(random, spec.mode);
    }
    for (int first = 0; first < rows; first += kPanelRows) {
      const int count = std::min(kPanelRows, rows - first);
      blank_panel(spec, count, cols, panel(first / kPanelRows));
      for (int r = 0; r < count; ++r) {
        for (int c = 0; c < cols; c += block) {
          packing::store_block(spec, part(first + r, c), block, {r, c},
                               panel(first / kPanelRows).data());
        }
      }
    }
  }

  void fill_words(Random& random) {
    words.resize(static_cast<size_t>(rows) * cols);
    for (float& w : words) {
      w = uniform(random, -1, 1);
      if (spec.codec == Codec::f16) w = half_to_float(float_to_half(w));
      if (spec.codec == Codec::bf16) w = bfloat16_to_float(float_to_bfloat16(w));
    }
    for (int first = 0; first < rows; first += kPanelRows) {
      const int count = std::min(kPanelRows, rows - first);
      std::vector<std::byte> bytes;
      for (int i = 0; i < count * cols; ++i) {
        const float w = words[static_cast<size_t>(first) * cols + i];
        if (spec.codec == Codec::f32) {
          append(bytes, w);
        } else {
          append(bytes, spec.codec == Codec::f16 ? float_to_half(w) : float_to_bfloat16(w));
        }
      }
      pack_words(spec, bytes, count, cols, panel(first / kPanelRows));
    }
  }

  template <typename T>
  static void append(std::vector<std::byte>& bytes, T value) {
    bytes.resize(bytes.size() + sizeof value);
    std::memcpy(bytes.data() + bytes.size() - sizeof value, &value, sizeof value);
  }
};

// A matrix of activations in one form, its unused bytes poisoned with NaN patterns.
struct TestActivations {
  ActivationForm form;
  int rows, cols;
  Memory memory;

  TestActivations(ActivationForm f, int row_count, int col_count)
      : form(f),
        rows(row_count),
        cols(col_count),
        memory(activation_bytes(f, row_count, col_count) + 64) {
    std::memset(memory.data(), 0xff, memory.size());
  }

  Ref ref() const { return {memory.data(), 0}; }
  Outputs outputs() const {
    Outputs out;
    (form == ActivationForm::f32    ? out.f32
     : form == ActivationForm::bf16 ? out.bf16
                                    : out.int8) = ref();
    return out;
  }
  void set_row(int row, std::span<const float> values) {
    const std::vector<double> exact(values.begin(), values.end());
    reference_store(outputs(), row, exact);
    if (form == ActivationForm::int8) return;
    // The padding must not be read: poison it again.
    const size_t size = form == ActivationForm::f32 ? 4 : 2;
    std::byte* start = memory.data() + activation_stride(form, cols) * static_cast<size_t>(row);
    std::memset(start + size * cols, 0xff, size * (padded_cols(cols) - cols));
  }
  std::span<const float> f32_row(int row) const { return reference_f32_row(ref(), row, cols); }
  const Int8Tile& tile(int row, int block) const {
    const size_t blocks = padded_cols(cols) / kTileCols;
    return reinterpret_cast<const Int8Tile*>(memory.data())[row / kTileRows * blocks + block];
  }
};

inline std::vector<float> random_row(Random& random, int cols) {
  std::vector<float> row(cols);
  for (float& x : row) x = uniform(random, -1, 1) * (random() % 16 == 0 ? 10.0f : 1.0f);
  return row;
}

// Rows of a step, all wanted.
struct TestStep {
  StepInput input;
  explicit TestStep(int rows) { input.all.count = input.output.count = rows; }
};

// Runs every chunk of `kernel` on a scratch full of NaNs. chunks = 0 asks the kernel.
inline void run_kernel(const Kernel& kernel, const void* args, const StepInput& input,
                       int chunks = 0, int workers = 2) {
  static const Memory scratch(kScratchBytes);
  std::memset(scratch.data(), 0xff, scratch.size());
  if (chunks == 0) chunks = kernel.chunks(args, input, workers);
  for (int i = chunks - 1; i >= 0; --i) {
    kernel.run(args, input, i, chunks, Worker{.scratch = scratch.data()});
  }
}

}  // namespace arion::test

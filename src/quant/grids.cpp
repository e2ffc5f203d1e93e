// Searches grids exhaustively, with the cost of every half row in a table.
#include "quant/grids.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/half.h"
#include "quant/code_search.h"

namespace arion {

namespace {

// Up to eight weighted values in steps of the scale.
struct Target {
  std::array<float, 8> x, weight;
};

// Value of a level whose sign bit is clear or set: the table's second half is for set ones.
const int8_t* level_values(const GridFormat& format, bool sign) {
  return code_values(format.table).value.data() + (sign ? 32 / format.row_size : 0);
}

struct Choice {
  uint16_t row = 0;
  float cost = std::numeric_limits<float>::infinity();
};

// Costs of every byte of levels for the `count` values that a byte of a row stands for.
std::array<float, 256> byte_costs(const float* x, const float* weight, int count,
                                  const int8_t* levels) {
  std::array<float, 256> costs{};
  const int level_count = count == 4 ? 4 : 16;  // of two or four bits
  for (int k = 0, size = 1; k < count; ++k, size *= level_count) {
    for (int level = level_count - 1; level >= 0; --level) {  // level 0 overwrites what it reads
      const float error = x[k] - levels[level];
      const float cost = weight[k] * error * error;
      for (int i = 0; i < size; ++i) costs[level * size + i] = costs[i] + cost;
    }
  }
  return costs;
}

Choice nearest_row(const GridFormat& format, const Target& target, const int8_t* levels) {
  const int half = format.row_size / 2;
  const auto low = byte_costs(target.x.data(), target.weight.data(), half, levels);
  const auto high = byte_costs(&target.x[half], &target.weight[half], half, levels);
  Choice best;
  for (size_t r = 0; r < format.grid.size(); ++r) {
    const uint16_t row = format.grid[r];
    const float cost = low[row & 255] + high[row >> 8];
    if (cost < best.cost) best = {static_cast<uint16_t>(r), cost};
  }
  return best;
}

// Encodes a block group by group; values are those of the codes, in steps.
class GridEncoder {
 public:
  GridEncoder(const GridFormat& format, const BlockSource& source)
      : format_(format), source_(source) {}

  GridCodes encode() {
    const float unit = code_values(format_.table).unit;
    const int groups = kMaxBlockValues / format_.group_size;
    const auto largest_scale = static_cast<float>(2 * format_.max_scale + 1);
    std::array<float, 16> steps{};
    float largest = 0;
    for (int g = 0; g < groups; ++g) {
      steps[g] = fit_step(g);
      largest = std::max(largest, steps[g]);
    }
    codes_.d = float_to_half(largest / (largest_scale * unit));
    const float d = half_to_float(codes_.d) * unit;
    for (int g = 0; g < groups; ++g) {
      const int s = d > 0 ? nearest((steps[g] / d - 1) / 2) : 0;
      codes_.s[g] = static_cast<uint8_t>(std::clamp(s, 0, format_.max_scale));
      round_group(g, d * static_cast<float>(2 * codes_.s[g] + 1));
    }
    return codes_;
  }

 private:
  float weight(int i) const { return source_.importance != nullptr ? source_.importance[i] : 1; }

  // A step that reaches the largest value, corrected once for the codes it gives.
  float fit_step(int g) {
    const int begin = g * format_.group_size, end = begin + format_.group_size;
    float largest = 0;
    for (int i = begin; i < end; ++i) largest = std::max(largest, std::fabs(source_.x[i]));
    const auto& values = code_values(format_.table).value;
    const int8_t top = *std::ranges::max_element(values);
    const float step = largest / top;
    round_group(g, step);
    float along = 0, size = 0;
    for (int i = begin; i < end; ++i) {
      along += weight(i) * source_.x[i] * values_[i];
      size += weight(i) * values_[i] * values_[i];
    }
    return along > 0 && size > 0 ? along / size : step;
  }

  void round_group(int g, float step) {
    const float inverse = step > 0 ? 1 / step : 0;
    const int begin = g * format_.group_size, end = begin + format_.group_size;
    if (format_.sign_period > 1) {
      for (int i = begin; i < end; i += format_.sign_period) round_shifted(i, inverse);
      return;
    }
    for (int i = begin; i < end; i += 8) round_signed(i, inverse);
  }

  Target target_of(int begin, float inverse, int size) const {
    Target target{};
    for (int k = 0; k < size; ++k) {
      target.x[k] = source_.x[begin + k] * inverse;
      target.weight[k] = weight(begin + k);
    }
    return target;
  }

  // Eight values of one sign each.
  void round_signed(int begin, float inverse) {
    Target target = target_of(begin, inverse, 8);
    unsigned signs = 0;
    int cheapest = 0;
    const auto cost = [&](int k) { return target.weight[k] * target.x[k] * target.x[k]; };
    for (int k = 0; k < 8; ++k) {
      signs |= static_cast<unsigned>(target.x[k] < 0) << k;
      if (cost(k) < cost(cheapest)) cheapest = k;
    }
    if (format_.has_even_signs && std::popcount(signs) % 2 != 0) signs ^= 1u << cheapest;
    for (int k = 0; k < 8; ++k) {
      if (signs >> k & 1) target.x[k] = -target.x[k];
    }
    for (int k = 0; k < 8; k += format_.row_size) {
      Target part = target;
      std::copy_n(target.x.begin() + k, format_.row_size, part.x.begin());
      std::copy_n(target.weight.begin() + k, format_.row_size, part.weight.begin());
      const Choice choice = nearest_row(format_, part, level_values(format_, false));
      store_row(begin + k, choice.row, signs >> k & ((1u << format_.row_size) - 1));
    }
  }

  // sign_period values whose common sign bit shifts the levels.
  void round_shifted(int begin, float inverse) {
    std::array<std::array<uint16_t, 4>, 2> rows{};
    std::array<float, 2> costs{};
    const int count = format_.sign_period / 8;
    for (int sign = 0; sign < 2; ++sign) {
      for (int r = 0; r < count; ++r) {
        const Target target = target_of(begin + 8 * r, inverse, 8);
        const Choice choice = nearest_row(format_, target, level_values(format_, sign == 1));
        rows[sign][r] = choice.row;
        costs[sign] += choice.cost;
      }
    }
    const int sign = costs[1] < costs[0] ? 1 : 0;
    for (int r = 0; r < count; ++r) {
      store_row(begin + 8 * r, rows[sign][r], sign == 1 ? 0xffu : 0u);
    }
  }

  void store_row(int begin, uint16_t row, unsigned signs) {
    const int at = begin / format_.row_size;
    codes_.row[at] = row;
    codes_.signs[at] = static_cast<uint8_t>(signs);
    uint8_t codes[8];
    if (format_.row_size == 8) {
      split_row8(format_.grid[row], signs, codes);
    } else {
      split_row4(format_.grid[row], signs, codes);
    }
    for (int k = 0; k < format_.row_size; ++k) {
      values_[begin + k] = code_values(format_.table).value[codes[k]];
    }
  }

  const GridFormat& format_;
  const BlockSource& source_;
  GridCodes codes_;
  std::array<float, kMaxBlockValues> values_{};
};

}  // namespace

GridCodes encode_grid(const GridFormat& format, const BlockSource& source) {
  return GridEncoder(format, source).encode();
}

}  // namespace arion

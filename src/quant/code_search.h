// Searches for the scales that encoders use: least squares over a few candidate roundings.
// Source: the k-quants of ggml (make_qx, make_qkx, make_qp), described in its pull request 1684.
#pragma once
#include <cstdint>
#include <span>

#include "quant/code_table.h"

namespace arion {

inline constexpr int kMaxSearchValues = 32;

// Nearest integer, ties to even, in any rounding mode; far values are clamped to +-4e6.
int nearest(float x);

// As a conversion to integer does for values in range; 0 for any other value.
int truncated(float x);

// Codes of x: nearest((x - min) / scale) + zero, clamped to 0..max_code. Zero scale: all `zero`.
struct Grid {
  float scale = 0;
  float min = 0;
  int zero = 0;
  int max_code = 0;
};
void round_to_grid(std::span<const float> x, const Grid& grid, uint8_t* codes);

// The code of the table whose value times `scale` is nearest to x; the first of equals.
uint8_t nearest_code(const CodeValues& table, float scale, float x);

// A scale (of either sign) for codes of a table: its value of largest magnitude meets that of x,
// then least squares for the codes this gives.
float fit_table(std::span<const float> x, const float* importance, const CodeValues& table);

// The scale (of either sign) with the least weighted squared error when x is rounded to
// scale * {-levels .. levels - 1}.
float fit_symmetric(std::span<const float> x, std::span<const float> weights, int levels);

// Candidates of fit_affine: ranges of max_code + start + step * i codes, i = 0 .. count.
struct Sweep {
  float start = 0;
  float step = 0;
  int count = 0;
};

struct Affine {
  float scale = 0;
  float min = 0;  // never positive
};

// The scale and minimum with the least weighted squared error for codes 0..max_code.
Affine fit_affine(std::span<const float> x, std::span<const float> weights, int max_code,
                  const Sweep& sweep);

// Scale and codes 0..max_code for values >= 0, improved code by code.
float fit_positive(std::span<const float> x, std::span<const float> weights, int max_code,
                   uint8_t* codes);

}  // namespace arion

// Searches for the scales that encoders use: least squares over candidate roundings. Every rounding
// and every order of additions is that of ggml's encoders, so that blocks come out byte for byte
// the same; four groups of values are searched side by side, one in each lane.
// Source: the k-quants of ggml (make_qx, make_q3, make_qkx, make_qp), its pull requests 1684, 4930.
#pragma once
#include <cstdint>
#include <span>

#include "quant/quad.h"

namespace arion {

inline constexpr int kMaxSearchValues = 32;

// A group whose magnitudes are all smaller counts as zero.
inline constexpr float kZeroGroup = 1e-15f;

// Nearest integer, ties to even, in any rounding mode; far values are clamped to +-4e6.
int nearest(float x);

// In each lane the value of largest magnitude, the first of equals.
Quad extreme(std::span<const Quad> x);

// Scales (of either sign) with the least weighted squared error when x is rounded to
// scale * {-levels .. levels - 1}; codes are 0 .. 2 * levels - 1, all 0 for a zero group.
Quad fit_symmetric(std::span<const Quad> x, std::span<const Quad> weights, int levels, Quad* codes);

// The same with weights x^2, from one start that is improved code by code.
Quad descend_symmetric(std::span<const Quad> x, int levels, Quad* codes);

enum class ErrorNorm : uint8_t { absolute, squared };

// Candidates of fit_affine: ranges of max_code + start + step * i codes, i = 0 .. count.
struct AffineSearch {
  int max_code = 0;
  float start = 0;
  float step = 0;
  int count = 0;
  ErrorNorm norm = ErrorNorm::squared;
};

struct QuadAffine {
  Quad scale{};
  Quad min{};  // never positive
};

// Scales and minima with the least weighted error for codes 0..max_code.
QuadAffine fit_affine(std::span<const Quad> x, std::span<const Quad> weights,
                      const AffineSearch& search, Quad* codes);

// Candidates where errors are weighed by importance.
constexpr AffineSearch importance_search(int max_code) {
  return {max_code, -0.9f, 0.05f, 36};
}

// Weights of errors, by importance of `count` groups: importance * sqrt(spread + x^2). Large
// weights matter more than their importance alone says: an error in them is seen by all.
void weigh_by_importance(std::span<const Quad> x, const float* importance, int count, Quad spread,
                         Quad* weights);

// Scale and codes 0..max_code for values >= 0, improved code by code.
float fit_positive(std::span<const float> x, std::span<const float> weights, int max_code,
                   uint8_t* codes);

}  // namespace arion

// Rows of logits for the sampler's tests, all from fixed seeds.
#pragma once
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace arion::test {

// Shapes a model's rows can have: peaked, flat, full of ties, partly forbidden.
inline std::vector<float> random_row(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  const size_t size = seed % 10 == 0 ? 5000 + below(5000) : 1 + below(700);
  const float spread = std::exp2(static_cast<float>(below(8)) - 3.0f);
  const bool has_ties = seed % 4 == 1;
  const bool has_forbidden = seed % 5 == 2;
  std::vector<float> row(size);
  for (float& logit : row) {
    float sum = 0;  // twelve uniforms: nearly normal, the same on every C++ library
    for (int i = 0; i < 12; ++i) sum += static_cast<float>(random() % 65536) / 65536.0f;
    logit = (sum - 6.0f) * spread;
    if (has_ties) logit = std::round(logit);
    if (has_forbidden && below(3) == 0) logit = -std::numeric_limits<float>::infinity();
  }
  row[below(static_cast<uint32_t>(size))] = 1.0f;
  return row;
}

// Row of the corpus fixture "iid": B, C, D at 3, 2, 1 and everything else at -8, as logits of the
// 320 tokens whose first 256 are bytes.
inline std::vector<float> iid_row() {
  std::vector<float> row(320, -8.0f);
  row['B'] = 3;
  row['C'] = 2;
  row['D'] = 1;
  return row;
}

}  // namespace arion::test

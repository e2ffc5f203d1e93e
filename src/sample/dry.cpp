// All suffix matches in linear time, by the Z function of the reversed tokens.
#include "sample/dry.h"

#include <algorithm>

#include "base/real_math.h"
#include "sample/param_range.h"

namespace arion {
namespace {

constexpr double kMaxPenalty = 1e6;  // more than logits differ, and far from overflow

float penalty_of(const DryParams& params, int length) {
  const double power = real::pow(static_cast<double>(params.base),
                                 static_cast<double>(length - params.allowed_length));
  return static_cast<float>(std::min(static_cast<double>(params.multiplier) * power, kMaxPenalty));
}

}  // namespace

void check_dry(const DryParams& params) {
  check_range("dry_multiplier", params.multiplier, 0.0f, 100.0f);
  check_range("dry_base", params.base, 1.0f, 100.0f);
  if (params.allowed_length < 1) {
    fail(ErrorCode::bad_input, "dry_allowed_length is {}, expected 1 or more",
         params.allowed_length);
  }
  check_last_n("dry_last_n", params.last_n);
}

// For every token that followed an earlier occurrence of a suffix of at least `allowed` tokens: how
// long that suffix is, `longest` at most. z[i] is the length of the common prefix of the reversed
// tokens and the reversed tokens from i on.
void Dry::find_repeats(std::span<const TokenId> tokens, int longest, int allowed) {
  const int n = static_cast<int>(tokens.size());
  const auto reversed = [&](int i) { return tokens[static_cast<size_t>(n - 1 - i)]; };
  matches_.assign(tokens.size(), 0);
  repeats_.clear();
  for (int i = 1, left = 0, right = 0; i < n; ++i) {  // [left, right): the match that ends last
    int z = i < right ? std::min(right - i, matches_[static_cast<size_t>(i - left)]) : 0;
    while (i + z < n && reversed(z) == reversed(i + z)) ++z;
    if (i + z > right) {
      left = i;
      right = i + z;
    }
    matches_[static_cast<size_t>(i)] = z;
    if (const int length = std::min(z, longest); length >= allowed) {
      repeats_.push_back({.next = reversed(i - 1), .length = length});
    }
  }
}

void Dry::apply(RowEdits& row, const DryParams& params, std::span<const TokenId> tokens) {
  if (params.multiplier == 0.0f) return;
  tokens = last_tokens(tokens, params.last_n);
  const auto is_breaker = [&](TokenId token) {
    return std::binary_search(params.breakers.begin(), params.breakers.end(), token);
  };
  const auto breaker = std::find_if(tokens.rbegin(), tokens.rend(), is_breaker);
  const auto longest = static_cast<int>(breaker - tokens.rbegin());
  if (longest < params.allowed_length) return;
  find_repeats(tokens, longest, params.allowed_length);
  // The longest repetition of each token counts.
  std::sort(repeats_.begin(), repeats_.end(), [](const Repeat& a, const Repeat& b) {
    return a.next < b.next || (a.next == b.next && a.length > b.length);
  });
  TokenId previous = -1;
  for (const Repeat& repeat : repeats_) {
    if (repeat.next == previous) continue;
    previous = repeat.next;
    if (!row.has(repeat.next) || is_breaker(repeat.next)) continue;
    row.set(repeat.next, row.logit(repeat.next) - penalty_of(params, repeat.length));
  }
}

}  // namespace arion

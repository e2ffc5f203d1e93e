#include "engine/step_cost.h"

#include <algorithm>
#include <bit>

namespace arion {
namespace {

constexpr double kDecodeShare = 0.1;  // of the newest step in the mean
constexpr double kPromptDecay = 0.8;  // of older steps' sums
// A step that was interrupted by other programs counts at most so many times the mean.
constexpr double kMostOutlier = 2;
// Tokens that cost nothing beside decoding still count as this share of their step, so that what is
// planned next grows by steps.
constexpr double kLeastShare = 0.25;

}  // namespace

StepLoad load_of(const BatchPlan& plan) {
  StepLoad load;
  for (const Run& run : plan.runs) {
    const bool is_decoding = run.count == 1 && run.first >= run.sequence->prompt_tokens;
    (is_decoding ? load.decode_tokens : load.prompt_tokens) += run.count;
  }
  return load;
}

size_t StepCost::size_of(int tokens) {
  const int width = std::bit_width(static_cast<unsigned>(std::max(tokens, 1) - 1));
  return std::min(static_cast<size_t>(width), kSizes - 1);
}

void StepCost::add(const StepLoad& load, double us) {
  if (load.prompt_tokens == 0) return add_decode(load.decode_tokens, us);
  if (load.decode_tokens == 0) {
    alone_us_ = alone_us_ * kPromptDecay + us;
    alone_tokens_ = alone_tokens_ * kPromptDecay + load.prompt_tokens;
    return;
  }
  const double decode = decode_us(load.decode_tokens);
  if (decode == 0) {
    const double rest = us - load.prompt_tokens * prompt_token_us();
    return add_decode(load.decode_tokens, std::max(rest, kLeastShare * us));
  }
  prompt_us_ = prompt_us_ * kPromptDecay + std::max(us - decode, kLeastShare * us);
  prompt_tokens_ = prompt_tokens_ * kPromptDecay + load.prompt_tokens;
}

void StepCost::add_decode(int tokens, double us) {
  double& mean = decode_us_[size_of(tokens)];
  if (mean == 0) {
    mean = us;
  } else {
    mean += kDecodeShare * (std::min(us, kMostOutlier * mean) - mean);
  }
}

// Of the nearest number of sequences that is known.
double StepCost::decode_us(int tokens) const {
  const size_t size = size_of(tokens);
  for (size_t distance = 0; distance < kSizes; ++distance) {
    if (distance <= size && decode_us_[size - distance] > 0) return decode_us_[size - distance];
    if (size + distance < kSizes && decode_us_[size + distance] > 0) {
      return decode_us_[size + distance];
    }
  }
  return 0;
}

double StepCost::prompt_token_us() const {
  if (prompt_tokens_ > 0) return prompt_us_ / prompt_tokens_;
  return alone_tokens_ > 0 ? alone_us_ / alone_tokens_ : 0;
}

}  // namespace arion

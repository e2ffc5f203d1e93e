// Keeping the first of two rows, and combining it with the second.
#include "engine/negative_prompt.h"

#include <utility>

#include "sample/guidance.h"

namespace arion {

NegativePrompt::NegativePrompt(uint64_t request, std::vector<TokenId> tokens, int resumed_tokens,
                               float scale)
    : scale_(scale) {
  sequence_.id = request;
  sequence_.tokens = std::move(tokens);
  sequence_.prompt_tokens = sequence_.size() - resumed_tokens;
}

// A side that was preempted while its row waited brings the same row again.
bool NegativePrompt::take(const Sequence& side, std::span<float> logits) {
  if (first_of_ != nullptr && first_of_ != &side) {
    second_ = logits;
    return true;
  }
  first_.assign(logits.begin(), logits.end());
  first_of_ = &side;
  return false;
}

std::span<float> NegativePrompt::combine() {
  std::span<float> prompt = first_, negative = second_;
  if (std::exchange(first_of_, nullptr) == &sequence_) std::swap(prompt, negative);
  apply_guidance(prompt, negative, scale_);
  return prompt;
}

}  // namespace arion

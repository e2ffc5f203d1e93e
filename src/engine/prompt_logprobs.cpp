// Entries by position: a prompt that is computed again gives the same.
#include "engine/prompt_logprobs.h"

#include <utility>

namespace arion {

void PromptLogprobs::take(int first, const StepResult& rows) {
  first_ = first;
  rows_ = rows;
}

void PromptLogprobs::compute(std::span<const TokenId> prompt, int vocab, Sampler& sampler) {
  entries_.resize(prompt.size() - 1);
  const StepResult rows = std::exchange(rows_, {});
  for (int i = 0; i < rows.rows; ++i) {
    const auto position = static_cast<size_t>(first_ + i);
    if (position >= entries_.size()) return;
    const std::span<const float> logits(rows.row(i), static_cast<size_t>(vocab));
    entries_[position] = sampler.logprobs(logits, count_, prompt[position + 1]);
  }
}

std::vector<TokenLogprobs> PromptLogprobs::hand_out() {
  return std::exchange(entries_, {});
}

}  // namespace arion

// Log probabilities of the tokens of a prompt, as its rows of logits come.
#pragma once
#include <span>
#include <vector>

#include "runtime/model_runner.h"
#include "sample/sampler.h"

namespace arion {

// Used by one thread at a time.
class PromptLogprobs {
 public:
  // `count` rivals of each token.
  explicit PromptLogprobs(int count) : count_(count) {}

  // Rows of positions first, first + 1, ...; they must stay until compute().
  void take(int first, const StepResult& rows);
  bool has_rows() const { return rows_.rows > 0; }
  // Of the rows taken that have a token of `prompt` behind them. Throws as Sampler::logprobs.
  void compute(std::span<const TokenId> prompt, int vocab, Sampler& sampler);

  // All of them, once.
  std::vector<TokenLogprobs> hand_out();

 private:
  int count_;
  int first_ = 0;
  StepResult rows_;
  std::vector<TokenLogprobs> entries_;  // [position]: of the token behind it
};

}  // namespace arion

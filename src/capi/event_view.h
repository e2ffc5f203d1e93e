// What is new of a choice, as a struct of the C interface.
#pragma once
#include <vector>

#include "api/choice.h"
#include "arion/arion.h"

namespace arion {

// Owns everything the last event points to.
class EventView {
 public:
  // Takes the news of `choice`.
  const arion_event& show(Choice& choice, const GenerationRequest& request);

 private:
  // Log probabilities of tokens, as arrays.
  struct LogprobsView {
    std::vector<arion_logprobs> entries;
    std::vector<arion_token_logprob> tops;  // of all entries

    // entries[i] is of tokens[i].
    void show(std::span<const TokenId> tokens, std::span<const TokenLogprobs> logprobs);
  };

  ChoiceNews news_;
  std::string error_;
  LogprobsView logprobs_, prompt_logprobs_;
  arion_event event_{};
};

}  // namespace arion

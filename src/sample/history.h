// What sampling may know of the answer so far.
#pragma once
#include <optional>
#include <span>

#include "sample/sampler_state.h"
#include "sequence/sequence.h"

namespace arion {

struct History {
  std::span<const TokenId> tokens;     // prompt and answer
  size_t prompt_tokens = 0;            // how many of them are the prompt
  std::span<const TokenId> forbidden;  // tokens that must not come next, e.g. too early ends
  std::optional<SamplerState> state;   // absent: initial_state
};

// The last n of them; n < 0: all.
inline std::span<const TokenId> last_tokens(std::span<const TokenId> tokens, int n) {
  const bool is_all = n < 0 || static_cast<size_t>(n) >= tokens.size();
  return is_all ? tokens : tokens.last(static_cast<size_t>(n));
}

}  // namespace arion

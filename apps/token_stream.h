// Steps a model over given tokens and hands out the logits of every position.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "runtime/graph_runner.h"

namespace arion::app {

// Called for ascending positions of the main sequence with its logits [vocab].
using LogitsSink = std::function<void(int position, std::span<const float> logits)>;

struct StreamOptions {
  int chunk = 512;     // tokens of the main sequence per step
  int companions = 0;  // other sequences running beside it, one token each a step
};

// Throws Error{usage} when there are no tokens, they do not fit the context, or one is outside the
// vocabulary.
void check_tokens(const GraphRunner& runner, std::span<const TokenId> tokens);

// Runs `tokens` through the model from position 0. Companions hold other tokens and must not change
// a bit. Frees all KV blocks before it returns. Checks the tokens first.
void stream_logits(GraphRunner& runner, std::span<const TokenId> tokens,
                   const StreamOptions& options, const LogitsSink& sink);

}  // namespace arion::app

// Steps the sequence beside its companions, in chunks as large as the options and the runner allow.
#include "token_stream.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "runtime/sequence_stepper.h"

namespace arion::app {
namespace {

// Tokens of companion `index`: every one differs from the main sequence's at its position.
std::vector<TokenId> companion_tokens(std::span<const TokenId> tokens, int index, int vocab) {
  const int64_t shift = 1 + index % std::max(1, vocab - 1);
  std::vector<TokenId> other(tokens.begin(), tokens.end());
  for (TokenId& token : other) token = static_cast<TokenId>((token + shift) % vocab);
  return other;
}

}  // namespace

void check_tokens(const GraphRunner& runner, std::span<const TokenId> tokens) {
  if (tokens.empty()) fail(ErrorCode::usage, "there are no tokens to evaluate");
  if (std::cmp_greater(tokens.size(), runner.context_length())) {
    fail(ErrorCode::usage, "{} tokens do not fit the context of {}; use a larger -c", tokens.size(),
         runner.context_length());
  }
  const auto vocab = static_cast<size_t>(runner.vocab_size());
  for (TokenId token : tokens) {
    if (token < 0 || std::cmp_greater_equal(token, vocab)) {
      fail(ErrorCode::usage, "token id {} is outside the vocabulary of {}", token, vocab);
    }
  }
}

void stream_logits(GraphRunner& runner, std::span<const TokenId> tokens,
                   const StreamOptions& options, const LogitsSink& sink) {
  check_tokens(runner, tokens);
  const auto vocab = static_cast<size_t>(runner.vocab_size());
  SequenceStepper main(runner, {tokens.begin(), tokens.end()}, LogitsRows::all);
  std::vector<SequenceStepper> companions;
  companions.reserve(static_cast<size_t>(options.companions));  // runs point into them
  for (int c = 0; c < options.companions; ++c) {
    companions.emplace_back(runner, companion_tokens(tokens, c, runner.vocab_size()),
                            LogitsRows::last);
  }
  const int rows = std::min(runner.max_step_tokens(), runner.max_step_logit_rows());
  const int room = rows - options.companions;
  if (room < 1) fail(ErrorCode::usage, "more companions than rows of a step");

  while (main.pending() > 0) {
    const int count = std::min({options.chunk, main.pending(), room});
    const int first = main.computed();
    BatchPlan plan;
    size_t main_run = 0;
    // Companions on both sides, so that rows of the main sequence start anywhere in a tile.
    for (size_t c = 0; c <= companions.size(); ++c) {
      if (c == companions.size() / 2) {
        main_run = plan.runs.size();
        plan.runs.push_back(main.next(count));
      }
      if (c < companions.size() && companions[c].pending() > 0) {
        plan.runs.push_back(companions[c].next(1));
      }
    }
    const StepResult result = runner.run(plan);
    int row = 0;
    for (size_t r = 0; r < main_run; ++r) row += plan.runs[r].logit_rows();
    for (int i = 0; i < count; ++i) sink(first + i, {result.row(row + i), vocab});
    main.commit(count);
    for (SequenceStepper& companion : companions) {
      if (companion.pending() > 0) companion.commit(1);
    }
  }
}

}  // namespace arion::app

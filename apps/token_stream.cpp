#include "token_stream.h"

#include <algorithm>

#include "base/error.h"

namespace arion::app {
namespace {

Sequence make_sequence(const GraphRunner& runner, std::vector<TokenId> tokens, LogitsRows logits) {
  Sequence sequence;
  sequence.logits = logits;
  sequence.tokens = std::move(tokens);
  sequence.prompt_tokens = sequence.size();
  sequence.kv.resize(runner.kv_groups().size());
  return sequence;
}

Run next_run(GraphRunner& runner, Sequence& sequence, int count) {
  for (size_t g = 0; g < sequence.kv.size(); ++g) {
    if (!sequence.kv[g].grow(runner.pools()[g], sequence.computed + count)) {
      fail(ErrorCode::failed, "the KV cache is full; use a larger -c");
    }
  }
  return {
      .sequence = &sequence, .first = sequence.computed, .count = count, .logits = sequence.logits};
}

void release(GraphRunner& runner, Sequence& sequence) {
  for (size_t g = 0; g < sequence.kv.size(); ++g) sequence.kv[g].clear(runner.pools()[g]);
}

}  // namespace

void stream_logits(GraphRunner& runner, std::span<const TokenId> tokens,
                   const StreamOptions& options, const LogitsSink& sink) {
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
  Sequence main = make_sequence(runner, {tokens.begin(), tokens.end()}, LogitsRows::all);
  std::vector<Sequence> companions;
  for (int c = 0; c < options.companions; ++c) {
    // The same tokens in another order: every companion differs from the main sequence.
    std::vector<TokenId> other(tokens.begin(), tokens.end());
    std::ranges::rotate(other, other.begin() + (c + 1) % static_cast<int>(other.size()));
    companions.push_back(make_sequence(runner, std::move(other), LogitsRows::last));
  }
  const int room = runner.max_step_tokens() - options.companions;
  if (room < 1) fail(ErrorCode::usage, "more companions than rows of a step");

  while (main.pending() > 0) {
    const int count = std::min({options.chunk, main.pending(), room});
    BatchPlan plan;
    // Companions on both sides, so that rows of the main sequence start anywhere in a tile.
    for (size_t c = 0; c <= companions.size(); ++c) {
      if (c == companions.size() / 2) plan.runs.push_back(next_run(runner, main, count));
      if (c < companions.size() && companions[c].pending() > 0) {
        plan.runs.push_back(next_run(runner, companions[c], 1));
      }
    }
    const StepResult result = runner.run(plan);
    int row = 0;
    for (const Run& run : plan.runs) {
      for (int i = 0; i < run.logit_rows(); ++i, ++row) {
        if (run.sequence == &main) sink(run.first + i, {result.row(row), vocab});
      }
      run.sequence->computed += run.count;
    }
  }
  release(runner, main);
  for (Sequence& companion : companions) release(runner, companion);
}

}  // namespace arion::app

// A scheduler with pools and sequences, but without a model: tests say what happens in its steps.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "engine/scheduler.h"

namespace arion::test {

using StepRun = Run;  // a test has a member Run of its own

inline const KvGroupSpec kFull{.layers = 1, .kv_heads = 1, .head_dim = 8};
inline const KvGroupSpec kWindow{.layers = 1, .kv_heads = 1, .head_dim = 8, .window = 40};

// A scheduler of its own with its sequences and pools, and a step in one call.
struct World {
  World(const SchedulerLimits& limits, std::vector<KvGroupSpec> specs, std::vector<int> blocks)
      : groups(std::move(specs)),
        pools(blocks.begin(), blocks.end()),
        scheduler(limits, groups, pools) {}

  // No two prompts begin with the same token.
  Sequence& make(int prompt, LogitsRows logits) {
    auto sequence = std::make_unique<Sequence>();
    sequence->id = sequences.size();
    sequence->logits = logits;
    const auto token = static_cast<TokenId>(100 + sequences.size());
    sequence->tokens.assign(static_cast<size_t>(prompt), token);
    sequence->prompt_tokens = prompt;
    sequences.push_back(std::move(sequence));
    return *sequences.back();
  }
  Sequence& add(int prompt, LogitsRows logits = LogitsRows::last) {
    Sequence& sequence = make(prompt, logits);
    scheduler.add(sequence);
    return sequence;
  }
  Sequence& add_pair(int prompt, int companions_prompt) {
    Sequence& sequence = make(prompt, LogitsRows::last);
    sequence.companion = &make(companions_prompt, LogitsRows::last);
    scheduler.add(sequence);
    return sequence;
  }
  const BatchPlan& plan() { return scheduler.plan(0, {}); }
  // Every sequence that wanted logits of its end gets a token; then commits.
  void commit() {
    for (const StepRun& run : last_runs()) {
      if (run.first + run.count == run.sequence->size()) run.sequence->tokens.push_back(2);
    }
    scheduler.commit();
  }
  std::vector<StepRun> last_runs() const { return runs; }
  std::vector<StepRun> step() {
    runs = plan().runs;
    commit();
    return runs;
  }

  std::vector<KvGroupSpec> groups;
  std::vector<KvPool> pools;
  Scheduler scheduler;
  std::vector<std::unique_ptr<Sequence>> sequences;
  std::vector<StepRun> runs;
};

}  // namespace arion::test

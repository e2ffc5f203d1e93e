// Running sequences by age, each at least one token; then waiting ones where blocks allow.
#include "engine/scheduler.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/error.h"

namespace arion {
namespace {

// Blocks that `window` consecutive positions, wherever they begin, may touch.
int window_blocks(int window) {
  return (window + kBlockTokens - 2) / kBlockTokens + 1;
}

// Tokens that each of so many sequences can have when no others run.
int tokens_alone(std::span<const KvGroupSpec> groups, std::span<const KvPool> pools,
                 int sequences) {
  int tokens = std::numeric_limits<int>::max() - kBlockTokens;
  for (size_t g = 0; g < groups.size(); ++g) {
    const int blocks = pools[g].blocks() / sequences;
    const bool is_endless = groups[g].window > 0 && blocks >= window_blocks(groups[g].window);
    if (!is_endless) tokens = std::min(tokens, blocks * kBlockTokens);
  }
  return tokens;
}

// Calls use() for a sequence and its companion.
template <typename Use>
void for_pair(Sequence& sequence, const Use& use) {
  use(sequence);
  if (sequence.companion != nullptr) use(*sequence.companion);
}

}  // namespace

Scheduler::Scheduler(const SchedulerLimits& limits, std::span<const KvGroupSpec> groups,
                     std::span<KvPool> pools)
    : limits_(limits),
      groups_(groups),
      pools_(pools),
      max_sequence_tokens_(tokens_alone(groups, pools, 1)),
      max_pair_tokens_(tokens_alone(groups, pools, 2)) {
  CHECK(groups.size() == pools.size());
  if (limits.max_sequences < 1 || limits.budget_tokens < 1 || limits.budget_logit_rows < 1 ||
      max_sequence_tokens_ < 1) {
    fail(ErrorCode::bad_input,
         "a step of {} sequences, {} tokens, {} rows of logits and KV blocks for {} tokens: "
         "expected at least 1 of each",
         limits.max_sequences, limits.budget_tokens, limits.budget_logit_rows,
         max_sequence_tokens_);
  }
  running_.reserve(static_cast<size_t>(limits.max_sequences));
  plan_.runs.reserve(static_cast<size_t>(limits.max_sequences));
}

void Scheduler::add(Sequence& sequence) {
  const int limit = sequence.companion == nullptr ? max_sequence_tokens_ : max_pair_tokens_;
  for_pair(sequence, [&](Sequence& member) {
    CHECK(member.pending() > 0 && member.computed == 0);
    CHECK(member.size() <= limit);
    member.state = Sequence::State::waiting;
    member.kv.resize(groups_.size());
  });
  waiting_.push_back(&sequence);
}

void Scheduler::cancel(Sequence& sequence) {
  CHECK(plan_.empty());
  std::erase(waiting_, &sequence);
  for_pair(sequence, [&](Sequence& member) {
    std::erase(running_, &member);
    release(member);
    member.state = Sequence::State::finished;
  });
}

const BatchPlan& Scheduler::plan(int64_t now_us, const StepCost& cost) {
  CHECK(plan_.empty());
  plan_.copies.clear();
  has_preempted_ = false;
  Budget budget = step_budget(cost);
  plan_running(budget);
  // What was just preempted must not take the blocks it gave up for others.
  if (!has_preempted_) plan_waiting(budget, now_us);
  return plan_;
}

void Scheduler::commit() {
  for (const Run& run : plan_.runs) {
    run.sequence->computed += run.count;
    release_behind_window(*run.sequence);
  }
  plan_.runs.clear();
  for (Sequence* sequence : running_) {
    if (sequence->companion != nullptr) sequence->companion->state = sequence->state;
  }
  std::erase_if(running_, [&](Sequence* sequence) {
    const bool is_finished = sequence->state == Sequence::State::finished;
    if (is_finished) release(*sequence);
    return is_finished;
  });
}

// The configured budget, or less of it where someone's next token would wait too long; running
// sequences always get one token each.
Scheduler::Budget Scheduler::step_budget(const StepCost& cost) const {
  Budget budget{.tokens = limits_.budget_tokens, .logit_rows = limits_.budget_logit_rows};
  const bool is_decoding = std::any_of(running_.begin(), running_.end(), [](const Sequence* s) {
    return s->size() > s->prompt_tokens;
  });
  if (limits_.target_step_us == 0 || cost.us_per_token <= 0 || !is_decoding) return budget;
  const double affordable =
      (static_cast<double>(limits_.target_step_us) - cost.fixed_us) / cost.us_per_token;
  const double least = std::min(running(), budget.tokens);
  budget.tokens =
      static_cast<int>(std::clamp(affordable, least, static_cast<double>(budget.tokens)));
  return budget;
}

// Tokens to compute if there were blocks for all; `later` sequences keep one token and row each.
int Scheduler::wanted_tokens(const Sequence& sequence, const Budget& budget, int later) const {
  const auto share = [&](int available) { return available - std::clamp(available - 1, 0, later); };
  int wanted = std::min(sequence.pending(), share(budget.tokens));
  if (sequence.logits == LogitsRows::all) wanted = std::min(wanted, share(budget.logit_rows));
  if (sequence.logits == LogitsRows::last && budget.logit_rows == 0) {
    wanted = std::min(wanted, sequence.pending() - 1);
  }
  return wanted;
}

// The part of `wanted` that free blocks have room for.
int Scheduler::affordable_tokens(const Sequence& sequence, int wanted) const {
  for (size_t g = 0; g < groups_.size(); ++g) {
    const BlockTable& table = sequence.kv[g];
    const int64_t room = int64_t{table.capacity_tokens()} +
                         int64_t{pools_[g].free_blocks()} * kBlockTokens - sequence.computed;
    wanted = static_cast<int>(std::min<int64_t>(wanted, room));
  }
  return wanted;
}

// Blocks a sequence of that many tokens holds at most at a time.
int Scheduler::peak_blocks(const KvGroupSpec& group, int tokens) const {
  const int all = blocks_for(tokens);
  if (group.window == 0) return all;
  return std::min(all, window_blocks(group.window) + blocks_for(limits_.budget_tokens));
}

// Whether there are blocks for all tokens the sequence has, after what running sequences will
// still take for theirs and one block more for the growth of each. Alone it may always start.
bool Scheduler::can_admit(const Sequence& sequence) const {
  if (running_.empty()) return true;
  for (size_t g = 0; g < groups_.size(); ++g) {
    int64_t needed = peak_blocks(groups_[g], sequence.size());
    if (sequence.companion != nullptr) {
      needed += peak_blocks(groups_[g], sequence.companion->size());
    }
    for (const Sequence* other : running_) {
      const int held = other->kv[g].live_blocks();
      needed += std::max(0, peak_blocks(groups_[g], other->size()) - held) + 1;
    }
    if (needed > pools_[g].free_blocks()) return false;
  }
  return true;
}

void Scheduler::plan_running(Budget& budget) {
  for (size_t i = 0; i < running_.size(); ++i) {
    Sequence& sequence = *running_[i];
    if (budget.tokens == 0) return;
    int tokens = wanted_tokens(sequence, budget, running() - static_cast<int>(i) - 1);
    if (tokens <= 0) continue;
    while (affordable_tokens(sequence, tokens) == 0 && has_younger(sequence)) preempt_youngest();
    // The youngest may get nothing; its elders go on, finish and make room.
    tokens = affordable_tokens(sequence, tokens);
    if (tokens > 0) schedule(sequence, tokens, budget);
  }
}

void Scheduler::plan_waiting(Budget& budget, int64_t now_us) {
  while (!waiting_.empty() && budget.tokens > 0) {
    Sequence& sequence = *waiting_.front();
    const int members = sequence.companion == nullptr ? 1 : 2;
    if (running() + members > limits_.max_sequences && !running_.empty()) return;
    if (!can_admit(sequence)) return;
    if (affordable_tokens(sequence, wanted_tokens(sequence, budget, 0)) <= 0) return;
    waiting_.pop_front();
    for_pair(sequence, [&](Sequence& member) { start(member, budget, now_us); });
  }
}

// A companion may have to wait for its first tokens.
void Scheduler::start(Sequence& sequence, Budget& budget, int64_t now_us) {
  running_.push_back(&sequence);
  sequence.state = Sequence::State::running;
  if (sequence.started_us < 0) sequence.started_us = now_us;
  const int tokens = affordable_tokens(sequence, wanted_tokens(sequence, budget, 0));
  if (tokens > 0) schedule(sequence, tokens, budget);
}

void Scheduler::schedule(Sequence& sequence, int tokens, Budget& budget) {
  for (size_t g = 0; g < groups_.size(); ++g) {
    CHECK(sequence.kv[g].grow(pools_[g], sequence.computed + tokens));
  }
  const bool reaches_end = tokens == sequence.pending();
  const bool wants_logits =
      sequence.logits == LogitsRows::all || (sequence.logits == LogitsRows::last && reaches_end);
  const Run run{.sequence = &sequence,
                .first = sequence.computed,
                .count = tokens,
                .logits = wants_logits ? sequence.logits : LogitsRows::none};
  budget.tokens -= tokens;
  budget.logit_rows -= run.logit_rows();
  plan_.runs.push_back(run);
}

bool Scheduler::has_younger(const Sequence& sequence) const {
  const Sequence* youngest = running_.back();
  return youngest != &sequence && youngest != sequence.companion;
}

void Scheduler::preempt_youngest() {
  const size_t size = running_.size();
  const bool is_companion = size > 1 && running_[size - 2]->companion == running_.back();
  Sequence& youngest = *running_[size - (is_companion ? 2 : 1)];
  for_pair(youngest, [&](Sequence& member) {
    running_.pop_back();
    release(member);
    member.computed = 0;
    member.state = Sequence::State::waiting;
    ++member.preemptions;
  });
  waiting_.push_front(&youngest);
  has_preempted_ = true;
}

void Scheduler::release(Sequence& sequence) {
  for (size_t g = 0; g < sequence.kv.size(); ++g) sequence.kv[g].clear(pools_[g]);
}

void Scheduler::release_behind_window(Sequence& sequence) {
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].window == 0) continue;
    sequence.kv[g].release_before(pools_[g], groups_[g].first_visible(sequence.computed));
  }
}

}  // namespace arion

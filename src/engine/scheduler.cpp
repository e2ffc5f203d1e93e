// Running sequences by age, each at least one token; then waiting ones where blocks allow.
#include "engine/scheduler.h"

#include <algorithm>
#include <limits>
#include <numeric>

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
      max_pair_tokens_(tokens_alone(groups, pools, 2)),
      tree_(groups, pools),
      waiting_(limits.policy) {
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
  waiting_.add(sequence);
}

void Scheduler::cancel(Sequence& sequence) {
  CHECK(plan_.empty());
  waiting_.remove(sequence);
  for_pair(sequence, [&](Sequence& member) {
    std::erase(running_, &member);
    finish(member);
  });
}

const BatchPlan& Scheduler::plan(int64_t now_us, const StepCost& cost) {
  CHECK(plan_.empty());
  plan_.copies.clear();
  has_preempted_ = false;
  Budget budget = step_budget(cost);
  plan_running(budget);
  first_started_ = running_.size();
  // What was just preempted must not take the blocks it gave up for others.
  if (!has_preempted_) plan_waiting(budget, now_us);
  return plan_;
}

void Scheduler::commit() {
  for (const Run& run : plan_.runs) {
    Sequence& sequence = *run.sequence;
    sequence.computed += run.count;
    publish(sequence);
    release_behind_window(sequence);
    if (run.first >= sequence.prompt_tokens) waiting_.charge(sequence, run.count);
  }
  plan_.runs.clear();
  for (Sequence* sequence : running_) {
    if (sequence->companion != nullptr) sequence->companion->state = sequence->state;
  }
  std::erase_if(running_, [&](Sequence* sequence) {
    const bool is_finished = sequence->state == Sequence::State::finished;
    if (is_finished) finish(*sequence);
    return is_finished;
  });
}

// What such a step has left in blocks nobody may find. Who has started without a run starts anew:
// perhaps with copies that were not made.
void Scheduler::abandon() {
  for (const Run& run : plan_.runs) {
    run.sequence->state = Sequence::State::finished;
    tree_.leave(run.sequence->prefix);
  }
  for (size_t i = first_started_; i < running_.size(); ++i) {
    release(*running_[i]);
    if (running_[i]->state == Sequence::State::running) enter(*running_[i]);
  }
  plan_.runs.clear();
  commit();
}

// The configured budget, or less of it where someone's next token would wait too long; running
// sequences always get one token each, and prompts at least one more.
Scheduler::Budget Scheduler::step_budget(const StepCost& cost) const {
  Budget budget{.tokens = limits_.budget_tokens, .logit_rows = limits_.budget_logit_rows};
  StepLoad decoding;
  const Sequence* prompt = nullptr;
  for (const Sequence* sequence : running_) {
    if (sequence->size() > sequence->prompt_tokens && sequence->pending() == 1) {
      decoding.add_run(sequence->computed, 1);
    } else if (prompt == nullptr) {
      prompt = sequence;
    }
  }
  if (decoding.tokens == 0 || !cost.is_known()) return budget;
  double target = std::numeric_limits<double>::infinity();
  if (limits_.decode_slowdown > 0) target = cost.us(decoding) * limits_.decode_slowdown;
  if (limits_.target_step_us > 0) {
    target = std::min(target, static_cast<double>(limits_.target_step_us));
  }
  const auto takes_too_long = [&](int tokens) {
    StepLoad load = decoding;
    load.add_run(prompt == nullptr ? 0 : prompt->computed, tokens);
    return cost.us(load) > target;
  };
  constexpr int kMostGrowth = 2;  // beyond steps that were measured
  const int most = std::min(budget.tokens, kMostGrowth * cost.most_tokens()) - decoding.tokens;
  int prompts = 1, too_many = std::max(most, 1) + 1;
  while (too_many - prompts > 1) {
    const int middle = std::midpoint(prompts, too_many);
    (takes_too_long(middle) ? too_many : prompts) = middle;
  }
  budget.tokens = std::min(budget.tokens, std::max(decoding.tokens + prompts, running()));
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
                         int64_t{pools_[g].available_blocks()} * kBlockTokens - sequence.computed;
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

// Blocks the sequence will still take for all tokens it has.
int Scheduler::missing_blocks(const Sequence& sequence, size_t group) const {
  const int peak = peak_blocks(groups_[group], sequence.size());
  return std::max(0, peak - sequence.kv[group].live_blocks());
}

// Whether there are blocks for all tokens the sequence has, after what running sequences will
// still take for theirs and one block more for the growth of each. Alone it may always start.
bool Scheduler::can_admit(const Sequence& sequence) const {
  if (running_.empty()) return true;
  for (size_t g = 0; g < groups_.size(); ++g) {
    int64_t needed = missing_blocks(sequence, g);
    if (sequence.companion != nullptr) needed += missing_blocks(*sequence.companion, g);
    for (const Sequence* other : running_) needed += missing_blocks(*other, g) + 1;
    if (needed > pools_[g].available_blocks()) return false;
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
  while (budget.tokens > 0 && running() < limits_.max_sequences) {
    Sequence* next = waiting_.next([&](const Sequence& s) { return !is_being_computed(s); });
    if (next == nullptr) return;
    const int members = next->companion == nullptr ? 1 : 2;
    if (running() + members > limits_.max_sequences && !running_.empty()) return;
    for_pair(*next, [&](Sequence& member) { enter(member); });
    const bool has_row = wanted_tokens(*next, budget, 0) > 0;
    if (!has_row || !can_admit(*next) || affordable_tokens(*next, 1) <= 0) {
      for_pair(*next, [&](Sequence& member) { release(member); });
      return;
    }
    waiting_.remove(*next);
    for_pair(*next, [&](Sequence& member) { start(member, budget, now_us); });
  }
}

// At least the last token is computed, for its logits.
PrefixMatch Scheduler::find_prefix(const Sequence& sequence) const {
  if (!limits_.reuses_prefixes || sequence.logits == LogitsRows::all) return {};
  const std::span<const TokenId> tokens = sequence.tokens;
  return tree_.find(sequence.cache_salt, tokens.first(tokens.size() - 1));
}

// Whether someone who runs is about to publish a whole block more of the prompt, or all of it.
bool Scheduler::is_being_computed(const Sequence& sequence) const {
  const PrefixMatch match = find_prefix(sequence);
  if (match.node == nullptr) return false;
  const auto begin = match.full_tokens;
  const auto rest = std::span(sequence.tokens).subspan(static_cast<size_t>(begin));
  return std::ranges::any_of(running_, [&](const Sequence* other) {
    if (other->prefix.node != match.node || other->computed >= other->prompt_tokens) return false;
    const auto prompt = std::span(other->tokens).first(static_cast<size_t>(other->prompt_tokens));
    const auto coming = prompt.subspan(static_cast<size_t>(begin));
    const auto common = std::ranges::mismatch(rest, coming).in1 - rest.begin();
    const int gain = static_cast<int>(common) - match.tail_tokens;
    return common >= kBlockTokens || (begin + common >= sequence.size() - 1 && gain > 1);
  });
}

// Takes the full blocks of what is there.
void Scheduler::enter(Sequence& sequence) {
  if (!limits_.reuses_prefixes) return;
  sequence.prefix = tree_.enter(sequence.cache_salt, find_prefix(sequence), sequence.kv);
  sequence.computed = sequence.prefix.tokens;
}

// A companion may have to wait for its first tokens.
void Scheduler::start(Sequence& sequence, Budget& budget, int64_t now_us) {
  running_.push_back(&sequence);
  sequence.state = Sequence::State::running;
  const PrefixMatch match = find_prefix(sequence);
  if (match.tail != nullptr && match.full_tokens == sequence.computed &&
      tree_.copy_tail(match, sequence.kv, plan_.copies)) {
    sequence.computed = match.tokens();
  }
  if (sequence.started_us < 0) {
    sequence.started_us = now_us;
    sequence.cached_tokens = std::min(sequence.computed, sequence.prompt_tokens);
    prefix_counts_.asked_tokens += sequence.prompt_tokens;
    prefix_counts_.found_tokens += sequence.cached_tokens;
  }
  waiting_.charge(sequence, sequence.pending());
  const int tokens = affordable_tokens(sequence, wanted_tokens(sequence, budget, 0));
  if (tokens > 0) schedule(sequence, tokens, budget);
}

void Scheduler::schedule(Sequence& sequence, int tokens, Budget& budget) {
  const int end = sequence.computed + tokens;
  for (size_t g = 0; g < groups_.size(); ++g) {
    tree_.make_room(static_cast<int>(g), sequence.kv[g].missing_blocks(end));
    CHECK(sequence.kv[g].grow(pools_[g], end));
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
    publish(member);
    release(member);
    member.state = Sequence::State::waiting;
    ++member.preemptions;
  });
  waiting_.add_preempted(youngest);
  ++preemptions_;
  has_preempted_ = true;
}

// Full blocks as soon as they are computed; the begun one when the prompt is, for those who will
// go on from it, and when the sequence gives it up.
void Scheduler::publish(Sequence& sequence) {
  if (sequence.prefix.node == nullptr) return;
  const auto computed =
      std::span<const TokenId>(sequence.tokens).first(static_cast<size_t>(sequence.computed));
  tree_.publish(sequence.prefix, computed, sequence.kv);
  const bool goes_on =
      sequence.state == Sequence::State::running && sequence.computed != sequence.prompt_tokens;
  if (!goes_on) tree_.publish_tail(sequence.prefix, computed, sequence.kv);
}

void Scheduler::finish(Sequence& sequence) {
  sequence.state = Sequence::State::finished;
  publish(sequence);
  release(sequence);
}

void Scheduler::release(Sequence& sequence) {
  tree_.leave(sequence.prefix);
  for (size_t g = 0; g < sequence.kv.size(); ++g) sequence.kv[g].clear(pools_[g]);
  sequence.computed = 0;
}

void Scheduler::release_behind_window(Sequence& sequence) {
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].window == 0) continue;
    sequence.kv[g].release_before(pools_[g], groups_[g].first_visible(sequence.computed));
  }
}

void Scheduler::check_integrity() const {
  CHECK(plan_.empty());
  tree_.check_integrity();
  for (size_t g = 0; g < pools_.size(); ++g) {
    std::vector<int> references(static_cast<size_t>(pools_[g].blocks()));
    for (const Sequence* sequence : running_) {
      const BlockTable& table = sequence->kv[g];
      for (auto i = static_cast<size_t>(table.first_live()); i < table.blocks().size(); ++i) {
        ++references[static_cast<size_t>(table.blocks()[i])];
      }
    }
    for (size_t b = 0; b < references.size(); ++b) {
      CHECK(references[b] == pools_[g].references(static_cast<BlockId>(b)));
    }
  }
}

}  // namespace arion

// Decides what each step computes. Pure bookkeeping: no clock, no device, no tensor.
//
// One rule: a sequence has tokens the model has not seen; every running sequence gets up to that
// many, oldest first, within the step's budget, and none is left without a token while an older
// one takes many. Waiting sequences start in order of arrival when there are blocks for all they
// are known to need. When a running sequence finds no block at all, the youngest running one gives
// its blocks back and waits at the head of the queue. The oldest always advances, so every sequence
// finishes. A sequence and its companion are of one age: they start, are preempted and end
// together.
//
// What is computed stays in the prefix tree as long as nobody needs the blocks. A sequence starts
// behind the longest prefix it finds there; while another one is computing more of its prompt it
// waits for that. So preempted sequences go on where they were, and several answers to one prompt
// compute it once.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "cache/prefix_tree.h"
#include "engine/step_cost.h"
#include "engine/waiting_queue.h"
#include "sequence/batch_plan.h"

namespace arion {

struct SchedulerLimits {
  int max_sequences = 64;      // running at the same time
  int budget_tokens = 512;     // per step
  int budget_logit_rows = 64;  // per step
  // Steps that others' decoding waits for take at most so many times what decoding alone takes, or
  // at most so long. 0: no such limit.
  double decode_slowdown = 0;
  int64_t target_step_us = 0;
  QueuePolicy policy = QueuePolicy::fcfs;
  bool reuses_prefixes = true;
};

// Since the start, of sequences that have started.
struct PrefixCounts {
  int64_t asked_tokens = 0;  // prompt
  int64_t found_tokens = 0;  // of it, in the tree
};

// Deterministic for a given sequence of calls. Used by one thread; plan and commit alternate.
class Scheduler {
 public:
  // Throws Error{bad_input} for limits below 1 or pools too small for a single step.
  Scheduler(const SchedulerLimits& limits, std::span<const KvGroupSpec> groups,
            std::span<KvPool> pools);

  // Longest sequence the pools can hold when it runs alone. Longer ones must not grow.
  int max_sequence_tokens() const { return max_sequence_tokens_; }
  // The same for each of a sequence and its companion.
  int max_pair_tokens() const { return max_pair_tokens_; }

  // The sequence must outlive its stay: until cancelled, or committed in state finished. Its
  // companion, if it has one, comes with it.
  void add(Sequence& sequence);
  // Between commit and plan. Gives the blocks back; the state becomes finished. With its companion.
  void cancel(Sequence& sequence);

  // Reserves blocks for what it plans. Valid until the next call; empty if nothing can run.
  const BatchPlan& plan(int64_t now_us, const StepCost& cost);
  // After the step was computed and the sequences got their new tokens or state finished.
  void commit();
  // Instead, after a step that could not be computed: all of its sequences are finished.
  void abandon();

  // Gives up all that is kept for later.
  void forget_prefixes() { tree_.forget_all_idle(); }
  const PrefixCounts& prefix_counts() const { return prefix_counts_; }
  int64_t preemptions() const { return preemptions_; }
  // Throws std::logic_error when blocks and bookkeeping disagree; between commit and plan.
  void check_integrity() const;

  int waiting() const { return waiting_.size(); }  // companions not counted
  int running() const { return static_cast<int>(running_.size()); }

 private:
  struct Budget {
    int tokens, logit_rows;
  };

  Budget step_budget(const StepCost& cost) const;
  int wanted_tokens(const Sequence& sequence, const Budget& budget, int later) const;
  int affordable_tokens(const Sequence& sequence, int wanted) const;
  bool can_admit(const Sequence& sequence) const;
  int missing_blocks(const Sequence& sequence, size_t group) const;
  int peak_blocks(const KvGroupSpec& group, int tokens) const;
  void plan_running(Budget& budget);
  void plan_waiting(Budget& budget, int64_t now_us);
  PrefixMatch find_prefix(const Sequence& sequence) const;
  bool is_being_computed(const Sequence& sequence) const;
  void enter(Sequence& sequence);
  void start(Sequence& sequence, Budget& budget, int64_t now_us);
  void schedule(Sequence& sequence, int tokens, Budget& budget);
  bool has_younger(const Sequence& sequence) const;
  void preempt_youngest();
  void publish(Sequence& sequence);
  void finish(Sequence& sequence);
  void release(Sequence& sequence);
  void release_behind_window(Sequence& sequence);

  SchedulerLimits limits_;
  std::span<const KvGroupSpec> groups_;
  std::span<KvPool> pools_;
  int max_sequence_tokens_, max_pair_tokens_;
  PrefixTree tree_;
  WaitingQueue waiting_;            // without companions
  std::vector<Sequence*> running_;  // by their start, companions behind their sequence
  BatchPlan plan_;
  bool has_preempted_ = false;  // in the current plan
  size_t first_started_ = 0;    // in running_: those that the current plan has started
  PrefixCounts prefix_counts_;
  int64_t preemptions_ = 0;
};

}  // namespace arion

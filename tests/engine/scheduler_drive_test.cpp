// The scheduler through long random runs of arrivals, cancellations and failed steps.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "engine/fake_runner.h"
#include "engine/scheduler.h"
#include "engine/scheduler_world.h"

namespace arion {
namespace {

using test::kFull;
using test::kWindow;
using test::StepRun;
using test::World;

class Drive {
 public:
  explicit Drive(uint32_t seed)
      : random_(seed),
        limits_{.max_sequences = 1 + below(6),
                .budget_tokens = 1 + below(60),
                .budget_logit_rows = 1 + below(12),
                .decode_slowdown = below(3) == 0 ? 2.0 : 0.0,
                .target_step_us = below(3) == 0 ? 300 : 0,
                .policy = static_cast<QueuePolicy>(below(3)),
                .reuses_prefixes = below(5) != 0},
        world_(limits_, {kFull, kWindow}, {12 + below(40), 4 + below(12)}) {
    for (const KvPool& pool : world_.pools) {
      slots_.emplace_back(static_cast<size_t>(pool.blocks() * kBlockTokens));
    }
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) step(true);
    for (int i = 0; !goals_.empty(); ++i) {
      ASSERT_LT(i, 200000) << "a sequence never finishes";
      step(false);
    }
    for (const KvPool& pool : world_.pools) EXPECT_EQ(pool.available_blocks(), pool.blocks());
    EXPECT_EQ(world_.scheduler.running() + world_.scheduler.waiting(), 0);
    world_.scheduler.forget_prefixes();
    for (const KvPool& pool : world_.pools) EXPECT_EQ(pool.free_blocks(), pool.blocks());
    EXPECT_GT(finished_, 0);
  }
  int preemptions() const { return preemptions_; }
  int64_t found_tokens() const { return world_.scheduler.prefix_counts().found_tokens; }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

  void step(bool may_add) {
    if (may_add && goals_.size() < 12 && below(4) == 0) add();
    if (!goals_.empty() && below(50) == 0) cancel();
    StepCost cost;
    cost.add({.tokens = 1}, 100);
    cost.add({.tokens = 11}, 100 + 10 * (1 + below(20)));
    const BatchPlan& plan = world_.scheduler.plan(++now_, cost);
    ASSERT_NO_FATAL_FAILURE(check(plan));
    ASSERT_EQ(plan.empty(), goals_.empty()) << "work and blocks, but no plan";
    if (!plan.empty() && below(100) == 0) return abandon(plan);
    ASSERT_NO_FATAL_FAILURE(compute(plan));
    finish_step(plan);
  }

  // What a token leaves in its slot: a value of all tokens up to there.
  static uint64_t value_at(const Sequence& sequence, int position) {
    uint64_t value = std::hash<std::string>()(sequence.cache_salt);
    for (int p = 0; p <= position; ++p) {
      value = test::mix(value ^ static_cast<uint64_t>(sequence.tokens[static_cast<size_t>(p)]));
    }
    return value;
  }
  uint64_t& slot(const Sequence& sequence, size_t group, int position) {
    const auto block = static_cast<size_t>(
        sequence.kv[group].blocks().at(static_cast<size_t>(position / kBlockTokens)));
    return slots_[group].at(block * kBlockTokens + static_cast<size_t>(position % kBlockTokens));
  }

  // As a runner would; then all that the last token of each run can see must be its own.
  void compute(const BatchPlan& plan) {
    for (const BlockCopy& copy : plan.copies) {
      auto& slots = slots_[static_cast<size_t>(copy.group)];
      ASSERT_NE(copy.from, copy.to);
      std::copy_n(slots.begin() + copy.from * kBlockTokens, kBlockTokens,
                  slots.begin() + copy.to * kBlockTokens);
    }
    for (const StepRun& run : plan.runs) {
      const Sequence& s = *run.sequence;
      const int end = run.first + run.count;
      for (size_t g = 0; g < slots_.size(); ++g) {
        for (int p = run.first; p < end; ++p) slot(s, g, p) = value_at(s, p);
      }
    }
    if (below(8) != 0) return;  // reading is slow
    for (const StepRun& run : plan.runs) {
      const Sequence& s = *run.sequence;
      const int end = run.first + run.count;
      for (size_t g = 0; g < slots_.size(); ++g) {
        for (int p = world_.groups[g].first_visible(end - 1); p < end; ++p) {
          ASSERT_EQ(slot(s, g, p), value_at(s, p)) << "position " << p << " of " << end;
        }
      }
    }
  }

  void abandon(const BatchPlan& plan) {
    std::vector<Sequence*> lost;
    for (const StepRun& run : plan.runs) {
      Sequence& leader = leader_of(*run.sequence);
      if (std::ranges::find(lost, &leader) == lost.end()) lost.push_back(&leader);
    }
    world_.scheduler.abandon();
    ASSERT_NO_THROW(world_.scheduler.check_integrity());
    for (Sequence* leader : lost) {
      world_.scheduler.cancel(*leader);  // of a pair one half may not have run
      forget(*leader);
    }
  }

  // Few different beginnings, so that many sequences share some.
  void fill(Sequence& sequence, int prompt) {
    sequence.tokens.assign(static_cast<size_t>(prompt), 0);
    const int shared = prompt - (below(2) == 0 ? below(prompt) : 1);
    for (int p = 0; p < prompt; ++p) {
      sequence.tokens[static_cast<size_t>(p)] = p < shared ? (p / 40) % 3 : below(1000);
    }
    if (below(4) == 0) sequence.cache_salt = "salt";
    sequence.priority = below(3);
    sequence.client = std::string(1, static_cast<char>('a' + below(3)));
  }

  void add() {
    if (below(3) == 0) return add_pair();
    const int limit = std::min(world_.scheduler.max_sequence_tokens(), 400);
    const int prompt = 1 + below(below(4) == 0 ? limit : 60);
    const auto logits = static_cast<LogitsRows>(below(3));
    Sequence& sequence = world_.make(prompt, logits);
    fill(sequence, prompt);
    world_.scheduler.add(sequence);
    goals_[sequence.id] = std::min(limit, prompt + below(200));
  }

  void add_pair() {
    const int limit = std::min(world_.scheduler.max_pair_tokens(), 400);
    const int prompt = 1 + below(std::min(limit, 60)), other = 1 + below(std::min(limit, 60));
    const Sequence& sequence = world_.add_pair(prompt, other);
    const int growth = below(std::min(limit - std::max(prompt, other), 100) + 1);
    goals_[sequence.id] = prompt + growth;
    goals_[sequence.companion->id] = other + growth;
  }

  Sequence& leader_of(Sequence& sequence) {
    if (sequence.id == 0) return sequence;
    const auto& before = world_.sequences[sequence.id - 1];
    return before && before->companion == &sequence ? *before : sequence;
  }

  void cancel() {
    auto at = goals_.begin();
    std::advance(at, below(static_cast<int>(goals_.size())));
    Sequence& sequence = leader_of(*world_.sequences[at->first]);
    world_.scheduler.cancel(sequence);
    forget(sequence);
  }

  void forget(Sequence& sequence) {
    if (sequence.companion != nullptr) forget(*sequence.companion);
    rows_.erase(sequence.id);
    preemptions_ += sequence.preemptions;
    goals_.erase(sequence.id);
    for (const BlockTable& table : sequence.kv) ASSERT_EQ(table.live_blocks(), 0);
    world_.sequences[sequence.id].reset();
  }

  void check(const BatchPlan& plan) {
    ASSERT_LE(plan.tokens(), limits_.budget_tokens);
    ASSERT_LE(plan.logit_rows(), limits_.budget_logit_rows);
    ASSERT_LE(world_.scheduler.running(), std::max(limits_.max_sequences, 2)) << "a pair may run";
    std::set<uint64_t> seen;
    for (const StepRun& run : plan.runs) {
      const Sequence& s = *run.sequence;
      ASSERT_TRUE(seen.insert(s.id).second) << "each once";
      ASSERT_EQ(s.state, Sequence::State::running);
      ASSERT_TRUE(s.companion == nullptr || s.companion->state == s.state);
      ASSERT_EQ(run.first, s.computed);
      ASSERT_GE(run.count, 1);
      ASSERT_LE(run.first + run.count, s.size());
      const bool reaches_end = run.first + run.count == s.size();
      ASSERT_EQ(run.logits != LogitsRows::none,
                s.logits == LogitsRows::all || (s.logits == LogitsRows::last && reaches_end));
      for (size_t g = 0; g < s.kv.size(); ++g) {
        ASSERT_GE(s.kv[g].capacity_tokens(), run.first + run.count);
        ASSERT_LE(s.kv[g].first_live() * kBlockTokens, world_.groups[g].first_visible(run.first));
      }
    }
    for (size_t g = 0; g < world_.pools.size(); ++g) check_blocks(g);
  }

  // Every block is free, idle or held as often as it is referenced.
  void check_blocks(size_t group) {
    const KvPool& pool = world_.pools[group];
    std::vector<int> owners(static_cast<size_t>(pool.blocks()));
    for (const auto& [id, goal] : goals_) {
      const BlockTable& table = world_.sequences[id]->kv[group];
      for (size_t i = static_cast<size_t>(table.first_live()); i < table.blocks().size(); ++i) {
        ++owners[static_cast<size_t>(table.blocks()[i])];
      }
    }
    int held = 0;
    for (size_t b = 0; b < owners.size(); ++b) {
      ASSERT_EQ(owners[b], pool.references(static_cast<BlockId>(b)));
      held += owners[b] > 0 ? 1 : 0;
    }
    ASSERT_EQ(held + pool.available_blocks(), pool.blocks());
  }

  // Whether a sequence that has its row of logits can go on: pairs need both.
  bool is_ready(const Sequence& leader, const Sequence& sequence) {
    rows_.insert(sequence.id);
    const Sequence* companion = leader.companion;
    if (!rows_.contains(leader.id)) return false;
    if (companion != nullptr && !rows_.contains(companion->id)) return false;
    rows_.erase(leader.id);
    if (companion != nullptr) rows_.erase(companion->id);
    return true;
  }

  void finish_step(const BatchPlan& plan) {
    std::vector<Sequence*> finished;
    std::vector<std::pair<Sequence*, int>> expected;
    for (const StepRun& run : plan.runs) {
      Sequence& s = *run.sequence;
      expected.emplace_back(&s, s.computed + run.count);
      if (run.first + run.count < s.size()) continue;
      Sequence& leader = leader_of(s);
      if (!is_ready(leader, s)) continue;
      if (leader.size() >= goals_.at(leader.id)) {
        leader.state = Sequence::State::finished;
        finished.push_back(&leader);
      } else {
        const TokenId token = below(2);
        leader.tokens.push_back(token);
        if (leader.companion != nullptr) leader.companion->tokens.push_back(token);
      }
    }
    world_.scheduler.commit();
    ASSERT_NO_THROW(world_.scheduler.check_integrity());
    for (const auto& [sequence, computed] : expected) {
      const bool is_running = sequence->state == Sequence::State::running;
      ASSERT_EQ(sequence->computed, is_running ? computed : 0);
    }
    for (Sequence* sequence : finished) forget(*sequence);
    finished_ += static_cast<int>(finished.size());
  }

  std::mt19937 random_;
  SchedulerLimits limits_;
  World world_;
  std::map<uint64_t, int> goals_;  // live sequences and the size at which each ends
  std::set<uint64_t> rows_;        // sequences of pairs with a row that waits for the other
  std::vector<std::vector<uint64_t>> slots_;  // [groups][blocks * kBlockTokens]
  int64_t now_ = 0;
  int finished_ = 0, preemptions_ = 0;
};

TEST(Scheduler, KeepsItsInvariantsOverAHundredThousandRandomSteps) {
  int preemptions = 0;
  int64_t found_tokens = 0;
  const char* more = std::getenv("ARION_TEST_DRIVES");  // of a thousand steps
  const auto drives = static_cast<uint32_t>(more != nullptr ? std::atoi(more) : 100);
  for (uint32_t seed = 0; seed < drives; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Drive drive(seed);
    drive.run(1000);
    if (testing::Test::HasFatalFailure()) return;
    preemptions += drive.preemptions();
    found_tokens += drive.found_tokens();
  }
  EXPECT_GT(found_tokens, 5000) << "the drive should share prefixes";
  EXPECT_GT(preemptions, 100) << "the drive should meet full pools";
}

}  // namespace
}  // namespace arion

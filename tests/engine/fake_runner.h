// A runner without a model: logits are a function of the tokens a query can see, read back through
// the block tables as real kernels read keys and values.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

#include "runtime/model_runner.h"

namespace arion::test {

// Fills `logits` [vocab] from the visible tokens, oldest first.
using FakeModel = std::function<void(std::span<const TokenId> visible, std::span<float> logits)>;

inline uint64_t mix(uint64_t x) {  // splitmix64
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

// Logits in [0, 4) that depend on every visible token and its place.
inline void hash_model(std::span<const TokenId> visible, std::span<float> logits) {
  uint64_t state = 0;
  for (const TokenId token : visible) state = mix(state ^ static_cast<uint64_t>(token));
  for (size_t i = 0; i < logits.size(); ++i) {
    logits[i] = static_cast<float>(mix(state + i) >> 40) * 0x1p-22f;
  }
}

struct FakeOptions {
  int vocab = 320;
  int context = 1000;
  int step_tokens = 64;
  int blocks = 200;  // per group
  WorkerPool* workers = nullptr;
  int window = 0;  // of a second group, if not 0; the logits then see only the window
  FakeModel model = hash_model;
};

class FakeRunner final : public ModelRunner {
 public:
  explicit FakeRunner(FakeOptions options = {}) : options_(std::move(options)) {
    groups_.push_back({.layers = 1, .kv_heads = 1, .head_dim = 1});
    if (options_.window > 0) {
      groups_.push_back({.layers = 1, .kv_heads = 1, .head_dim = 1, .window = options_.window});
    }
    for (size_t g = 0; g < groups_.size(); ++g) {
      pools_.emplace_back(options_.blocks);
      slots_.emplace_back(static_cast<size_t>(options_.blocks * kBlockTokens), -1);
    }
  }

  int vocab_size() const override { return options_.vocab; }
  int context_length() const override { return options_.context; }
  int max_step_tokens() const override { return options_.step_tokens; }
  int max_step_logit_rows() const override { return options_.step_tokens; }
  std::span<const KvGroupSpec> kv_groups() const override { return groups_; }
  std::span<KvPool> pools() override { return pools_; }
  WorkerPool* workers() override { return options_.workers; }

  StepResult run(const BatchPlan& plan) override {
    if (before_step) before_step(plan);
    logits_.clear();
    for (const BlockCopy& copy : plan.copies) {
      std::vector<TokenId>& slots = slots_[static_cast<size_t>(copy.group)];
      std::copy_n(slots.begin() + copy.from * kBlockTokens, kBlockTokens,
                  slots.begin() + copy.to * kBlockTokens);
    }
    computed_tokens_ += plan.tokens();
    for (const Run& run : plan.runs) {
      for (int p = run.first; p < run.first + run.count; ++p) {
        for (size_t g = 0; g < groups_.size(); ++g) {
          slot(*run.sequence, g, p) = run.sequence->tokens[static_cast<size_t>(p)];
        }
        const bool is_last = p == run.first + run.count - 1;
        const bool wants_row =
            run.logits == LogitsRows::all || (run.logits == LogitsRows::last && is_last);
        if (wants_row) append_row(*run.sequence, p);
      }
    }
    const auto vocab = static_cast<size_t>(options_.vocab);
    return {.logits = logits_.data(),
            .stride = vocab,
            .rows = static_cast<int>(logits_.size() / vocab)};
  }

  // What no sequence holds.
  int free_blocks() const {
    int sum = 0;
    for (const KvPool& pool : pools_) sum += pool.available_blocks();
    return sum;
  }
  int computed_tokens() const { return computed_tokens_; }
  int all_blocks() const { return options_.blocks * static_cast<int>(groups_.size()); }

  // Called on the engine's thread before a step; may throw.
  std::function<void(const BatchPlan&)> before_step;

 private:
  TokenId& slot(const Sequence& sequence, size_t group, int position) {
    const auto block = static_cast<size_t>(
        sequence.kv[group].blocks().at(static_cast<size_t>(position / kBlockTokens)));
    return slots_[group].at(block * kBlockTokens + static_cast<size_t>(position % kBlockTokens));
  }

  void append_row(const Sequence& sequence, int position) {
    std::vector<TokenId> visible;
    const size_t group = groups_.size() - 1;
    for (int p = groups_[group].first_visible(position); p <= position; ++p) {
      visible.push_back(slot(sequence, group, p));
    }
    const size_t begin = logits_.size();
    logits_.resize(begin + static_cast<size_t>(options_.vocab));
    options_.model(visible, std::span(logits_).subspan(begin));
  }

  FakeOptions options_;
  std::vector<KvGroupSpec> groups_;
  std::vector<KvPool> pools_;
  std::vector<std::vector<TokenId>> slots_;  // [groups][blocks * kBlockTokens]
  std::vector<float> logits_;
  std::atomic<int> computed_tokens_ = 0;
};

}  // namespace arion::test

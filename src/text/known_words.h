// Remembers which tokens are what the merges make of their own text.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

namespace arion {

// Most words of a text are one token, found by one lookup; but a token may be unreachable by
// merging, so the first time its text comes up as a word the merges decide, and the answer is kept.
// The answer is a pure function of the vocabulary, so threads may race to store it.
class KnownWords {
 public:
  enum State : uint8_t { unknown, is_one_token, is_several };

  explicit KnownWords(size_t token_count)
      : states_(std::make_unique<std::atomic<uint8_t>[]>(token_count)) {}

  State get(int32_t id) const { return State(states_[id].load(std::memory_order_relaxed)); }
  void set(int32_t id, State state) const { states_[id].store(state, std::memory_order_relaxed); }

 private:
  std::unique_ptr<std::atomic<uint8_t>[]> states_;
};

}  // namespace arion

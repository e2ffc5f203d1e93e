// A sequence that is stepped by hand, without an engine: for evaluation, benchmarks and tests.
#pragma once
#include <utility>
#include <vector>

#include "runtime/model_runner.h"

namespace arion {

// Owns the KV blocks of one sequence. Used by the thread that runs the runner, which must outlive
// it.
class SequenceStepper {
 public:
  SequenceStepper(ModelRunner& runner, std::vector<TokenId> tokens, LogitsRows logits);
  ~SequenceStepper();
  SequenceStepper(SequenceStepper&& other) noexcept;
  SequenceStepper(const SequenceStepper&) = delete;
  SequenceStepper& operator=(const SequenceStepper&) = delete;

  int pending() const { return sequence_.pending(); }
  int computed() const { return sequence_.computed; }
  const std::vector<TokenId>& tokens() const { return sequence_.tokens; }
  void append(TokenId token) { sequence_.tokens.push_back(token); }

  // The run of the next `count` pending tokens, with room in the KV. Throws Error{usage} when the
  // context or the KV is full. The sequence must not move until the run is committed.
  Run next(int count);
  // To be called after the step that computed next(count): frees blocks behind windows.
  void commit(int count);

 private:
  ModelRunner& runner_;
  Sequence sequence_;
};

}  // namespace arion

// Growing and freeing the block tables of a sequence stepped by hand.
#include "runtime/sequence_stepper.h"

#include "base/check.h"
#include "base/error.h"

namespace arion {

SequenceStepper::SequenceStepper(ModelRunner& runner, std::vector<TokenId> tokens,
                                 LogitsRows logits)
    : runner_(runner) {
  sequence_.logits = logits;
  sequence_.tokens = std::move(tokens);
  sequence_.prompt_tokens = sequence_.size();
  sequence_.kv.resize(runner.kv_groups().size());
}

SequenceStepper::SequenceStepper(SequenceStepper&& other) noexcept
    : runner_(other.runner_), sequence_(std::move(other.sequence_)) {
  other.sequence_.kv.clear();
}

SequenceStepper::~SequenceStepper() {
  for (size_t g = 0; g < sequence_.kv.size(); ++g) sequence_.kv[g].clear(runner_.pools()[g]);
}

Run SequenceStepper::next(int count) {
  CHECK(count > 0 && count <= pending());
  const int end = computed() + count;
  if (end > runner_.context_length()) {
    fail(ErrorCode::usage, "{} tokens do not fit the context of {}; use a larger -c", end,
         runner_.context_length());
  }
  for (size_t g = 0; g < sequence_.kv.size(); ++g) {
    if (!sequence_.kv[g].grow(runner_.pools()[g], end)) {
      fail(ErrorCode::usage, "the KV cache is full; use a larger -c");
    }
  }
  const bool is_last = count == pending();
  const bool wants_logits = sequence_.logits == LogitsRows::all || is_last;
  return {.sequence = &sequence_,
          .first = computed(),
          .count = count,
          .logits = wants_logits ? sequence_.logits : LogitsRows::none};
}

void SequenceStepper::commit(int count) {
  sequence_.computed += count;
  for (size_t g = 0; g < sequence_.kv.size(); ++g) {
    const int visible = runner_.kv_groups()[g].first_visible(computed());
    sequence_.kv[g].release_before(runner_.pools()[g], visible);
  }
}

}  // namespace arion

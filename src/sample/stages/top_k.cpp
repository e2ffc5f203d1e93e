// Top-k: the k first tokens in rank order, so that of equal logits the lower ids stay.
// Source: Fan et al., "Hierarchical neural story generation", 2018.
#include "base/error.h"
#include "sample/stage.h"

namespace arion {

const Stage& stage_top_k() {
  static const Stage stage = {
      .name = "top_k",
      .is_on = [](const SamplingParams& params) { return params.top_k > 0; },
      .check =
          [](const SamplingParams& params) {
            if (params.top_k >= -1) return;
            fail(ErrorCode::bad_input, "top_k is {}, expected 1 or more, or 0 or -1 for no limit",
                 params.top_k);
          },
      .apply = [](Survivors& survivors, const SamplingParams& params,
                  const SampleKey&) { survivors.keep_first(static_cast<size_t>(params.top_k)); },
  };
  return stage;
}

}  // namespace arion

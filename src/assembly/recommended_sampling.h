// What a model's file says about how to sample from it: converters store a model's
// generation_config.json as general.sampling.*.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "io/gguf_metadata.h"
#include "sequence/sampling_params.h"

namespace arion {

struct RecommendedSampling {
  std::optional<float> temperature, top_p, min_p;
  std::optional<int> top_k;
  // Recommendations that are left out because they are no numbers in range: the model runs without
  // them. A message each.
  std::vector<std::string> ignored;

  void apply_to(SamplingParams& params) const;
};

RecommendedSampling read_recommended_sampling(const GgufMetadata& metadata);

}  // namespace arion

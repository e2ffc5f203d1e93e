// How `run` is told to choose tokens: options, else the model file, else defaults.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>

#include "io/gguf_metadata.h"
#include "sequence/sampling_params.h"

namespace arion::app {

// Absent: as the model file recommends, else kDefaultSampling.
struct SamplingOptions {
  std::optional<float> temperature, top_p, min_p;
  std::optional<int> top_k;
  std::optional<uint64_t> seed;
  int logprobs = -1;
};

inline constexpr SamplingParams kDefaultSampling = {
    .top_k = 40, .top_p = 0.95f, .min_p = 0.05f, .temperature = 0.8f};

// Adds --temp, --top-k, --top-p, --min-p, --seed and --logprobs, each with its range.
void add_sampling_options(CLI::App& command, SamplingOptions& options);

// Converters store a model's generation_config.json as general.sampling.*. A recommendation that is
// no number in range is left out with a warning: the model runs without it.
SamplingParams resolve_sampling(const SamplingOptions& options, const GgufMetadata& metadata);

}  // namespace arion::app

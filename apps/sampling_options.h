// How `run` is told to choose tokens: options, else the model file, else defaults.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/gguf_metadata.h"
#include "sample/dry.h"
#include "sequence/sampling_params.h"
#include "text/tokenizer.h"

namespace arion::app {

// Absent: as the model file recommends, else kDefaultSampling.
struct SamplingOptions {
  std::optional<float> temperature, top_p, min_p;
  std::optional<int> top_k;
  std::optional<uint64_t> seed;
  SamplingParams others;  // all parameters but these four and the seed
  std::string preset = "default";
  std::vector<std::string> bad_words, logit_bias;  // as written
  std::vector<std::string> dry_breakers{kDryBreakers.begin(), kDryBreakers.end()};
  std::string negative_prompt;
  float guidance_scale = 1;  // 1: no guidance
};

// Those of the four parameters; the others are neutral.
inline const SamplingParams kDefaultSampling = {
    .top_k = 40, .top_p = 0.95f, .min_p = 0.05f, .temperature = 0.8f};

// Adds --temp, --top-k, --top-p, --min-p, --seed, --logprobs and a group of the less usual ones.
void add_sampling_options(CLI::App& command, SamplingOptions& options);

// Applies preset and biases to `options.others`, then checks all that needs no model. Throws
// Error{usage}.
void check_sampling_options(SamplingOptions& options);

// What options, model file and defaults say together. Warns of recommendations that are ignored,
// see assembly/recommended_sampling.h.
SamplingParams resolve_sampling(const SamplingOptions& options, const GgufMetadata& metadata);

// Sets the parameters given as texts. A bad word is forbidden with and without a space before it; a
// DRY breaker is every token whose text contains it.
void resolve_texts(const SamplingOptions& options, const Tokenizer& tokenizer,
                   SamplingParams& params);

}  // namespace arion::app

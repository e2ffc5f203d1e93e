// Measures an engine under the load of many clients.
#pragma once
#include <cstdint>
#include <vector>

#include "command.h"
#include "load_bench_options.h"
#include "load_options.h"

namespace arion::app {

struct LoadedRequest {
  int prompt_tokens = 0, output_tokens = 0, cached_tokens = 0;
  std::vector<double> token_seconds;  // of each token, from when the request was made
};

struct LoadResult {
  double seconds = 0;  // from the first request to the last token
  std::vector<LoadedRequest> requests;
  int64_t steps = 0, preemptions = 0, computed_tokens = 0;
};

// Greedy, and end tokens are tokens like any other: an answer has the length it is to have. Throws
// Error: usage for options that exclude each other or a context that is too short, failed when a
// request fails, else as load_model.
LoadResult measure_load(const LoadOptions& load, const LoadBenchOptions& options,
                        const GlobalOptions& global);

}  // namespace arion::app

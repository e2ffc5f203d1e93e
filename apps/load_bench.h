// Measures an engine under the load of many clients.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "command.h"
#include "load_options.h"

namespace arion::app {

// Tokens of prompts or answers: "128", "64:512" (uniform) or "log:64:512" (uniform in the
// logarithm).
struct LengthRange {
  int low = 0, high = 0;
  bool is_logarithmic = false;
};

// Throws Error{usage} for anything else, and for lengths that are not 1 to 2^20.
LengthRange parse_length_range(const std::string& text);

// The prompts and lengths depend on the seed alone.
struct LoadBenchOptions {
  int requests = 64;
  int clients = 16;  // at most so many requests at the same time
  double rate = 0;   // requests per second as a Poisson process; 0: clients ask again at once
  LengthRange input = {128, 128, false}, output = {128, 128, false};
  int shared_prefix = 0;   // first tokens that all prompts share
  bool is_static = false;  // padded batches of `clients` requests that start and end together
  bool has_prefixes = true, has_kv = true;
  double decode_slowdown = EngineOptions{}.decode_slowdown;
  uint64_t seed = 1;
};

void add_load_bench_options(CLI::App& command, LoadBenchOptions& options);

struct LoadedRequest {
  int prompt_tokens = 0, output_tokens = 0, cached_tokens = 0;
  std::vector<double> token_seconds;  // from when the request was made
};

struct LoadResult {
  double seconds = 0;  // from the first request to the last token
  std::vector<LoadedRequest> requests;
  int64_t steps = 0, preemptions = 0, computed_tokens = 0;
};

// Greedy, and end tokens are tokens like any other: an answer has the length it is to have.
LoadResult measure_load(const LoadOptions& load, const LoadBenchOptions& options,
                        const GlobalOptions& global);

// As a table, or as JSON.
void print_load(const LoadResult& result, const LoadBenchOptions& options, bool is_json);

}  // namespace arion::app

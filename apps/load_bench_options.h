// The load under which an engine is measured.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "engine/engine.h"

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

// Throws Error{usage} for options that exclude each other.
void check_load_bench_options(const LoadBenchOptions& options);

}  // namespace arion::app

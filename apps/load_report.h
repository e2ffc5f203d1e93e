// What a load bench prints: totals, and percentiles of the times of all requests.
#pragma once
#include "load_bench.h"

namespace arion::app {

// On standard output, as a table or as one JSON object. There is at least one request.
void print_load(const LoadResult& result, const LoadBenchOptions& options);
void print_load_json(const LoadResult& result, const LoadBenchOptions& options);

}  // namespace arion::app

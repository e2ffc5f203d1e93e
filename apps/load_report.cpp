#include "load_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "percentile.h"

namespace arion::app {
namespace {

constexpr std::pair<const char*, double> kShares[] = {{"p50", .5}, {"p95", .95}, {"p99", .99}};

// Seconds of one kind.
struct Times {
  const char* name;
  const char* meaning;
  std::vector<double> values;
};

std::vector<Times> collect_times(const LoadResult& result) {
  std::vector<Times> all = {{"ttft", "time to the first token", {}},
                            {"tpot", "time per later token of an answer", {}},
                            {"itl", "gap between two tokens", {}},
                            {"e2e", "whole answer", {}}};
  for (const LoadedRequest& request : result.requests) {
    const std::vector<double>& times = request.token_seconds;
    all[0].values.push_back(times.front());
    all[3].values.push_back(times.back());
    if (times.size() < 2) continue;
    all[1].values.push_back((times.back() - times.front()) / static_cast<double>(times.size() - 1));
    for (size_t i = 1; i < times.size(); ++i) all[2].values.push_back(times[i] - times[i - 1]);
  }
  std::erase_if(all, [](const Times& times) { return times.values.empty(); });
  for (Times& times : all) std::ranges::sort(times.values);
  return all;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

struct TokenTotals {
  int64_t prompt_tokens = 0, output_tokens = 0, cached_tokens = 0;
};

TokenTotals add_up(const LoadResult& result) {
  TokenTotals totals;
  for (const LoadedRequest& request : result.requests) {
    totals.prompt_tokens += request.prompt_tokens;
    totals.output_tokens += request.output_tokens;
    totals.cached_tokens += request.cached_tokens;
  }
  return totals;
}

std::string describe_load(const LoadBenchOptions& options) {
  std::string text = options.rate > 0 ? fmt::format("{} requests per second", options.rate)
                                      : fmt::format("{} clients", options.clients);
  if (options.is_static) text += ", padded static batches";
  if (!options.has_prefixes) text += ", no prefix reuse";
  if (!options.has_kv) text += ", no KV cache";
  return text;
}

double per_second(int64_t tokens, const LoadResult& result) {
  return static_cast<double>(tokens) / result.seconds;
}

}  // namespace

void print_load_json(const LoadResult& result, const LoadBenchOptions& options) {
  const TokenTotals totals = add_up(result);
  nlohmann::ordered_json out{{"load", describe_load(options)},
                             {"requests", result.requests.size()},
                             {"seconds", result.seconds},
                             {"prompt_tokens", totals.prompt_tokens},
                             {"cached_tokens", totals.cached_tokens},
                             {"output_tokens", totals.output_tokens},
                             {"output_tokens_per_s", per_second(totals.output_tokens, result)},
                             {"steps", result.steps},
                             {"computed_tokens", result.computed_tokens},
                             {"preemptions", result.preemptions}};
  for (const Times& times : collect_times(result)) {
    nlohmann::ordered_json& entry = out[fmt::format("{}_ms", times.name)];
    entry["mean"] = mean(times.values) * 1000;
    for (const auto& [name, share] : kShares) entry[name] = percentile(times.values, share) * 1000;
  }
  fmt::print("{}\n", out.dump(1));
}

void print_load(const LoadResult& result, const LoadBenchOptions& options) {
  const TokenTotals totals = add_up(result);
  fmt::print("{} requests, {}: {:.2f} s\n", result.requests.size(), describe_load(options),
             result.seconds);
  fmt::print("{:.1f} tokens/s of answers, {:.1f} with prompts; {} of {} prompt tokens reused\n",
             per_second(totals.output_tokens, result),
             per_second(totals.output_tokens + totals.prompt_tokens, result), totals.cached_tokens,
             totals.prompt_tokens);
  fmt::print("{} steps of {:.1f} tokens, {} preemptions\n\n", result.steps,
             static_cast<double>(result.computed_tokens) / static_cast<double>(result.steps),
             result.preemptions);
  fmt::print("ms    {:>10} {:>10} {:>10} {:>10}\n", "mean", "p50", "p95", "p99");
  for (const Times& times : collect_times(result)) {
    fmt::print("{:<5} {:>10.1f}", times.name, mean(times.values) * 1000);
    for (const auto& [name, share] : kShares) {
      fmt::print(" {:>10.1f}", percentile(times.values, share) * 1000);
    }
    fmt::print("  {}\n", times.meaning);
  }
}

}  // namespace arion::app

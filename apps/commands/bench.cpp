// arion bench: tokens per second of prefill and decode, alone or under the load of many clients.
#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "assembly/model_path.h"
#include "base/error.h"
#include "base/worker_count.h"
#include "bench_batch.h"
#include "command.h"
#include "load_bench.h"
#include "load_options.h"
#include "load_report.h"
#include "model/hf_folder.h"
#include "number_option.h"
#include "percentile.h"
#include "roofline.h"
#include "runtime/memory_plan.h"

namespace arion::app {
namespace {

struct BenchOptions {
  LoadOptions load{.logit_rows = kGenerationLogitRows};
  std::vector<int> prompt = {512};
  std::vector<int> generate = {128};
  std::vector<int> batch = {1};
  int depth = 0;
  int repetitions = 5;
  bool json = false;
  bool is_load = false;
  bool is_limits = false;
  LoadBenchOptions load_bench;
};

// One measurement: prefill of a prompt, or generation.
struct Test {
  bool is_prefill;
  int count;
  int depth;      // tokens in the context before; generation needs one at least
  int batch = 1;  // sequences that generate at once

  std::string name() const {
    return (is_prefill ? "pp" : "tg") + std::to_string(count) +
           (batch > 1 ? "x" + std::to_string(batch) : "");
  }
  int64_t context() const { return int64_t{depth} + count; }
};

struct Result {
  Test test;
  std::vector<double> tokens_per_s;
  std::vector<double> limits;  // tokens per second that the machine allowed, by run
  bool is_compute_bound = false;

  const char* limit_name() const { return is_compute_bound ? "peak" : "bandwidth"; }
  // Of the limit, the median over the runs.
  double share() const {
    std::vector<double> shares;
    for (size_t i = 0; i < limits.size(); ++i) shares.push_back(tokens_per_s[i] / limits[i]);
    return median(std::move(shares));
  }
};

double seconds(const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<Test> chosen_tests(const BenchOptions& options) {
  std::vector<Test> tests;
  for (int count : options.prompt) {
    if (count > 0) tests.push_back({.is_prefill = true, .count = count, .depth = options.depth});
  }
  for (int count : options.generate) {
    if (count == 0) continue;
    for (int batch : options.batch) {
      const int depth = std::max(options.depth, 1);
      tests.push_back({.is_prefill = false, .count = count, .depth = depth, .batch = batch});
    }
  }
  if (tests.empty()) fail(ErrorCode::usage, "nothing to measure: -p and -n are both 0");
  return tests;
}

// The context the tests need, or the one asked for. Names a test that cannot be run.
int chosen_context(const BenchOptions& options, const std::vector<Test>& tests) {
  const int limit =
      options.load.context > 0
          ? options.load.context
          : describe_model(open_model(resolve_model(options.load.model))).config.context_length;
  int64_t needed = 0;
  for (const Test& test : tests) {
    needed = std::max(needed, test.context());
    if (test.context() <= limit) continue;
    fail(ErrorCode::usage, "{} at depth {} needs a context of {} tokens, but {} has {}",
         test.name(), test.depth, test.context(), options.load.context > 0 ? "-c" : "the model",
         limit);
  }
  return options.load.context > 0 ? options.load.context : static_cast<int>(needed);
}

// `on_run` is called after every run.
Result measure(GraphRunner& runner, LimitMeter& meter, const Test& test, int repetitions,
               const std::function<void()>& on_run) {
  Result result{.test = test};
  const ExecutionPlan& plan = runner.plans().front();
  const auto limit = [&] {
    return test.is_prefill ? prefill_limit(plan, meter)
                           : decode_limit(plan, test.batch, test.depth + test.count / 2, meter);
  };
  StepLimit before;
  for (int r = -1; r < repetitions; ++r) {  // the first run only warms up
    BenchBatch batch(runner, test.batch);
    batch.prefill(test.depth);
    const double time =
        seconds([&] { test.is_prefill ? batch.prefill(test.count) : batch.decode(test.count); });
    const StepLimit after = limit();
    if (r >= 0) {
      result.tokens_per_s.push_back(test.count * test.batch / time);
      result.limits.push_back((before.tokens_per_s + after.tokens_per_s) / 2);
      result.is_compute_bound = after.is_compute_bound;
    }
    before = after;
    on_run();
  }
  return result;
}

std::vector<Result> measure_all(const LoadedModel& loaded, const std::vector<Test>& tests,
                                int repetitions) {
  LimitMeter meter(loaded.kernels->limit_probes(), *loaded.pool);
  uint64_t runs = 0;
  Progress progress("measuring", tests.size() * static_cast<uint64_t>(repetitions + 1));
  std::vector<Result> results;
  for (const Test& test : tests) {
    results.push_back(
        measure(*loaded.runner, meter, test, repetitions, [&] { progress.update(++runs); }));
  }
  return results;
}

void bench_limits(const BenchOptions& options, const GlobalOptions& global) {
  const IsaLevel level = choose_isa(global.isa);
  KernelRegistry kernels;
  register_cpu_kernels(kernels, level);
  const int threads = options.load.threads;
  WorkerPool pool(threads > 0 ? threads : default_worker_count());
  const MachineLimits limits = measure_limits(kernels.limit_probes(), pool, options.repetitions);
  const std::string isa(isa_name(level));
  options.json ? print_limits_json(limits, isa) : print_limits(limits, isa);
}

void bench(BenchOptions options, const GlobalOptions& global) {
  if (options.is_limits && (options.is_load || !options.load.model.empty())) {
    fail(ErrorCode::usage, "--limits measures the machine: without MODEL and --load");
  }
  if (options.is_limits) return bench_limits(options, global);
  if (options.is_load) {
    const LoadResult result = measure_load(options.load, options.load_bench, global);
    return options.json ? print_load_json(result, options.load_bench)
                        : print_load(result, options.load_bench);
  }
  const std::vector<Test> tests = chosen_tests(options);
  options.load.context = chosen_context(options, tests);
  options.load.kv_sequences = std::ranges::max(options.batch);
  LoadedModel loaded = load_model(options.load, global);
  GraphRunner& runner = *loaded.runner;
  const std::vector<Result> results = measure_all(loaded, tests, options.repetitions);
  if (options.json) {
    nlohmann::ordered_json out{{"model", loaded.path},
                               {"threads", loaded.pool->size()},
                               {"isa", loaded.isa},
                               {"profile", runner.profile()}};
    out["results"] = nlohmann::ordered_json::array();
    for (const Result& result : results) {
      out["results"].push_back({{"test", result.test.name()},
                                {"depth", options.depth},
                                {"batch", result.test.batch},
                                {"samples_tokens_per_s", result.tokens_per_s},
                                {"median", median(result.tokens_per_s)},
                                {"limit", result.limit_name()},
                                {"limit_tokens_per_s", result.limits},
                                {"share_of_limit", result.share()}});
    }
    fmt::print("{}\n", out.dump(1));
    return;
  }
  fmt::print("{}, {} threads, {}\n{}\n", loaded.path, loaded.pool->size(), loaded.isa,
             runner.profile());
  for (const Result& result : results) {
    const auto [low, high] = std::ranges::minmax(result.tokens_per_s);
    fmt::print(
        "{:<8} depth {:<6} {:>10.2f} tokens/s  ({:.2f} to {:.2f}, {} runs), {:.0f} % of the {}\n",
        result.test.name(), options.depth, median(result.tokens_per_s), low, high,
        result.tokens_per_s.size(), 100 * result.share(), result.limit_name());
  }
}

}  // namespace

void command_bench(CLI::App& program, const GlobalOptions& global) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = program.add_subcommand("bench", "Measures prefill and decode speed");
  add_load_options(*command, options->load);
  add_context_option(*command, options->load);
  add_passes_option(*command, options->load);
  command->add_option("-p,--prompt", options->prompt, "Prompt lengths to prefill; 0: none")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(number_from(0, 1 << 20))
      ->capture_default_str();
  command->add_option("-n,--generate", options->generate, "Numbers of tokens to generate; 0: none")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(number_from(0, 1 << 20))
      ->capture_default_str();
  command
      ->add_option("-b,--batch", options->batch,
                   "Sequences that generate at once, each of these numbers")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(number_from(1, kGenerationLogitRows))
      ->capture_default_str();
  command->add_option("-d,--depth", options->depth, "Tokens already in the context")
      ->check(number_from(0, 1 << 24))
      ->capture_default_str();
  command->add_option("-r,--repetitions", options->repetitions, "Measured runs of each test")
      ->check(number_from(1, 1000))
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print one JSON object");
  command->add_flag("--limits", options->is_limits,
                    "Measure the machine instead of a model: reads, arithmetic, barriers");
  command->add_flag("--load", options->is_load, "Measure an engine that serves many clients");
  add_load_bench_options(*command, options->load_bench);
  command->footer(
      "Examples:\n"
      "  arion bench model.gguf -p 512 -n 128 -t 2\n"
      "  arion bench --limits\n"
      "  arion bench model.gguf --load --max-concurrency 16 --input-len 64:512 --output-len 128");
  command->callback([options, &global] { bench(*options, global); });
}

}  // namespace arion::app

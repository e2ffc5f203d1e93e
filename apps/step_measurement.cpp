#include "step_measurement.h"

#include <fmt/format.h>

#include <algorithm>

#include "roofline.h"
#include "runtime/sequence_stepper.h"
#include "stopwatch.h"

namespace arion::app {
namespace {

constexpr double kSeconds = 0.5;
constexpr int kLeastRuns = 5;

// Well-spread ids; the speed does not depend on which.
std::vector<TokenId> spread_tokens(int count, int vocab) {
  std::vector<TokenId> tokens;
  for (int64_t i = 0; i < count; ++i) {
    tokens.push_back(static_cast<TokenId>(i * 7919 % vocab));
  }
  return tokens;
}

}  // namespace

double StepMeasurement::computing() const {
  double sum = 0;
  for (size_t s = 0; s < times.parts[0].size(); ++s) sum += times.mean(s).computing;
  return sum;
}

double StepMeasurement::waiting() const {
  double sum = 0;
  for (size_t s = 0; s < times.parts[0].size(); ++s) sum += times.mean(s).waiting;
  return sum;
}

StepMeasurement measure_steps(LoadedModel& loaded, int rows, int depth) {
  GraphRunner& runner = *loaded.runner;
  SequenceStepper sequence(runner, spread_tokens(depth + rows, runner.vocab_size()),
                           LogitsRows::last);
  while (sequence.computed() < depth) {
    const int count = std::min(depth - sequence.computed(), runner.max_step_tokens());
    runner.run({.runs = {sequence.next(count)}});
    sequence.commit(count);
  }
  const BatchPlan step{.runs = {sequence.next(rows)}};
  runner.run(step);  // warms up

  const ExecutionPlan& plan = runner.plans().front();
  LimitMeter meter(loaded.kernels->limit_probes(), *loaded.pool);
  const auto limit = [&] {
    const StepLimit now =
        rows > 1 ? prefill_limit(plan, meter) : decode_limit(plan, 1, depth, meter);
    return now.tokens_per_s;
  };
  StepMeasurement measured{.times = {loaded.pool->size(), plan.steps.size()}, .rows = rows};
  const double before = limit();
  runner.set_times(&measured.times);
  for (const Stopwatch watch; measured.times.runs < kLeastRuns || watch.seconds() < kSeconds;) {
    runner.run(step);
  }
  runner.set_times(nullptr);
  measured.limit = (before + limit()) / 2;
  return measured;
}

void print_measurement(const StepMeasurement& m, int barriers) {
  const double fixed = m.waiting() + m.outside();
  fmt::print("  measured: {:.3f} ms a step = {:.1f} tokens/s, {:.0f} % of the {}; mean of {}\n",
             m.step_seconds() * 1e3, m.tokens_per_s(), 100 * m.tokens_per_s() / m.limit,
             m.is_prefill() ? "peak" : "bandwidth", m.times.runs);
  fmt::print(
      "  threads compute {:.3f} ms and wait {:.0f} us at {} barriers, {:.0f} us go to start and "
      "end: {:.1f} % is fixed cost\n",
      m.computing() * 1e3, m.waiting() * 1e6, barriers, m.outside() * 1e6,
      100 * fixed / m.step_seconds());
}

nlohmann::ordered_json measurement_json(const StepMeasurement& m) {
  return {{"runs", m.times.runs},
          {"step_s", m.step_seconds()},
          {"computing_s", m.computing()},
          {"waiting_s", m.waiting()},
          {"outside_s", m.outside()},
          {"tokens_per_s", m.tokens_per_s()},
          {"limit", m.is_prefill() ? "peak" : "bandwidth"},
          {"limit_tokens_per_s", m.limit},
          {"share_of_limit", m.tokens_per_s() / m.limit}};
}

}  // namespace arion::app

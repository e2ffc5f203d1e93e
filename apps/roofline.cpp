// Measures the roofs, and estimates the bytes and operations of a step against them.
#include "roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "stopwatch.h"
#include "tensor/memory.h"

namespace arion::app {
namespace {

constexpr int kRepetitions = 3;

// Keys that one row of an attention at `position` sees.
double visible(int window, int position) {
  return window > 0 ? std::min(window, position + 1) : position + 1;
}

// Seconds that the counted multiply-adds take.
double computing_seconds(const std::map<ActivationForm, double>& multiply_adds, LimitMeter& meter) {
  double seconds = 0;
  for (const auto& [form, count] : multiply_adds) seconds += count / meter.peak(form);
  return seconds;
}

ActivationForm linear_form(const PlanStep& step) {
  return std::get<LinearArgs>(*step.args).form;
}

}  // namespace

double measure_peak(const KernelRegistry& kernels, const OpDesc& op, WorkerPool& pool) {
  // Panels of about 256 KiB per worker stay in its second-level cache; 64 rows hide their loads.
  constexpr int kCols = 1024, kRows = 64;
  const int out_cols = 256 * pool.size();
  const Memory panels(static_cast<size_t>(panel_count(out_cols)) * panel_bytes(op.weights, kCols));
  const Memory x(activation_bytes(op.form, kRows, kCols));
  const Memory y(activation_bytes(ActivationForm::f32, kRows, out_cols));
  const Memory scratch(kScratchBytes * static_cast<size_t>(pool.size()));
  const Kernel& kernel = kernels.best(op);
  LinearArgs args{.form = op.form, .x = {.base = x.data()}};
  args.weight = {.panels = panels.data(), .spec = op.weights, .rows = out_cols, .cols = kCols};
  args.out.f32 = {.base = y.data()};
  std::vector<int32_t> positions(kRows), runs(kRows);
  const StepInput input{.all = {kRows, positions.data(), runs.data()}};
  const int chunks = kernel.chunks(&args, input, pool.size());

  // Grows until one repetition takes long enough for the clock and the start of the workers.
  double best = 0;
  for (int r = 0, times = 1; r < kRepetitions;) {
    const Stopwatch watch;
    pool.run([&](int worker) {
      const Worker context{.index = worker,
                           .scratch = scratch.data() + kScratchBytes * static_cast<size_t>(worker)};
      for (int t = 0; t < times; ++t) {
        for (int c = worker; c < chunks; c += pool.size()) {
          kernel.run(&args, input, c, chunks, context);
        }
      }
    });
    const double seconds = watch.seconds();
    if (seconds < 2e-3) {
      times *= 2;
      continue;
    }
    best = std::max(best, static_cast<double>(times) * kRows * kCols * out_cols / seconds);
    ++r;
  }
  return best;
}

Roofline::Roofline(const KernelRegistry& kernels, WorkerPool& pool, double bandwidth, double peak)
    : kernels_(kernels),
      pool_(pool),
      bandwidth_(bandwidth > 0 ? bandwidth : LimitMeter(kernels.limit_probes(), pool).bandwidth()),
      given_peak_(peak) {}

double Roofline::peak(const OpDesc& op) {
  if (given_peak_ > 0) return given_peak_;
  const std::string name =
      fmt::format("{} {}/{}", activation_form_name(op.form), codec_name(op.weights.codec),
                  scale_mode_name(op.weights.mode));
  const auto it = peaks_.find(name);
  if (it != peaks_.end()) return it->second;
  return peaks_.emplace(name, measure_peak(kernels_, op, pool_)).first->second;
}

StepWork step_work(const PlanStep& step, const PlanShape& shape, int depth) {
  StepWork work{.bytes = static_cast<double>(step.weight_bytes)};
  const int rows = step.rows == RowsKind::output ? shape.output_rows : shape.rows;
  if (step.multiply_adds > 0) {
    work.multiply_adds = static_cast<double>(step.multiply_adds) * rows;
  } else if (step.kind == OpKind::attention) {
    const AttentionAttributes& a = std::get<AttentionArgs>(*step.args).attributes;
    // The rows that want logits are the last ones of the step.
    const int last = depth + shape.rows - 1;
    double keys = 0;
    for (int r = 0; r < rows; ++r) keys += visible(a.window, last - r);
    work.multiply_adds = 2.0 * keys * a.heads * a.head_dim;
    const double seen = std::min<double>(visible(a.window, last) + rows - 1, last + 1);
    work.bytes = 2.0 * seen * a.kv_heads * a.head_dim * static_cast<double>(dtype_bytes(shape.kv));
  }
  return work;
}

PlanStepCost Roofline::cost(const PlanStep& step, const PlanShape& shape, int depth) {
  PlanStepCost cost{step_work(step, shape, depth)};
  if (cost.bytes == 0 && cost.multiply_adds == 0) return cost;
  OpDesc op{.kind = OpKind::linear};
  if (is_linear(step.kind)) {
    const auto& args = std::get<LinearArgs>(*step.args);
    op.form = args.form;
    op.weights = args.weight.spec;
  }
  const double reading = cost.bytes / bandwidth_;
  const double computing = cost.multiply_adds / peak(op);
  cost.seconds = std::max(reading, computing);
  cost.is_compute_bound = computing > reading;
  return cost;
}

StepLimit decode_limit(const ExecutionPlan& plan, int batch, int depth, LimitMeter& meter) {
  const PlanShape shape{.rows = 1, .output_rows = 1, .kv = plan.shape.kv};
  double bytes = 0;
  std::map<ActivationForm, double> multiply_adds;
  for (const PlanStep& step : plan.steps) {
    const StepWork work = step_work(step, shape, depth);
    // Weights are read once for all sequences, every KV for its own.
    bytes += step.kind == OpKind::attention ? work.bytes * batch : work.bytes;
    if (is_linear(step.kind)) multiply_adds[linear_form(step)] += work.multiply_adds * batch;
  }
  const double reading = bytes / meter.bandwidth();
  // One row has far too little to compute to be worth a probe.
  const double computing = batch > 1 ? computing_seconds(multiply_adds, meter) : 0;
  return {batch / std::max(reading, computing), computing > reading};
}

StepLimit prefill_limit(const ExecutionPlan& plan, LimitMeter& meter) {
  std::map<ActivationForm, double> multiply_adds;
  for (const PlanStep& step : plan.steps) {
    if (!is_linear(step.kind) || !step.scope.starts_with("layer")) continue;
    multiply_adds[linear_form(step)] += static_cast<double>(step.multiply_adds);
  }
  return {1 / computing_seconds(multiply_adds, meter), true};
}

}  // namespace arion::app

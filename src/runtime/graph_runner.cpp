#include "runtime/graph_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/error.h"

namespace arion {
namespace {

constexpr int kDefaultContext = 32768;
constexpr int kSmallRows = 16;

int choose_context(const Model& model, const RunnerLimits& limits) {
  if (limits.context_tokens == 0) return std::min(model.config.context_length, kDefaultContext);
  if (limits.context_tokens > model.config.context_length) {
    fail(ErrorCode::usage, "a context of {} tokens was asked for, but the model was made for {}",
         limits.context_tokens, model.config.context_length);
  }
  return limits.context_tokens;
}

}  // namespace

GraphRunner::GraphRunner(Model model, const ModelOptions& options, const RunnerLimits& limits,
                         const KernelRegistry& kernels, WorkerPool& pool,
                         const std::function<void(const Weight&)>& on_packed)
    : model_(std::move(model)),
      options_(options),
      weights_(model_.graph, pool, on_packed),
      context_tokens_(choose_context(model_, limits)),
      step_tokens_(std::min(limits.step_tokens, context_tokens_)) {
  for (const KvGroup& group : model_.graph.kv_groups) {
    specs_.push_back({.layers = group.layers,
                      .kv_heads = group.kv_heads,
                      .head_dim = group.head_dim,
                      .window = group.window,
                      .type = options_.kv_type()});
    const int blocks = (blocks_for(context_tokens_) + 1) * limits.sequences;
    storages_.emplace_back(specs_.back(), blocks);
    pools_.emplace_back(blocks);
    views_.push_back(storages_.back().view());
  }
  const auto rows = static_cast<size_t>(step_tokens_);
  for (auto* column :
       {&tokens_, &positions_, &runs_, &output_index_, &output_positions_, &output_runs_}) {
    column->resize(rows);
  }
  block_tables_.resize(rows * specs_.size());
  make_plans(kernels, pool);
}

void GraphRunner::make_plans(const KernelRegistry& kernels, WorkerPool& pool) {
  const Planner planner(model_.graph, weights_, kernels);
  std::vector<PlanShape> shapes;
  for (int rows : {1, kSmallRows, step_tokens_}) {
    rows = std::min(rows, step_tokens_);
    if (!shapes.empty() && shapes.back().rows >= rows) continue;
    shapes.push_back(
        {.rows = rows, .output_rows = rows, .workers = pool.size(), .kv = options_.kv_type()});
  }
  size_t bytes = 0;
  for (const PlanShape& shape : shapes) {
    bytes = std::max(bytes, planner.plan(shape, nullptr).arena_bytes);
  }
  arena_ = Memory(bytes);
  for (const PlanShape& shape : shapes) plans_.push_back(planner.plan(shape, arena_.data()));
  executor_ = std::make_unique<Executor>(pool, plans_.back().steps.size());
}

void GraphRunner::gather(const BatchPlan& batch) {
  size_t row = 0, output = 0, run_index = 0;
  for (const Run& run : batch.runs) {
    const Sequence& sequence = *run.sequence;
    CHECK(run.first + run.count <= context_tokens_);
    const int first_output = run.count - run.logit_rows();
    for (int i = 0; i < run.count; ++i, ++row) {
      const int position = run.first + i;
      tokens_[row] = sequence.tokens[static_cast<size_t>(position)];
      positions_[row] = position;
      runs_[row] = static_cast<int32_t>(run_index);
      if (i < first_output) continue;
      output_index_[output] = static_cast<int32_t>(row);
      output_positions_[output] = position;
      output_runs_[output] = static_cast<int32_t>(run_index);
      ++output;
    }
    for (size_t group = 0; group < specs_.size(); ++group) {
      block_tables_[run_index * specs_.size() + group] = sequence.kv[group].blocks().data();
    }
    ++run_index;
  }
  input_ = {.all = {static_cast<int>(row), positions_.data(), runs_.data()},
            .output = {static_cast<int>(output), output_positions_.data(), output_runs_.data()},
            .tokens = tokens_.data(),
            .output_index = output_index_.data(),
            .kv = views_.data(),
            .groups = static_cast<int>(specs_.size()),
            .block_tables = block_tables_.data()};
}

StepResult GraphRunner::run(const BatchPlan& batch) {
  CHECK(batch.tokens() <= step_tokens_ && !batch.empty());
  for (const BlockCopy& copy : batch.copies) {
    storages_[static_cast<size_t>(copy.group)].copy_block(copy.from, copy.to);
  }
  gather(batch);
  if (is_poisoned_) std::memset(arena_.data(), 0xFF, arena_.size());
  const auto plan = std::ranges::find_if(
      plans_, [&](const ExecutionPlan& p) { return p.shape.rows >= input_.all.count; });
  executor_->run(*plan, input_);
  return {.logits = plan->logits, .stride = plan->logits_stride, .rows = input_.output.count};
}

size_t GraphRunner::kv_bytes() const {
  size_t bytes = 0;
  for (const KvStorage& storage : storages_) bytes += storage.bytes();
  return bytes;
}

std::string GraphRunner::profile() const {
  const std::string_view form =
      options_.activations ? activation_form_name(*options_.activations) : "by weight";
  std::string arithmetic;
  for (const PlanStep& step : plans_.back().steps) {
    const std::string tag = step.kernel->arithmetic;
    if (arithmetic.find(tag) == std::string::npos)
      arithmetic += (arithmetic.empty() ? "" : " ") + tag;
  }
  return fmt::format("activations {}, kv {}, arithmetic {}", form, dtype_name(options_.kv_type()),
                     arithmetic);
}

void GraphRunner::set_poison() {
  is_poisoned_ = true;
  for (KvStorage& storage : storages_) storage.poison();
}

}  // namespace arion

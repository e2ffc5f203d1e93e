// Plans by size at the start; per step the batch's rows gathered and the least plan run.
#include "runtime/graph_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/error.h"

namespace arion {
PackedWeights pack_weights(const Model& model, WorkerPool& pool,
                           const std::function<void(const Weight&)>& on_packed) {
  return PackedWeights(model.graph, pool, [&](const Weight& weight) {
    model.file.drop(model.file.require_tensor(weight.name));
    if (on_packed) on_packed(weight);
  });
}

GraphRunner::GraphRunner(Model model, const ModelOptions& options, const RunnerLimits& limits,
                         const KernelRegistry& kernels, WorkerPool& pool, const WeightLoader& load)
    : workers_(pool),
      model_(std::move(model)),
      options_(options),
      memory_(plan_memory(model_, options, limits, pool.size())),
      weights_(load(model_)) {
  for (const MemoryPlan::Group& group : memory_.groups) {
    specs_.push_back(group.spec);
    storages_.emplace_back(group.spec, group.blocks);
    pools_.emplace_back(group.blocks);
    views_.push_back(storages_.back().view());
  }
  const auto rows = static_cast<size_t>(max_step_tokens());
  for (auto* column :
       {&tokens_, &positions_, &runs_, &output_index_, &output_positions_, &output_runs_}) {
    column->resize(rows);
  }
  block_tables_.resize(rows * specs_.size());
  arena_ = Memory(memory_.arena_bytes);
  const Planner planner(model_.graph, weights_, kernels);
  for (const PlanShape& shape : plan_shapes(memory_.limits, pool.size(), options_.kv_type())) {
    plans_.push_back(planner.plan(shape, arena_.data()));
    CHECK(plans_.back().arena_bytes <= arena_.size());
  }
  executor_ = std::make_unique<Executor>(pool, plans_.back().steps.size());
}

void GraphRunner::gather(const BatchPlan& batch) {
  size_t row = 0, output = 0, run_index = 0;
  for (const Run& run : batch.runs) {
    const Sequence& sequence = *run.sequence;
    CHECK(run.first + run.count <= context_length());
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
  CHECK(batch.tokens() <= max_step_tokens() && !batch.empty());
  CHECK(batch.logit_rows() <= max_step_logit_rows());
  for (const BlockCopy& copy : batch.copies) {
    storages_[static_cast<size_t>(copy.group)].copy_block(copy.from, copy.to);
  }
  gather(batch);
  if (is_poisoned_) std::memset(arena_.data(), 0xFF, arena_.size());
  const auto plan = std::ranges::find_if(
      plans_, [&](const ExecutionPlan& p) { return p.shape.rows >= input_.all.count; });
  if (observer_) {
    executor_->run_observed(*plan, input_, observer_);
  } else {
    executor_->run(*plan, input_);
  }
  return {.logits = plan->logits, .stride = plan->logits_stride, .rows = input_.output.count};
}

void GraphRunner::set_poison() {
  is_poisoned_ = true;
  for (KvStorage& storage : storages_) storage.poison();
}

}  // namespace arion

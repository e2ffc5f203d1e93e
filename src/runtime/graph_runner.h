// Runs steps of a model by its execution plans, over paged KV on the CPU.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/kernel.h"
#include "base/worker_pool.h"
#include "cache/kv_storage.h"
#include "graph/executor.h"
#include "graph/packed_weights.h"
#include "model/model.h"
#include "runtime/memory_plan.h"
#include "runtime/model_runner.h"
#include "runtime/numerics_profile.h"

namespace arion {

// How the weights of a model whose graph is final come into memory.
using WeightLoader = std::function<PackedWeights(const Model&)>;

// Packs all, dropping the pages of each weight's source behind; `on_packed` as in PackedWeights.
PackedWeights pack_weights(const Model& model, WorkerPool& pool,
                           const std::function<void(const Weight&)>& on_packed);

// Owns the weights and the KV. See ModelRunner for threads.
class GraphRunner final : public ModelRunner {
 public:
  // Of a `model` whose graph its passes have rewritten; `load` is called once the model is known to
  // fit the limits. `kernels` and `pool` must outlive the runner.
  GraphRunner(Model model, const ModelOptions& options, const RunnerLimits& limits,
              const KernelRegistry& kernels, WorkerPool& pool, const WeightLoader& load);

  int vocab_size() const override { return model_.config.vocab; }
  int context_length() const override { return memory_.limits.context_tokens; }
  int max_step_tokens() const override { return memory_.limits.step_tokens; }
  int max_step_logit_rows() const override { return memory_.limits.logit_rows; }
  std::span<const KvGroupSpec> kv_groups() const override { return specs_; }
  std::span<KvPool> pools() override { return pools_; }
  WorkerPool* workers() override { return &workers_; }
  StepResult run(const BatchPlan& plan) override;

  const Model& model() const { return model_; }
  const PackedWeights& weights() const { return weights_; }
  std::span<const ExecutionPlan> plans() const { return plans_; }
  const MemoryPlan& memory() const { return memory_; }

  // Names everything the bits of the logits depend on besides file and tokens.
  std::string profile() const { return numerics_profile(options_, plans_.back()); }

  // From now on every step of a plan runs alone, after `observer` has seen it; its index is that of
  // its node in the graph.
  void set_observer(StepObserver observer) { observer_ = std::move(observer); }

  // See Executor.
  void set_times(StepTimes* times) { executor_->set_times(times); }

  // Fills arena and KV with NaN; then the arena before every step. A read of memory nobody wrote
  // in this step shows in the logits.
  void set_poison();
  // Random delays before every chunk, see Executor.
  void set_delays(std::optional<uint64_t> seed) { executor_->set_delays(seed); }
  // Takes a barrier out or puts it back, to test that tests see a missing one.
  void set_barrier(size_t plan, size_t step, bool has_barrier) {
    plans_[plan].steps[step].has_barrier = has_barrier;
  }

 private:
  void gather(const BatchPlan& batch);

  WorkerPool& workers_;
  Model model_;
  ModelOptions options_;
  MemoryPlan memory_;
  PackedWeights weights_;
  std::vector<KvGroupSpec> specs_;
  std::vector<KvStorage> storages_;
  std::vector<KvPool> pools_;
  Memory arena_;
  std::vector<ExecutionPlan> plans_;  // ascending number of rows
  std::unique_ptr<Executor> executor_;
  StepObserver observer_;
  bool is_poisoned_ = false;

  // Inputs of a step at fixed addresses, sized for the largest.
  std::vector<int32_t> tokens_, positions_, runs_;
  std::vector<int32_t> output_index_, output_positions_, output_runs_;
  std::vector<const int32_t*> block_tables_;
  std::vector<KvView> views_;
  StepInput input_;
};

}  // namespace arion

#include "assembly/loaded_model.h"

#include <chrono>
#include <cstdlib>
#include <utility>

#include "assembly/compiled_model.h"
#include "assembly/model_path.h"
#include "base/error.h"
#include "base/worker_count.h"
#include "model/hf_folder.h"

namespace arion {

namespace {

PackedWeights map_weights(const Model& model, CompiledModel compiled) {
  compiled.file.prefer_huge_pages();
  return {model.graph, std::move(compiled.file), compiled.header.data_offset};
}

PackedWeights pack_all(const Model& model, WorkerPool& pool, const LoadProgress& on_progress) {
  uint64_t total = 0, done = 0;
  for (const Weight& weight : model.graph.weights) total += weight.data.size();
  return pack_weights(model, pool, [&](const Weight& weight) {
    done += weight.data.size();
    if (on_progress) on_progress(done, total);
  });
}

}  // namespace

IsaLevel choose_isa(const std::string& name) {
  if (!name.empty()) return select_isa(name);
  const char* variable = std::getenv("ARION_ISA");
  return select_isa(variable != nullptr ? variable : "");
}

ModelOptions model_options(const LoadOptions& options) {
  ModelOptions out;
  out.passes = options.passes;
  if (options.activations == "int8") {
    out.activations = ActivationForm::int8;
  } else if (options.activations == "bf16") {
    out.activations = ActivationForm::bf16;
  } else if (options.activations == "fp32" || options.activations == "f32") {
    out.activations = ActivationForm::f32;
  } else if (!options.activations.empty()) {
    fail(ErrorCode::usage, "activations {}: expected int8, bf16 or fp32", options.activations);
  }
  if (options.kv == "f32") {
    out.kv = DType::f32;
  } else if (options.kv == "f16") {
    out.kv = DType::f16;
  } else if (options.kv == "bf16") {
    out.kv = DType::bf16;
  } else if (!options.kv.empty()) {
    fail(ErrorCode::usage, "type of the KV cache {}: expected f32, f16 or bf16", options.kv);
  }
  return out;
}

LoadedModel load_model(const LoadOptions& options, const LoadProgress& on_progress) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const ModelOptions chosen = model_options(options);
  const IsaLevel level = choose_isa(options.isa);
  if (options.threads < 0 || options.threads > kMaxThreads) {
    fail(ErrorCode::usage, "{} threads, expected 0 to {}", options.threads, kMaxThreads);
  }
  const auto path = resolve_model(options.model);

  LoadedModel loaded;
  loaded.path = path.string();
  loaded.isa = isa_name(level);
  Model model = describe_model(open_model(path));
  run_passes(model.graph, select_passes(chosen.passes), {.activations = chosen.activations});
  loaded.kernels = std::make_unique<KernelRegistry>();
  register_cpu_kernels(*loaded.kernels, level);
  loaded.pool =
      std::make_unique<WorkerPool>(options.threads > 0 ? options.threads : default_worker_count());
  RunnerLimits limits{.context_tokens = options.context, .step_tokens = options.step_tokens};
  limits.sequences = options.kv_sequences;
  limits.logit_rows = options.logit_rows;
  loaded.runner = std::make_unique<GraphRunner>(
      std::move(model), chosen, limits, *loaded.kernels, *loaded.pool, [&](const Model& described) {
        CompiledSearch search = find_compiled(options.compiled, path, described);
        loaded.compiled_problem = std::move(search.problem);
        if (!search.found) return pack_all(described, *loaded.pool, on_progress);
        loaded.compiled = search.found->path.string();
        return map_weights(described, std::move(*search.found));
      });
  loaded.load_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  return loaded;
}

}  // namespace arion

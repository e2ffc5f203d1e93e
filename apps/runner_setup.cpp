// Options into choices of the library, then file, plan, kernels, threads and weights in order.
#include "runner_setup.h"

#include <chrono>
#include <cstdlib>

#include "base/error.h"
#include "base/worker_count.h"
#include "model/hf_folder.h"
#include "model_path.h"

namespace arion::app {
namespace {

// More than a socket has cores; every worker has its own scratch memory.
constexpr int kMaxThreads = 256;

}  // namespace

void add_runner_options(CLI::App& command, RunnerOptions& options) {
  add_model_argument(command, options.model, kModelHelp);
  command.add_option("-t,--threads", options.threads, "Threads; 0: one per physical core")
      ->check(CLI::Range(0, kMaxThreads));
  command.add_option(
      "--act", options.activations,
      "Activations of linear layers: int8, bf16 or fp32 (default: by weight format)");
  command.add_option("--kv", options.kv,
                     "Type of the KV cache: f32, f16 or bf16 (default: f16, f32 with --act fp32)");
}

void add_context_option(CLI::App& command, RunnerOptions& options) {
  command
      .add_option("-c,--ctx", options.context,
                  "Context in tokens; 0: what the model allows, at most 32768")
      ->check(CLI::Range(0, 1 << 26));
}

IsaLevel chosen_isa(const GlobalOptions& global) {
  if (!global.isa.empty()) return select_isa(global.isa);
  const char* variable = std::getenv("ARION_ISA");
  return select_isa(variable != nullptr ? variable : "");
}

ModelOptions model_options(const RunnerOptions& options) {
  ModelOptions out;
  out.passes = options.passes;
  if (options.activations == "int8") {
    out.activations = ActivationForm::int8;
  } else if (options.activations == "bf16") {
    out.activations = ActivationForm::bf16;
  } else if (options.activations == "fp32" || options.activations == "f32") {
    out.activations = ActivationForm::f32;
  } else if (!options.activations.empty()) {
    fail(ErrorCode::usage, "--act {}: expected int8, bf16 or fp32", options.activations);
  }
  if (options.kv == "f32") {
    out.kv = DType::f32;
  } else if (options.kv == "f16") {
    out.kv = DType::f16;
  } else if (options.kv == "bf16") {
    out.kv = DType::bf16;
  } else if (!options.kv.empty()) {
    fail(ErrorCode::usage, "--kv {}: expected f32, f16 or bf16", options.kv);
  }
  return out;
}

LoadedModel load_model(const RunnerOptions& options, const GlobalOptions& global) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const ModelOptions chosen = model_options(options);
  const IsaLevel level = chosen_isa(global);
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
  uint64_t total = 0, done = 0;
  for (const Weight& weight : model.graph.weights) total += weight.data.size();
  Progress progress("loading", total);
  RunnerLimits limits{.context_tokens = options.context, .step_tokens = options.step_tokens};
  limits.sequences = options.kv_sequences;
  limits.logit_rows = options.logit_rows;
  loaded.runner = std::make_unique<GraphRunner>(std::move(model), chosen, limits, *loaded.kernels,
                                                *loaded.pool, [&](const Weight& weight) {
                                                  done += weight.data.size();
                                                  progress.update(done);
                                                });
  loaded.load_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  return loaded;
}

}  // namespace arion::app

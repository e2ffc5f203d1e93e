// From the name of a model to one ready to run: file, graph, kernels, threads, packed weights.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/worker_pool.h"
#include "cpu/cpu_kernels.h"
#include "runtime/graph_runner.h"

namespace arion {

// More than a socket has cores; every worker has its own scratch memory.
inline constexpr int kMaxThreads = 256;

struct LoadOptions {
  std::string model;        // see resolve_model
  std::string isa;          // see choose_isa
  std::string activations;  // of linear layers: int8, bf16 or fp32; empty: by weight format
  std::string kv;           // type of the KV cache: f32, f16 or bf16; empty: see ModelOptions
  std::string passes = "all";
  std::string compiled;  // see find_compiled
  int threads = 0;       // at most kMaxThreads; 0: one per physical core
  int context = 0;       // tokens; 0: see RunnerLimits
  int step_tokens = 512;
  int kv_sequences = 1;  // contexts the KV cache has room for
  int logit_rows = 0;    // see RunnerLimits
};

// Everything a loaded model consists of. Movable; the runner refers to the other members.
struct LoadedModel {
  std::unique_ptr<KernelRegistry> kernels;
  std::unique_ptr<WorkerPool> pool;
  std::unique_ptr<GraphRunner> runner;
  std::string path;
  std::string isa;
  std::string compiled;          // path of the compiled model whose weights are mapped, or empty
  std::string compiled_problem;  // why one that is there is not used, or empty
  double load_ms = 0;

  const GgufMetadata& metadata() const { return runner->model().file.metadata(); }
};

// Called as weights are packed: bytes of the file done, and of all.
using LoadProgress = std::function<void(uint64_t done, uint64_t total)>;

// Weights are mapped where there is a compiled model, else packed. Throws Error: usage for options
// that do not exist, else as open_model, describe_model and find_compiled do.
LoadedModel load_model(const LoadOptions& options, const LoadProgress& on_progress = {});

// The instruction set of that name; of an empty one, what ARION_ISA names, else the best.
IsaLevel choose_isa(const std::string& name);

// Throws Error{usage} listing the choices.
ModelOptions model_options(const LoadOptions& options);

}  // namespace arion

// From command-line options to a model ready to run.
#pragma once
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "command.h"
#include "cpu/cpu_kernels.h"
#include "runtime/graph_runner.h"

namespace arion::app {

// Options of every command that runs a model.
struct RunnerOptions {
  std::string model;
  std::string activations;  // empty: by weight format
  std::string kv;           // empty: see ModelOptions
  std::string passes = "all";
  int threads = 0;
  int context = 0;
  int step_tokens = 512;
  int kv_sequences = 1;  // contexts the KV cache has room for
  int logit_rows = 0;    // see RunnerLimits
};

// Adds MODEL, -t, --act and --kv.
void add_runner_options(CLI::App& command, RunnerOptions& options);
// Adds -c.
void add_context_option(CLI::App& command, RunnerOptions& options);

// Everything a loaded model consists of. Movable; the runner refers to the other members.
struct LoadedModel {
  std::unique_ptr<KernelRegistry> kernels;
  std::unique_ptr<WorkerPool> pool;
  std::unique_ptr<GraphRunner> runner;
  std::string path;
  std::string isa;
  double load_ms = 0;
};

// Throws Error. Shows progress on terminals.
LoadedModel load_model(const RunnerOptions& options, const GlobalOptions& global);

// The instruction set asked for by --isa, else by ARION_ISA, else the best.
IsaLevel chosen_isa(const GlobalOptions& global);

// What --act and --kv say; throws Error{usage} listing the choices.
ModelOptions model_options(const RunnerOptions& options);

}  // namespace arion::app

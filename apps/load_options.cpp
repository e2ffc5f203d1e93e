#include "load_options.h"

#include <memory>
#include <string>

#include "number_option.h"

namespace arion::app {
namespace {

LoadProgress show_progress() {
  return [bar = std::shared_ptr<Progress>()](uint64_t done, uint64_t total) mutable {
    if (!bar) bar = std::make_shared<Progress>("loading", total);
    bar->update(done);
  };
}

void log_loading(const LoadedModel& loaded) {
  log(LogLevel::debug, "loaded in {:.0f} ms, weights {}", loaded.load_ms,
      loaded.compiled.empty() ? "packed" : "mapped from " + loaded.compiled);
  if (!loaded.compiled_problem.empty()) {
    log(LogLevel::info, "the compiled model is not used: {}", loaded.compiled_problem);
  }
}

}  // namespace

void add_load_options(CLI::App& command, LoadOptions& options) {
  add_model_argument(command, options.model, kModelHelp);
  add_runner_options(command, options);
}

void add_runner_options(CLI::App& command, LoadOptions& options) {
  command
      .add_option("-t,--threads", options.threads,
                  "Threads; 0: one per physical core that this process may use, efficiency cores "
                  "left out")
      ->check(number_from(0, kMaxThreads));
  command.add_option(
      "--act", options.activations,
      "Activations of linear layers: int8, bf16 or fp32 (default: by weight format)");
  command.add_option("--kv", options.kv,
                     "Type of the KV cache: f32, f16 or bf16 (default: f16, f32 with --act fp32)");
  command
      .add_option("--compiled", options.compiled,
                  "Compiled model: auto, off or a file of arion compile (default: ARION_COMPILED, "
                  "else auto)")
      ->check(not_empty());
}

void add_context_option(CLI::App& command, LoadOptions& options) {
  command
      .add_option("-c,--ctx", options.context,
                  "Context in tokens; 0: what the model allows, at most 32768")
      ->check(number_from(0, 1 << 26));
}

void add_passes_option(CLI::App& command, LoadOptions& options) {
  command
      .add_option("--passes", options.passes,
                  "Optional graph passes: all, none, or -NAME,-NAME to leave out")
      ->capture_default_str();
}

void add_answering_options(CLI::App& command, AnsweringOptions& options) {
  command.add_option("--served-model-name", options.names,
                     "Names that requests may use (default: that of the file)");
  command
      .add_option("--max-num-seqs", options.engine.max_sequences,
                  "Answers at the same time; the KV cache has room for as many contexts")
      ->check(number_from(1, kMaxSequences))
      ->capture_default_str();
}

LoadedModel load_model(LoadOptions options, const GlobalOptions& global) {
  options.isa = global.isa;
  LoadedModel loaded = arion::load_model(options, show_progress());
  log_loading(loaded);
  return loaded;
}

std::unique_ptr<AnsweringEngine> load_answering_engine(AnsweringOptions options,
                                                       const GlobalOptions& global) {
  options.load.isa = global.isa;
  auto loaded = std::make_unique<AnsweringEngine>(options, show_progress());
  log_loading(loaded->loaded());
  for (const std::string& warning : loaded->warnings()) log(LogLevel::warning, "{}", warning);
  return loaded;
}

}  // namespace arion::app

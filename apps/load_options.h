// Command-line options of a model to be loaded.
#pragma once
#include <CLI/CLI.hpp>
#include <memory>

#include "assembly/answering_engine.h"
#include "command.h"

namespace arion::app {

// Adds MODEL, -t, --act, --kv and --compiled.
void add_load_options(CLI::App& command, LoadOptions& options);
// Adds -t, --act, --kv and --compiled.
void add_runner_options(CLI::App& command, LoadOptions& options);
// Adds -c.
void add_context_option(CLI::App& command, LoadOptions& options);
// Adds --passes.
void add_passes_option(CLI::App& command, LoadOptions& options);
// Adds --served-model-name and --max-num-seqs.
void add_answering_options(CLI::App& command, AnsweringOptions& options);

// With the instruction set of --isa. Shows progress on terminals. Throws Error.
LoadedModel load_model(LoadOptions options, const GlobalOptions& global);
// The same; its warnings are logged.
std::unique_ptr<AnsweringEngine> load_answering_engine(AnsweringOptions options,
                                                       const GlobalOptions& global);

}  // namespace arion::app

// What the subcommands share. A command is one file, apps/commands/NAME.cpp, with one entry
//   void command_NAME(CLI::App& program, const GlobalOptions& global);
// which adds the subcommand NAME, its options, examples (footer) and action (callback). The list of
// commands is made from the file names.
#pragma once
#include <CLI/CLI.hpp>
#include <csignal>
#include <string>

#include "terminal.h"
#include "text_option.h"

namespace arion::app {

// Options in front of or behind any subcommand. Filled before a callback runs.
struct GlobalOptions {
  std::string isa;  // empty: ARION_ISA, or the best level of this machine
  std::string log_level = "info";
};

// Help of MODEL arguments.
inline constexpr const char* kModelHelp =
    "GGUF file, Hugging Face folder, or name of a fetched model; without it the quickstart model";
// The same where only the tokenizer is needed.
inline constexpr const char* kTokenizerHelp =
    "GGUF file, folder with a tokenizer (tokenizer.json, tokenizer.model, ...), or the name of a "
    "fetched model; without it the quickstart model";

// Adds the argument MODEL of a command: absent means the quickstart model, empty is a mistake.
inline void add_model_argument(CLI::App& command, std::string& model, const char* help) {
  command.add_option("MODEL", model, help)->check(not_empty());
}

// Thrown by a command that a signal ended: exit code 128 + its number, 130 for Ctrl-C.
struct Interrupted {
  int signal = SIGINT;
};

}  // namespace arion::app

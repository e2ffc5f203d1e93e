// The `arion` program: global options, the list of commands, and how failures become exit codes.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "command.h"
#include "terminal.h"

namespace arion::app {

#define ARION_ENTRY(name) void command_##name(CLI::App& program, const GlobalOptions& global);
#include "commands.inc"
#undef ARION_ENTRY

namespace {

constexpr int kFailed = static_cast<int>(ErrorCode::failed);
constexpr int kSignalled = 128;  // plus the number of the signal

constexpr const char* kFooter =
    "Examples:\n"
    "  arion run -p \"Why is the sky blue?\"\n"
    "  arion inspect model.gguf\n"
    "  arion COMMAND --help\n"
    "\n"
    "Exit codes: 0 success, 1 failure, 2 usage, 3 bad input, 130 interrupted (128 + the "
    "number of another signal).";

void add_global_options(CLI::App& program, GlobalOptions& global) {
  program.set_version_flag("--version", "arion " ARION_VERSION);
  program.add_option("--isa", global.isa,
                     "Instruction set: generic, avx2, avxvnni, avx512 or avx512bf16 "
                     "(default: ARION_ISA, or the best this machine has)");
  program.add_option("--log-level", global.log_level, "error, warning, info or debug")
      ->capture_default_str()
      ->each([](const std::string& name) { set_log_level(parse_log_level(name)); });
}

// Ctrl-C ends the program at once, but for the parts of it that would rather finish something. A
// program started with the signal ignored (nohup) leaves it so. A file that grows beyond the limit
// of the system (ulimit -f) is an error of its writing instead of the end.
void set_signals() {
  std::signal(SIGXFSZ, SIG_IGN);
  struct sigaction before = {};
  if (sigaction(SIGINT, nullptr, &before) != 0 || before.sa_handler == SIG_IGN) return;
  struct sigaction action = {};
  action.sa_handler = [](int) { _exit(kSignalled + SIGINT); };
  sigaction(SIGINT, &action, nullptr);
}

// The innermost command that was named, "eval kl" say; or the program itself.
const CLI::App& innermost_command(const CLI::App& program) {
  const std::vector<CLI::App*> chosen = program.get_subcommands();
  return chosen.empty() ? program : innermost_command(*chosen[0]);
}

// "arion eval kl"
std::string full_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return (parent != nullptr ? full_name(*parent) + " " : "") + command.get_name();
}

int run_program(int argc, char** argv) {
  CLI::App program("Runs large language models on this machine.", "arion");
  GlobalOptions global;
  add_global_options(program, global);
  program.footer(kFooter);
  program.require_subcommand(1);
  program.fallthrough();  // global options may follow the command
#define ARION_ENTRY(name) command_##name(program, global);
#include "commands.inc"
#undef ARION_ENTRY
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    program.exit(asked);
  } catch (const CLI::ParseError& error) {
    const CLI::App& command = innermost_command(program);
    const std::vector<std::string> rest = program.remaining(true);
    if (command.get_require_subcommand_min() > 0 && !rest.empty()) {
      fail(ErrorCode::usage, "unknown command '{}'; see {} --help", rest[0], full_name(command));
    }
    fail(ErrorCode::usage, "{}; see {} --help", error.what(), full_name(command));
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    fail(ErrorCode::failed, "could not write all of the output");
  }
  return 0;
}

int run_guarded(int argc, char** argv) {
  set_signals();
  try {
    return run_program(argc, argv);
  } catch (const Interrupted& interrupted) {
    return kSignalled + interrupted.signal;
  } catch (const Error& error) {
    log_message(LogLevel::error, error.what());
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    log_message(LogLevel::error, "out of memory");
    return kFailed;
  } catch (const std::system_error& error) {
    log_message(LogLevel::error, error.what());
    return kFailed;
  } catch (const std::exception& error) {
    log_message(LogLevel::error, fmt::format("internal error, please report it: {}", error.what()));
    return kFailed;
  }
}

}  // namespace
}  // namespace arion::app

int main(int argc, char** argv) {
  return arion::app::run_guarded(argc, argv);
}

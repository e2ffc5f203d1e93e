// arion compile: writes the packed weights of models into files that later starts map.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "assembly/compiled_model.h"
#include "assembly/model_compiler.h"
#include "assembly/model_path.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "base/worker_count.h"
#include "command.h"
#include "load_options.h"
#include "mebibytes.h"
#include "model/hf_folder.h"
#include "number_option.h"
#include "overwriting.h"
#include "stop_request.h"
#include "terminal.h"
#include "text_option.h"

namespace arion::app {
namespace {

namespace fs = std::filesystem;

struct CompileOptions {
  std::string model, out;
  int threads = 0;
  bool verify = false, force = false, list = false, remove = false;
};

CompileProgress show_progress(const char* label, const StopRequest& stop) {
  return [label, &stop, bar = std::shared_ptr<Progress>()](uint64_t done, uint64_t total) mutable {
    stop.check();
    if (!bar) bar = std::make_shared<Progress>(label, total);
    bar->update(done);
  };
}

// Whether the files that `file` was made of are still as they were, but for their content.
const char* state_of(const PanelFile& file) {
  for (const SourceFile& source : file.source.files) {
    try {
      const FileStatus now = MappedFile(source.name).status();
      const bool is_same = now.size == source.size && now.inode == source.inode &&
                           now.modified_ns == source.modified_ns;
      if (!is_same) return "the model was modified";
    } catch (const Error&) {
      return "the model is gone";
    }
  }
  return "";
}

// One line a compiled model.
void list_compiled() {
  const fs::path folder = compiled_dir();
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == kCompiledExtension) paths.push_back(it->path());
  }
  std::ranges::sort(paths);
  for (const fs::path& path : paths) {
    try {
      const MappedFile file(path);
      const PanelFile panels = parse_panel_file(file.bytes(), path.string());
      const std::string state = state_of(panels);
      fmt::print(
          "{}  {:.1f} MiB  of {}{}\n", printable(path.string(), 4096),
          mebibytes(file.bytes().size()),
          panels.source.files.empty() ? "nothing" : printable(panels.source.files[0].name, 4096),
          state.empty() ? "" : fmt::format("  (unused: {})", state));
    } catch (const Error& problem) {
      fmt::print("(unused) {}\n", printable(problem.what(), 4096));
    }
  }
}

void remove_compiled(const fs::path& path) {
  std::error_code error;
  const bool was_there = fs::remove(path, error);
  if (error) fail(ErrorCode::failed, "cannot remove '{}': {}", path.string(), error.message());
  fmt::print("{}: {}\n", printable(path.string(), 4096),
             was_there ? "removed" : "there was no such file");
}

void verify(const Model& model, const fs::path& path, WorkerPool& pool) {
  const StopRequest stop;
  const CompiledModel compiled = open_compiled(path, model);
  verify_compiled(compiled, model, pool, show_progress("Verifying", stop));
  fmt::print("{}: verified, {} tensors in {:.1f} MiB and the model they are of\n",
             printable(path.string(), 4096), compiled.header.tensors.size(),
             mebibytes(compiled.file.bytes().size()));
}

bool is_current(const fs::path& path, const Model& model) {
  try {
    open_compiled(path, model);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void write_compiled(const CompileOptions& options, const fs::path& path, const Model& model,
                    WorkerPool& pool) {
  if (!options.force && is_current(path, model)) {
    fmt::print("{}: compiled already\n", printable(path.string(), 4096));
    return;
  }
  const StopRequest stop;
  compile_model(model, path, pool, show_progress("Compiling", stop));
  fmt::print("{}: {:.1f} MiB\n", printable(path.string(), 4096), mebibytes(fs::file_size(path)));
}

void compile(const CompileOptions& options) {
  if (options.list) return list_compiled();
  const fs::path model_path = resolve_model(options.model);
  const fs::path path = options.out.empty() ? compiled_path(model_path) : fs::path(options.out);
  if (options.remove) return remove_compiled(path);
  if (options.out.empty()) make_compiled_dir();
  const Model model = describe_model(open_model(model_path));
  WorkerPool pool(options.threads > 0 ? options.threads : default_worker_count());
  if (options.verify) return verify(model, path, pool);
  check_output(files_of_model(model_path, model.file), path);
  write_compiled(options, path, model, pool);
}

}  // namespace

void command_compile(CLI::App& program, const GlobalOptions&) {
  auto options = std::make_shared<CompileOptions>();
  CLI::App* command = program.add_subcommand(
      "compile", "Packs the weights of a model into a file, from which it starts at once");
  add_model_argument(*command, options->model, kModelHelp);
  command
      ->add_option("-o,--output", options->out,
                   "File to write, for --compiled FILE (default: one that is found by itself)")
      ->check(not_empty());
  command->add_option("-t,--threads", options->threads, "Threads; 0: one per physical core")
      ->check(number_from(0, kMaxThreads));
  CLI::Option* verify = command->add_flag(
      "--verify", options->verify, "Read all of a compiled model and of its source, and compare");
  CLI::Option* force =
      command->add_flag("--force", options->force, "Compile again what is compiled already");
  CLI::Option* remove =
      command->add_flag("--remove", options->remove, "Remove the compiled model of MODEL");
  CLI::Option* list = command->add_flag("--list", options->list, "List compiled models");
  for (CLI::Option* one : {verify, force, remove, list}) {
    for (CLI::Option* other : {verify, force, remove, list}) {
      if (one != other) one->excludes(other);
    }
  }
  command->footer(
      "Compiled models lie in $ARION_COMPILED_DIR, else in ~/.cache/arion/compiled.\n"
      "\n"
      "Examples:\n"
      "  arion compile model.gguf\n"
      "  arion compile model.gguf --verify\n"
      "  arion compile model.gguf -o model.panels; arion run model.gguf --compiled model.panels");
  command->callback([options] { compile(*options); });
}

}  // namespace arion::app

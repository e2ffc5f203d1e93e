// arion imatrix: collects how large the inputs of weight matrices are, for `arion quantize`.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assembly/model_path.h"
#include "assembly/model_text.h"
#include "base/error.h"
#include "base/fnv1a.h"
#include "command.h"
#include "compress/importance.h"
#include "load_options.h"
#include "model/hf_folder.h"
#include "number_option.h"
#include "overwriting.h"
#include "runtime/input_squares.h"
#include "runtime/sequence_stepper.h"
#include "stop_request.h"
#include "text_option.h"
#include "text_windows.h"

namespace arion::app {
namespace {

struct ImatrixOptions {
  LoadOptions load;
  WindowOptions windows;
  std::string out;
  std::vector<std::string> merged;
  uint32_t save_every = 10;
  bool resumes = false;
  bool with_output = false;
};

// Runs chunks of text and keeps sums in f32, as files do.
class Collector {
 public:
  Collector(GraphRunner& runner, const ImatrixOptions& options)
      : runner_(runner), options_(options), squares_(runner.model().graph) {
    runner_.set_observer([this](const PlanStep& step, int index, const StepInput& input) {
      squares_.observe(step, index, input);
    });
  }

  void run(const std::vector<TokenId>& chunk, const StopRequest& stop) {
    SequenceStepper stepper(runner_, chunk,
                            options_.with_output ? LogitsRows::all : LogitsRows::last);
    while (stepper.pending() > 0) {
      stop.check();
      const int count = std::min(runner_.max_step_tokens(), stepper.pending());
      BatchPlan plan;
      plan.runs.push_back(stepper.next(count));
      runner_.run(plan);
      stepper.commit(count);
    }
  }

  // Of all chunks so far.
  ImportanceMatrix sums() const {
    ImportanceMatrix out;
    for (const LinearInput& input : squares_.inputs()) {
      const std::vector<float> squares(input.squares.begin(), input.squares.end());
      for (const std::string& weight : input.weights) {
        if (!options_.with_output && !weight.starts_with("blk.")) continue;
        out.tensors[weight] = {squares, {static_cast<float>(input.rows)}};
      }
    }
    return out;
  }

 private:
  GraphRunner& runner_;
  const ImatrixOptions& options_;
  InputSquares squares_;
};

// What an interrupted run of the same command left.
ImportanceMatrix load_earlier(const ImatrixOptions& options) {
  if (!options.resumes || !std::filesystem::exists(options.out)) return {};
  ImportanceMatrix earlier = ImportanceMatrix::load(options.out);
  if (earlier.datasets != std::vector<std::string>{options.windows.file} ||
      earlier.chunk_tokens != static_cast<uint32_t>(options.windows.size)) {
    fail(ErrorCode::usage, "{} was not collected from {} in chunks of {} tokens alone; merge it",
         options.out, options.windows.file, options.windows.size);
  }
  return earlier;
}

using Chunk = std::vector<TokenId>;

void add_chunk(Fnv1a& mark, const Chunk& chunk) {
  mark.add(std::as_bytes(std::span(chunk)));
}

// The mark of the tokens that `earlier` holds. Throws Error{usage} when it says that it holds sums
// of another model or text than these.
Fnv1a check_same(const ImportanceMatrix& earlier, uint64_t model, const std::vector<Chunk>& chunks,
                 const ImatrixOptions& options) {
  if (earlier.model_mark != 0 && earlier.model_mark != model) {
    fail(ErrorCode::usage, "{} was collected from another model; write another file and merge them",
         options.out);
  }
  if (earlier.token_mark != 0 && earlier.chunks > chunks.size()) {
    fail(ErrorCode::usage, "{} holds {} chunks, more than the {} of {}", options.out,
         earlier.chunks, chunks.size(), options.windows.file);
  }
  Fnv1a tokens;
  for (size_t i = 0; i < std::min<size_t>(earlier.chunks, chunks.size()); ++i) {
    add_chunk(tokens, chunks[i]);
  }
  if (earlier.token_mark != 0 && earlier.token_mark != tokens.value()) {
    fail(ErrorCode::usage, "{} has changed since {} was collected from it; start anew",
         options.windows.file, options.out);
  }
  return tokens;
}

ImportanceMatrix collect(ImatrixOptions options, const GlobalOptions& global) {
  options.load.context = options.windows.size;
  options.load.passes = InputSquares::kPasses;
  if (!options.with_output) options.load.logit_rows = 1;
  const ImportanceMatrix earlier = load_earlier(options);
  LoadedModel loaded = load_model(options.load, global);
  const Tokenizer tokenizer = load_model_text(options.load.model).tokenizer;
  const auto chunks = read_windows(tokenizer, options.windows);
  const uint64_t model = model_mark(open_model(resolve_model(options.load.model)));
  Fnv1a tokens = check_same(earlier, model, chunks, options);
  Collector collector(*loaded.runner, options);
  const auto result = [&](size_t done) {
    ImportanceMatrix sums = collector.sums();
    sums.datasets = {options.windows.file};
    sums.chunks = static_cast<uint32_t>(done) - earlier.chunks;
    sums.chunk_tokens = static_cast<uint32_t>(options.windows.size);
    sums.add(earlier);
    sums.model_mark = model;
    sums.token_mark = tokens.value();
    return sums;
  };
  if (earlier.chunks >= chunks.size()) return earlier;
  const StopRequest stop;
  Progress progress("collecting", chunks.size());
  for (size_t i = earlier.chunks; i < chunks.size(); ++i) {
    collector.run(chunks[i], stop);
    add_chunk(tokens, chunks[i]);
    progress.update(i + 1);
    if ((i + 1) % options.save_every == 0) result(i + 1).save(options.out);
  }
  return result(chunks.size());
}

std::vector<std::filesystem::path> input_files(const ImatrixOptions& options) {
  std::vector<std::filesystem::path> inputs(options.merged.begin(), options.merged.end());
  if (!options.windows.file.empty()) {
    inputs.emplace_back(options.windows.file);
    const auto path = resolve_model(options.load.model);
    std::ranges::copy(files_of_model(path, open_model(path)), std::back_inserter(inputs));
  }
  return inputs;
}

void imatrix(const ImatrixOptions& options, const GlobalOptions& global) {
  if (options.windows.file.empty() && options.merged.empty()) {
    fail(ErrorCode::usage, "nothing to do: give a text with --file, or files with --merge");
  }
  if (options.resumes && options.windows.file.empty()) {
    fail(ErrorCode::usage, "--resume goes on with the text of --file, and none is given");
  }
  check_output(input_files(options), options.out);
  ImportanceMatrix importance;
  if (!options.windows.file.empty()) importance = collect(options, global);
  for (const std::string& path : options.merged) importance.add(ImportanceMatrix::load(path));
  const StopRequest ignored;  // signals come too late to keep the file from being written
  importance.save(options.out);
  fmt::print("{}: {} tensors, {} chunks of {} tokens\n", options.out, importance.tensors.size(),
             importance.chunks, importance.chunk_tokens);
}

}  // namespace

void command_imatrix(CLI::App& program, const GlobalOptions& global) {
  auto options = std::make_shared<ImatrixOptions>();
  CLI::App* command = program.add_subcommand(
      "imatrix", "Collects the importance matrix of a model over a text, for quantize --imatrix");
  add_load_options(*command, options->load);
  add_window_options(*command, options->windows);
  command->get_option("--file")->required(false)->description("Text to run the model on");
  command->get_option("--ctx")->description("Tokens of a chunk, each run on its own");
  command->add_option("-o,--out", options->out, "GGUF file to write")->required();
  command
      ->add_option("--merge", options->merged,
                   "Importance matrix of the same model to add; may be repeated")
      ->check(not_empty());
  command->add_option("--save-every", options->save_every, "Chunks after which the file is saved")
      ->check(number_from(1, 1 << 30))
      ->capture_default_str();
  command->add_flag("--resume", options->resumes,
                    "Go on where the file to write ends; needs --file");
  command->add_flag("--with-output", options->with_output, "Also the matrix that makes logits");
  command->footer(
      "Examples:\n"
      "  arion imatrix model-bf16.gguf --file text.txt -o model.imatrix\n"
      "  arion imatrix --merge a.imatrix --merge b.imatrix -o both.imatrix");
  command->callback([options, &global] { imatrix(*options, global); });
}

}  // namespace arion::app

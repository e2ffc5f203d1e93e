// arion quantize: makes a model smaller by rounding its weights.
#include "compress/quantize.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "assembly/model_path.h"
#include "base/error.h"
#include "base/worker_count.h"
#include "command.h"
#include "file_limit.h"
#include "io/ggml_types.h"
#include "mebibytes.h"
#include "model/hf_folder.h"
#include "model/model.h"
#include "model/spec.h"
#include "number_option.h"
#include "overwriting.h"
#include "stop_request.h"
#include "terminal.h"
#include "text_option.h"

namespace arion::app {
namespace {

struct QuantizeOptions {
  std::string in, out;
  std::string type;
  std::string importance;
  std::vector<std::string> keep;
  int threads = 0;
  uint64_t split_bytes = 0;
  bool dry_run = false;
  bool is_pure = false;
  bool forbids_fallback = false;
};

void print_plan(const QuantizePlan& plan) {
  for (const TensorPlan& tensor : plan.tensors) {
    fmt::print(
        "{:<44} {:<20} {:>8} -> {:<8} {:>12} bytes{}{}\n", printable(tensor.source->name),
        describe_dims(tensor.source->dims()), ggml_type_name(tensor.source->type),
        ggml_type_name(tensor.type), tensor.bytes(),
        tensor.importance != nullptr ? "  by importance" : "",
        tensor.is_fallback() ? fmt::format("  instead of {}", ggml_type_name(tensor.wanted)) : "");
  }
}

void print_summary(const QuantizePlan& plan) {
  struct OfType {
    uint64_t tensors = 0, bytes = 0;
  };
  std::map<std::string, OfType> types;
  uint64_t before = 0, fallbacks = 0;
  for (const TensorPlan& tensor : plan.tensors) {
    OfType& type = types[ggml_type_name(tensor.type)];
    ++type.tensors;
    type.bytes += tensor.bytes();
    before += tensor.source->data.size();
    fallbacks += tensor.is_fallback() ? 1 : 0;
  }
  for (const auto& [name, type] : types) {
    fmt::print("{:<8} {:>5} tensors {:>10.2f} MiB\n", name, type.tensors, mebibytes(type.bytes));
  }
  const double bits = 8 * static_cast<double>(plan.bytes()) / static_cast<double>(plan.values());
  fmt::print("{}: {:.2f} MiB -> {:.2f} MiB, {:.4f} bits per weight, {} fallback{}\n",
             plan.mixture.name, mebibytes(before), mebibytes(plan.bytes()), bits, fallbacks,
             fallbacks == 1 ? "" : "s");
}

void refuse_fallbacks(const QuantizePlan& plan) {
  const auto found = std::ranges::find_if(plan.tensors, &TensorPlan::is_fallback);
  if (found == plan.tensors.end()) return;
  fail(ErrorCode::failed, "{} has rows of {} columns, which do not divide into blocks of {}",
       printable(found->source->name), found->source->cols(), ggml_type_name(found->wanted));
}

// One message for all tensors that fall back alike; --dry-run lists them.
void warn_of_fallbacks(const QuantizePlan& plan) {
  std::map<std::tuple<uint64_t, uint32_t, uint32_t>, std::vector<const TensorPlan*>> alike;
  for (const TensorPlan& tensor : plan.tensors) {
    if (!tensor.is_fallback()) continue;
    alike[{tensor.source->cols(), tensor.wanted, tensor.type}].push_back(&tensor);
  }
  for (const auto& [key, tensors] : alike) {
    const auto& [cols, wanted, type] = key;
    const std::string first = printable(tensors.front()->source->name);
    log(LogLevel::warning, "{} rows of {} columns: {} instead of {}",
        tensors.size() == 1 ? first + " has"
                            : fmt::format("{} and {} more have", first, tensors.size() - 1),
        cols, ggml_type_name(type), ggml_type_name(wanted));
  }
}

void warn(const QuantizePlan& plan) {
  if (plan.file->metadata().get_string("tokenizer.ggml.model") == "none") {
    log(LogLevel::warning, "there is no tokenizer: the file written can take token ids only");
  }
  const auto coarse = std::ranges::find_if(plan.tensors, [](const TensorPlan& tensor) {
    return tensor.is_changed() && find_ggml_type(tensor.source->type)->block_values > 1 &&
           find_ggml_type(tensor.type)->block_values > 1;
  });
  if (coarse != plan.tensors.end()) {
    log(LogLevel::warning, "{} is quantised already; rounding twice loses more than once",
        printable(coarse->source->name));
  }
  warn_of_fallbacks(plan);
}

// A model that can be run is checked as it is then. Of others only the types of tensors are known.
GgufFile open_checked(const std::filesystem::path& path) {
  GgufFile file = open_model(path, FolderUse::convert);
  const std::string_view architecture = file.metadata().require_string("general.architecture");
  const bool is_known = std::ranges::count(arch_specs(), architecture, &ArchSpec::name) > 0;
  if (is_known) return describe_model(std::move(file)).file;
  log(LogLevel::warning,
      "architecture '{}' is none that this version runs: nothing but its tensors is checked",
      printable(architecture));
  return file;
}

// All files of a split model are open at the same time.
void check_file_limit(size_t files) {
  constexpr size_t kOthers = 64;
  const size_t limit = raise_file_limit();
  if (files <= limit && limit - files >= kOthers) return;
  fail(ErrorCode::usage,
       "{} files would be written at the same time, but only {} may be open (ulimit -n); give a "
       "larger --split-max-size",
       files, limit);
}

void quantize(const QuantizeOptions& options) {
  const Mixture& mixture = require_mixture(options.type);
  std::vector<TypeOverride> overrides;
  for (const std::string& text : options.keep) overrides.push_back(parse_type_override(text));
  const auto in = resolve_model(options.in);
  const GgufFile file = open_checked(in);
  std::optional<ImportanceMatrix> importance;
  if (!options.importance.empty()) importance = ImportanceMatrix::load(options.importance);
  const QuantizePlan plan = plan_quantization(file,
                                              {.mixture = mixture,
                                               .overrides = overrides,
                                               .has_importance = importance.has_value(),
                                               .is_pure = options.is_pure},
                                              importance ? &*importance : nullptr);
  if (options.forbids_fallback) refuse_fallbacks(plan);
  const QuantizeOutput output{options.out, options.split_bytes};
  std::vector<std::filesystem::path> inputs = files_of_model(in, file);
  if (importance) inputs.emplace_back(options.importance);
  const std::vector<std::filesystem::path> outputs = output_paths(plan, output);
  for (const auto& path : outputs) check_output(inputs, path);
  check_file_limit(outputs.size());
  warn(plan);
  if (options.dry_run) {
    print_plan(plan);
    return print_summary(plan);
  }
  const StopRequest stop;
  WorkerPool pool(options.threads > 0 ? options.threads : default_worker_count());
  std::vector<std::filesystem::path> paths;
  {
    Progress progress("Quantizing", plan.values());
    paths = write_quantized(plan, output, pool, [&](uint64_t done) {
      stop.check();
      progress.update(done);
    });
  }
  print_summary(plan);
  for (const auto& path : paths) fmt::print("{}\n", path.string());
}

// Names of the mixtures, a few per line.
std::string type_list() {
  std::string text = "Types:";
  size_t line = 0;  // where it begins
  for (const Mixture& mixture : mixtures()) {
    if (text.size() + mixture.name.size() - line > 78) {
      text += "\n      ";
      line = text.size() - 6;
    }
    text += fmt::format(" {}", mixture.name);
  }
  return text +
         "\nQ4_K_M suits most models; those of fewer than 3 bits want an --imatrix. MXFP4_MOE is "
         "for "
         "mixtures of experts.";
}

}  // namespace

void command_quantize(CLI::App& program, const GlobalOptions&) {
  auto options = std::make_shared<QuantizeOptions>();
  CLI::App* command =
      program.add_subcommand("quantize", "Makes a model smaller by rounding its weights");
  command
      ->add_option("IN", options->in,
                   "Model to read: a GGUF file or the first of several, a Hugging Face folder, or "
                   "the name of a fetched model")
      ->required()
      ->check(not_empty());
  command->add_option("OUT", options->out, "File to write")->required();
  command
      ->add_option("--type", options->type, "Mixture of types: Q4_K_M, Q8_0, BF16, ..., see below")
      ->required();
  command
      ->add_option("--imatrix", options->importance,
                   "Importance matrix, GGUF or .dat: errors count by it")
      ->check(not_empty());
  command->add_option("--keep", options->keep,
                      "PATTERN=TYPE: tensors whose whole names match, * for anything, get TYPE, or "
                      "stay as they are for 'source'; may be repeated, the first match counts");
  command->add_option("-t,--threads", options->threads, "Threads; 0: all cores")
      ->check(number_from(0, 1024));
  command
      ->add_option("--split-max-size", options->split_bytes,
                   "Split the output into files of at most this many bytes of tensors, such as 2G")
      ->transform(size_in_bytes(uint64_t{1} << 50));
  command->add_flag("--dry-run", options->dry_run, "Only say what would be written");
  command->add_flag("--pure", options->is_pure, "The type of the mixture's name for all tensors");
  command->add_flag("--no-fallback", options->forbids_fallback,
                    "Fail where rows do not divide into the blocks of their type");
  command->footer(
      type_list() +
      "\n\n"
      "Examples:\n"
      "  arion quantize model-bf16.gguf model-q4_k_m.gguf --type Q4_K_M --imatrix model.imatrix\n"
      "  arion quantize hugging-face-folder model-bf16.gguf --type BF16\n"
      "  arion quantize model-bf16.gguf model.gguf --type Q4_K_M --keep "
      "'blk.*.attn_v.weight=Q8_0'");
  command->callback([options] { quantize(*options); });
}

}  // namespace arion::app

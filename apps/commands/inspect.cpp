// arion inspect: what is in a model file, without loading weights.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "assembly/model_path.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "base/worker_count.h"
#include "command.h"
#include "compiled_text.h"
#include "compress/importance.h"
#include "graph/pass.h"
#include "io/ggml_types.h"
#include "io/gguf.h"
#include "io/gguf_value.h"
#include "io/safetensors.h"
#include "mebibytes.h"
#include "memory_text.h"
#include "model/hf_folder.h"
#include "model/model.h"
#include "model/spec.h"
#include "quant/weight_format.h"
#include "runtime/memory_plan.h"

namespace arion::app {
namespace {

using nlohmann::ordered_json;

// Longer arrays (vocabularies) are summarised in JSON unless asked for.
constexpr uint64_t kShortArray = 64;

struct InspectOptions {
  std::string model;
  bool json = false;
  bool full = false;
};

struct Totals {
  uint64_t parameters = 0, bytes = 0;
  struct OfType {
    uint64_t tensors = 0, bytes = 0;
  };
  std::map<std::string, OfType> types;
};

Totals count(const GgufFile& file) {
  Totals totals;
  for (const GgufTensor& tensor : file.tensors()) {
    totals.parameters += tensor.values();
    totals.bytes += tensor.data.size();
    auto& type = totals.types[ggml_type_name(tensor.type)];
    ++type.tensors;
    type.bytes += tensor.data.size();
  }
  return totals;
}

ordered_json single_value(GgufType type, std::span<const std::byte> payload) {
  if (type == GgufType::string) return std::string(load_string(payload));
  if (type == GgufType::boolean) return payload[0] != std::byte{0};
  if (const auto number = load_float(type, payload.data())) return *number;
  if (const auto number = load_integer(type, payload.data())) return *number;
  return load_value<uint64_t>(payload.data());  // 2^63 and more
}

ordered_json value_to_json(const GgufEntry& entry, bool full) {
  if (!entry.is_array()) return single_value(entry.type, entry.payload);
  if (!full && entry.count > kShortArray) {
    return {{"array", gguf_type_name(entry.element)}, {"count", entry.count}};
  }
  ordered_json values = ordered_json::array();
  std::span<const std::byte> rest = entry.payload;
  for (uint64_t i = 0; i < entry.count; ++i) {
    values.push_back(single_value(entry.element, rest));
    rest =
        rest.subspan(entry.element == GgufType::string ? sizeof(uint64_t) + load_string(rest).size()
                                                       : gguf_type_bytes(entry.element));
  }
  return values;
}

bool is_of_unknown_architecture(const GgufFile& file) {
  const std::string_view name = file.metadata().require_string("general.architecture");
  return std::ranges::count(arch_specs(), name, &ArchSpec::name) == 0;
}

struct Running {
  MemoryPlan memory;
  CompiledSearch compiled;
};

// Empty for a file that holds only a vocabulary, and where nothing is known of the architecture.
std::optional<Running> running_of(const std::filesystem::path& path) {
  GgufFile file = open_model(path);
  if (file.tensors().empty() || is_of_unknown_architecture(file)) return std::nullopt;
  Model model = describe_model(std::move(file));
  run_passes(model.graph, all_passes(), {});
  return Running{
      plan_memory(model, {}, {.logit_rows = kGenerationLogitRows}, default_worker_count()),
      find_compiled("auto", path, model)};
}

ordered_json file_json(const GgufFile& file, bool full) {
  ordered_json out;
  out["files"] = ordered_json::array();
  for (const std::string& name : file.file_names()) out["files"].push_back(name);
  out["version"] = file.version();
  const Totals totals = count(file);
  out["parameters"] = totals.parameters;
  out["tensor_bytes"] = totals.bytes;
  out["metadata"] = ordered_json::object();
  for (const GgufEntry& entry : file.metadata().entries()) {
    out["metadata"][std::string(entry.key)] = value_to_json(entry, full);
  }
  out["tensors"] = ordered_json::array();
  for (const GgufTensor& tensor : file.tensors()) {
    out["tensors"].push_back({{"name", tensor.name},
                              {"type", ggml_type_name(tensor.type)},
                              {"dims", tensor.dims()},
                              {"bytes", tensor.data.size()},
                              {"supported", find_weight_format(tensor.type) != nullptr}});
  }
  return out;
}

ordered_json importance_json(const std::filesystem::path& path) {
  const ImportanceMatrix importance = ImportanceMatrix::load(path);
  return {{"weights", importance.tensors.size()},
          {"chunks", importance.chunks},
          {"chunk_tokens", importance.chunk_tokens},
          {"datasets", importance.datasets}};
}

// What can be said about a file that no model can be made of is said, before the error is.
void print_json(const GgufFile& file, const std::filesystem::path& path, bool full) {
  ordered_json out = file_json(file, full);
  const bool is_importance = is_importance_matrix(file.metadata());
  ordered_json& part = out[is_importance ? "importance" : "memory"];  // null until it is known
  std::exception_ptr problem;
  try {
    if (is_importance) {
      part = importance_json(path);
    } else if (const auto running = running_of(path)) {
      part = memory_json(running->memory);
      out["compiled"] = compiled_json(running->compiled);
    }
  } catch (const Error& error) {
    out["problem"] = error.what();
    problem = std::current_exception();
  }
  // Files may hold ill-formed UTF-8; JSON may not.
  const std::string text = out.dump(1, ' ', false, ordered_json::error_handler_t::replace);
  fmt::print("{}\n", text);
  if (problem) std::rethrow_exception(problem);
}

void print_summary(const GgufFile& file) {
  const Totals totals = count(file);
  for (const std::string& name : file.file_names()) fmt::print("{}\n", printable(name, 4096));
  fmt::print("GGUF version {}, {} metadata entries, {} tensors, {:.1f} M parameters, {:.1f} MiB\n",
             file.version(), file.metadata().entries().size(), file.tensors().size(),
             static_cast<double>(totals.parameters) / 1e6, mebibytes(totals.bytes));

  fmt::print("\nMetadata\n");
  for (const GgufEntry& entry : file.metadata().entries()) {
    fmt::print("  {:<44} {:<14} {}\n", printable(entry.key), describe_type(entry),
               describe_value(entry));
  }
  fmt::print("\nTensors\n");
  for (const GgufTensor& tensor : file.tensors()) {
    fmt::print("  {:<44} {:<8} {:<24} {:>12} bytes\n", printable(tensor.name),
               ggml_type_name(tensor.type), describe_dims(tensor.dims()), tensor.data.size());
  }
  fmt::print("\nTypes\n");
  for (const auto& [name, type] : totals.types) {
    const bool supported = find_weight_format(name) != nullptr;
    fmt::print("  {:<8} {:>5} tensors {:>14} bytes{}\n", name, type.tensors, type.bytes,
               supported ? "" : "  (not supported by this build)");
  }
}

void print_importance(const std::filesystem::path& path) {
  const ImportanceMatrix importance = ImportanceMatrix::load(path);
  const std::string size = importance.chunk_tokens > 0
                               ? fmt::format(" of {} tokens", importance.chunk_tokens)
                               : std::string();
  fmt::print("\nImportance matrix of {} weights, collected over {} chunks{}\n",
             importance.tensors.size(), importance.chunks, size);
  for (const std::string& text : importance.datasets) fmt::print("  {}\n", printable(text, 4096));
}

// One file of weights, of which alone no model can be made.
void inspect_safetensors(const std::filesystem::path& path, bool json) {
  const MappedFile file(path);
  const auto tensors = parse_safetensors(file.bytes(), path.string());
  if (json) {
    ordered_json out{{"files", {path.string()}}, {"tensors", ordered_json::array()}};
    for (const SafetensorsTensor& tensor : tensors) {
      out["tensors"].push_back({{"name", tensor.name},
                                {"type", tensor.dtype},
                                {"shape", tensor.shape},
                                {"bytes", tensor.data.size()}});
    }
    fmt::print("{}\n", out.dump(1, ' ', false, ordered_json::error_handler_t::replace));
    return;
  }
  fmt::print("{}\nsafetensors, {} tensors\n\nTensors\n", printable(path.string(), 4096),
             tensors.size());
  for (const SafetensorsTensor& tensor : tensors) {
    fmt::print("  {:<60} {:<8} {:<24} {:>12} bytes\n", printable(tensor.name), tensor.dtype,
               describe_dims(tensor.shape), tensor.data.size());
  }
}

void inspect(const InspectOptions& options) {
  const auto path = resolve_model(options.model);
  if (path.extension() == ".safetensors") return inspect_safetensors(path, options.json);
  const GgufFile file = open_model(path);
  if (options.json) return print_json(file, path, options.full);
  print_summary(file);
  if (is_importance_matrix(file.metadata())) return print_importance(path);
  if (const auto running = running_of(path)) {
    fmt::print("\n{}  {}\n", memory_text(running->memory, default_worker_count()),
               compiled_text(running->compiled));
  } else if (!file.tensors().empty()) {
    fmt::print("\nThe memory needed is not known: this version does not run architecture '{}'\n",
               printable(file.metadata().require_string("general.architecture")));
  }
}

}  // namespace

void command_inspect(CLI::App& program, const GlobalOptions&) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App* command = program.add_subcommand(
      "inspect",
      "Shows what is in a model, an importance matrix or a safetensors file, without loading it");
  add_model_argument(*command, options->model, kModelHelp);
  command->add_flag("--json", options->json, "Print JSON; long arrays only by type and length");
  command->add_flag("--full", options->full, "With --json: print long arrays too");
  command->footer(
      "Examples:\n"
      "  arion inspect model.gguf\n"
      "  arion inspect model.gguf --json | jq .metadata");
  command->callback([options] { inspect(*options); });
}

}  // namespace arion::app

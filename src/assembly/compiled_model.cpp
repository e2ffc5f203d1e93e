// Looks compiled models up and refuses those that are not of the model.
#include "assembly/compiled_model.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>
#include <system_error>
#include <utility>

#include "assembly/model_path.h"
#include "base/error.h"
#include "base/fnv1a.h"
#include "graph/packed_layout.h"

namespace arion {
namespace {

constexpr size_t kMaxStem = 160;  // file systems allow names of 255 bytes

void check_owner(const FileStatus& status, const std::string& name) {
  const uid_t user = geteuid();
  if (status.owner != user && status.owner != 0) {
    fail(ErrorCode::failed, "{}: belongs to user {}, who could change it; expected {} or root",
         name, status.owner, user);
  }
  if ((status.mode & (S_IWGRP | S_IWOTH)) != 0) {
    fail(ErrorCode::failed, "{}: others can write it; remove it, or make it private: chmod 600",
         name);
  }
}

void check_tensors(const PanelFile& header, const Model& model, const std::string& name) {
  const std::vector<PackedTensor> expected = packed_tensors(model.graph);
  const auto [a, b] = std::ranges::mismatch(expected, header.tensors);
  if (a == expected.end() && b == header.tensors.end()) return;
  fail(ErrorCode::bad_input,
       "{}: does not hold the weights of the model as this version packs them{}; compile it again",
       name, a == expected.end() ? "" : fmt::format(", {} is the first that differs", a->name));
}

// In a folder of others a link that is planted beforehand leads what is written to any file.
void check_folder(const std::filesystem::path& folder) {
  struct stat status = {};
  if (stat(folder.c_str(), &status) != 0) {
    fail(ErrorCode::failed, "cannot use the folder '{}': {}", folder.string(),
         std::strerror(errno));
  }
  if (!S_ISDIR(status.st_mode)) {
    fail(ErrorCode::usage, "'{}' is no folder, expected one for compiled models", folder.string());
  }
  const uid_t user = geteuid();
  const bool is_private = (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  if (is_private && (status.st_uid == user || status.st_uid == 0)) return;
  fail(ErrorCode::failed,
       "'{}' is a folder that others can write; make it private: chmod 700, name another one in "
       "ARION_COMPILED_DIR, or the file to write with -o",
       folder.string());
}

}  // namespace

std::filesystem::path compiled_dir() {
  const char* chosen = std::getenv("ARION_COMPILED_DIR");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  const std::filesystem::path cache = user_cache_dir();
  return cache.empty() ? cache : cache / "compiled";
}

void make_compiled_dir() {
  const std::filesystem::path folder = compiled_dir();
  if (folder.empty()) {
    fail(ErrorCode::usage,
         "there is no folder for compiled models: neither HOME nor "
         "ARION_COMPILED_DIR is set; name the file to write with -o");
  }
  std::error_code error;
  if (folder.has_parent_path()) std::filesystem::create_directories(folder.parent_path(), error);
  if (mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    fail(ErrorCode::failed, "cannot make the folder '{}': {}", folder.string(),
         std::strerror(errno));
  }
  check_folder(folder);
}

std::filesystem::path compiled_path(const std::filesystem::path& model) {
  const std::filesystem::path folder = compiled_dir();
  if (folder.empty()) return folder;
  std::error_code error;
  std::filesystem::path real = std::filesystem::canonical(model, error);
  if (error) real = model;
  Fnv1a hash;
  hash.add(std::as_bytes(std::span(real.native())));
  return folder / fmt::format("{}-{:016x}{}", real.stem().string().substr(0, kMaxStem),
                              hash.value(), kCompiledExtension);
}

std::vector<PackedTensor> packed_tensors(const Graph& graph) {
  const PackedLayout layout = packed_layout(graph);
  std::vector<PackedTensor> tensors;
  for (size_t w = 0; w < graph.weights.size(); ++w) {
    const Weight& weight = graph.weights[w];
    const PackedPlace& place = layout.places[w];
    tensors.push_back({.name = weight.name,
                       .gguf_type = weight.format->gguf_type(),
                       .spec = weight.format->panel(),
                       .is_matrix = place.is_matrix,
                       .rows = weight.rows,
                       .cols = weight.cols,
                       .offset = place.offset,
                       .bytes = place.bytes});
  }
  return tensors;
}

CompiledModel open_compiled(const std::filesystem::path& path, const Model& model) {
  const std::string name = path.string();
  MappedFile file(path);
  check_owner(file.status(), name);
  PanelFile header = parse_panel_file(file.bytes(), name);
  const auto key = read_source_key(model.file);
  const std::string change = key ? describe_change(header.source, *key) : "the model is in no file";
  if (!change.empty()) {
    fail(ErrorCode::bad_input, "{}: was compiled from other files: {}; compile the model again",
         name, change);
  }
  check_tensors(header, model, name);
  if (header.data_bytes != packed_layout(model.graph).bytes) {
    fail(ErrorCode::bad_input, "{}: holds {} bytes of weights, expected {}", name,
         header.data_bytes, packed_layout(model.graph).bytes);
  }
  return {.path = path, .header = std::move(header), .file = std::move(file)};
}

CompiledSearch find_compiled(const std::string& choice, const std::filesystem::path& path,
                             const Model& model) {
  const char* variable = std::getenv("ARION_COMPILED");
  std::string chosen = choice.empty() && variable != nullptr ? variable : choice;
  CompiledSearch search;
  if (chosen == "off") return search;
  if (!chosen.empty() && chosen != "auto") {
    search.found = open_compiled(chosen, model);
    return search;
  }
  const std::filesystem::path usual = compiled_path(path);
  std::error_code error;
  if (usual.empty() || !std::filesystem::exists(usual, error)) return search;
  try {
    search.found = open_compiled(usual, model);
  } catch (const Error& problem) {
    search.problem = problem.what();
  }
  return search;
}

}  // namespace arion

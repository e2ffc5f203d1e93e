// Compiled models: the packed weights of a model in a file, which is mapped instead of packing.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "io/panel_file.h"
#include "model/model.h"

namespace arion {

inline constexpr const char* kCompiledExtension = ".panels";

// One that belongs to a model, open and checked. Every process that maps it shares its pages.
struct CompiledModel {
  std::filesystem::path path;
  PanelFile header;
  MappedFile file;
};

// $ARION_COMPILED_DIR, else user_cache_dir()/compiled; empty when there is neither.
std::filesystem::path compiled_dir();

// Makes compiled_dir(), for its owner only, where it is not there. Throws Error, also when others
// can write it.
void make_compiled_dir();

// The file in compiled_dir() of the model at `model`, whatever name leads there; empty like it.
std::filesystem::path compiled_path(const std::filesystem::path& model);

// The weights of a graph as a compiled model lists them.
std::vector<PackedTensor> packed_tensors(const Graph& graph);

// Opens a compiled model for `model`, at `path`. Throws Error: bad_input when it is malformed, was
// made by another version or of other files than the model's; failed when others than its owner can
// write it, or it is another user's (root's are fine), since nobody would notice changed weights.
CompiledModel open_compiled(const std::filesystem::path& path, const Model& model);

struct CompiledSearch {
  std::optional<CompiledModel> found;
  std::string problem;  // of one that is there and not used
};

// `choice` is "auto" (compiled_path, if there is one that is fine), "off", or the path of a
// compiled model, of which Errors are thrown; empty: what ARION_COMPILED says, else "auto". `path`
// is where `model` was opened.
CompiledSearch find_compiled(const std::string& choice, const std::filesystem::path& path,
                             const Model& model);

}  // namespace arion

// Writes compiled models, and checks that the bytes of one are those that were written.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>

#include "assembly/compiled_model.h"
#include "base/worker_pool.h"

namespace arion {

// Called as bytes are read: done, and of all. May throw to end the work.
using CompileProgress = std::function<void(uint64_t done, uint64_t total)>;

// Packs the weights of `model` into a private file that appears at `path` whole or not at all.
// Needs memory for some panels only, and drops the pages of sources behind. Throws Error: usage for
// a model that is in no file, failed when the file cannot be written.
void compile_model(const Model& model, const std::filesystem::path& path, WorkerPool& pool,
                   const CompileProgress& on_progress);

// Reads all bytes of the model's files and of the compiled model. Throws Error{bad_input} naming
// the first file or tensor that is not as it was when the model was compiled.
void verify_compiled(const CompiledModel& compiled, const Model& model, WorkerPool& pool,
                     const CompileProgress& on_progress);

}  // namespace arion

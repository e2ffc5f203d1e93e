// Reading of tokenizer.json, the file format of the Hugging Face tokenizers package.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "text/pipeline/pipeline.h"

namespace arion {

// The parts that a file names. Truncation and padding are ignored, and so is the template for
// pairs. Throws Error{bad_input}, which names the place behind `name`, for everything else that is
// not understood.
PipelineParts read_tokenizer_json(std::string_view json, const std::string& name);

// A token in the vocabulary keeps its id there. Others get the next free one, as the package does
// whatever the file says, or the one they ask for.
enum class NewIds : uint8_t { next, as_asked };

// A token listed twice keeps its place and takes the later flags.
void add_tokens(std::vector<AddedToken> tokens, NewIds new_ids, PipelineParts& parts);

}  // namespace arion

// The tokenizer of a Hugging Face folder as a vocabulary that GGUF can hold.
#pragma once
#include <cstdint>
#include <filesystem>

#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace arion {

// `tokenizer` is that of the folder, `size` the number of rows of the embedding; ids beyond the
// tokenizer's become unused tokens. Understands byte-level BPE of tokenizer.json, SentencePiece
// models, and BPE over characters with byte fallback of tokenizer.json. The result is tried on
// sample texts: throws Error{bad_input} when it would not give the ids of the folder's tokenizer,
// because GGUF has no name for how it cuts words, or for any other kind of tokenizer.
Vocabulary convert_vocabulary(const std::filesystem::path& folder, const Tokenizer& tokenizer,
                              uint64_t size);

}  // namespace arion

// The vocabulary a GGUF file carries.
#pragma once
#include "io/gguf_metadata.h"
#include "text/vocabulary.h"

namespace arion {

// Reads the tokenizer.ggml.* keys. Throws Error{bad_input} naming a key that is missing or has the
// wrong type; Tokenizer checks what they say.
Vocabulary load_vocabulary(const GgufMetadata& metadata);

}  // namespace arion

// The vocabulary a GGUF file carries, written.
#pragma once
#include <span>

#include "io/gguf_writer.h"
#include "text/pipeline/tokenizer_config.h"
#include "text/vocabulary.h"

namespace arion {

// Adds the tokenizer.ggml.* keys that load_vocabulary reads.
void add_vocabulary(const Vocabulary& vocabulary, GgufWriter& out);

// Adds tokenizer.chat_template, of the one named "default", and tokenizer.chat_template.NAME.
void add_chat_templates(std::span<const NamedTemplate> templates, GgufWriter& out);

}  // namespace arion

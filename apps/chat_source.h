// Where a model's chat template comes from.
#pragma once
#include <optional>

#include "chat/chat_template.h"
#include "io/gguf_metadata.h"
#include "text/tokenizer.h"

namespace arion::app {

// tokenizer.chat_template and tokenizer.chat_template.NAME of a GGUF file.
TemplateSources read_template_sources(const GgufMetadata& metadata);

// The template of the file, or of its family where it has none; nothing where neither is known.
// Throws Error{bad_input} for a template that cannot be used.
std::optional<ChatTemplate> load_chat_template(const GgufMetadata& metadata,
                                               const Tokenizer& tokenizer);

}  // namespace arion::app

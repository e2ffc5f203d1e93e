// Where a model's chat template comes from.
#pragma once
#include <optional>
#include <vector>

#include "chat/chat_template.h"
#include "io/gguf_metadata.h"
#include "text/tokenizer.h"
#include "text/tokenizer_config.h"

namespace arion::app {

// tokenizer.chat_template and tokenizer.chat_template.NAME of a GGUF file.
TemplateSources read_template_sources(const GgufMetadata& metadata);

// Files in a folder; the one named "default" is the standard one.
TemplateSources to_template_sources(std::vector<NamedTemplate> templates);

// The template of these sources, or of the tokenizer's family where there are none; nothing where
// neither is known. Throws Error{bad_input} for a template that cannot be used.
std::optional<ChatTemplate> make_chat_template(TemplateSources sources, const Tokenizer& tokenizer);

}  // namespace arion::app

// Tokenizer and chat templates of what a user names as a model: a GGUF file or a Hugging Face
// folder.
#pragma once
#include <filesystem>
#include <optional>
#include <string_view>

#include "chat/chat_template.h"
#include "io/gguf_metadata.h"
#include "text/tokenizer.h"

namespace arion {

struct ModelText {
  Tokenizer tokenizer;
  TemplateSources templates;
};

// Of a folder, which needs no weights, or of a GGUF file; `model` as for resolve_model. Template
// files beside either go before the templates in it.
ModelText load_model_text(std::string_view model);

// The same of a model that is open; `path` is what open_model was given.
ModelText read_model_text(const std::filesystem::path& path, const GgufMetadata& metadata);

// The template of the model, or of the tokenizer's family where there is none; nothing where
// neither is known. Throws Error{bad_input} for a template that cannot be used.
std::optional<ChatTemplate> make_chat_template(const ModelText& text);

}  // namespace arion

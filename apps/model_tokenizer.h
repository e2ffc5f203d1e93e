// Tokenizer and chat templates of what a user names as a model: a GGUF file or a Hugging Face
// folder.
#pragma once
#include <filesystem>
#include <string_view>

#include "chat/chat_template.h"
#include "io/gguf_metadata.h"
#include "text/tokenizer.h"

namespace arion::app {

struct ModelText {
  Tokenizer tokenizer;
  TemplateSources templates;
};

// Of a folder, which needs no weights, or of a GGUF file. Template files beside either go before
// the templates in it.
ModelText load_model_text(std::string_view model);

// The same of a model that is open; `path` is what open_model was given.
ModelText read_model_text(const std::filesystem::path& path, const GgufMetadata& metadata);

}  // namespace arion::app

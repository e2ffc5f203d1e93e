// The tokenizer of what a user names as a model: a GGUF file or a Hugging Face folder.
#pragma once
#include <string_view>

#include "text/tokenizer.h"

namespace arion::app {

Tokenizer load_model_tokenizer(std::string_view model);

}  // namespace arion::app

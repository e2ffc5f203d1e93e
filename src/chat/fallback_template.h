// Chat templates of well-known families, for models whose file has none.
#pragma once
#include <string_view>

#include "text/tokenizer.h"

namespace arion {

// Chosen by the markers that the vocabulary has; empty where none is known.
//   <|im_start|>         ChatML; with the system message of SmolLM where the vocabulary is SmolLM's
//   <start_of_turn>      Gemma 1 to 3
//   <|start_header_id|>  Llama 3
//   <|user|> <|end|>     Phi 3
//   [INST] [/INST]       Mistral
std::string_view fallback_template(const Tokenizer& tokenizer);

}  // namespace arion

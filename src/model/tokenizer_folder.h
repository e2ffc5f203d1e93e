// The tokenizer of a Hugging Face folder, with or without weights in it.
#pragma once
#include <filesystem>
#include <vector>

#include "text/tokenizer.h"
#include "text/tokenizer_config.h"

namespace arion {

struct TokenizerFolder {
  Tokenizer tokenizer;
  std::vector<NamedTemplate> chat_templates;  // the default one first, if there is any
};

// Reads the first of these that the folder has: tokenizer.json, tekken.json, tokenizer.model,
// *.tiktoken, spiece.model and other *.model, vocab.json with merges.txt, vocab.txt; and
// tokenizer_config.json and chat_template.jinja beside it. Throws Error: usage if there is none of
// them, bad_input naming the file and what is wrong in it.
TokenizerFolder load_tokenizer_folder(const std::filesystem::path& folder);

}  // namespace arion

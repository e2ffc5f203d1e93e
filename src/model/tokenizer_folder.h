// The tokenizer of a Hugging Face folder, with or without weights in it.
#pragma once
#include <filesystem>
#include <vector>

#include "text/pipeline/tokenizer_config.h"
#include "text/tokenizer.h"

namespace arion {

struct TokenizerFolder {
  Tokenizer tokenizer;
  std::vector<NamedTemplate> chat_templates;
};

// chat_template.jinja, under the name "default", and additional_chat_templates/NAME.jinja of a
// folder. As in transformers, templates in files of their own replace all others. Throws
// Error{bad_input} for an empty file.
std::vector<NamedTemplate> read_template_files(const std::filesystem::path& folder);

// Whether the folder has one of the files below.
bool has_tokenizer(const std::filesystem::path& folder);

// Reads the first of these that the folder has: tokenizer.json, tekken.json, tokenizer.model,
// *.tiktoken, spiece.model and other *.model, vocab.json with merges.txt, vocab.txt; and
// tokenizer_config.json and template files beside it. The tokens that eos_token_id of
// generation_config.json names, or of config.json where that file is missing, end answers, too; ids
// that are no token are left out, because embeddings may have more rows than there are. Throws
// Error: usage if there is none of them, bad_input naming the file and what is wrong in it.
TokenizerFolder load_tokenizer_folder(const std::filesystem::path& folder);

}  // namespace arion

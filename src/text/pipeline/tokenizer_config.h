// What the JSON files beside a tokenizer say about it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/pipeline/added_tokens.h"

namespace arion {

struct NamedTemplate {
  std::string name;  // "default", "tool_use", ...
  std::string text;  // Jinja
};

// tokenizer_config.json, as far as it matters for encoding and for prompts.
struct TokenizerConfig {
  std::string tokenizer_class;
  // With the ids that the file gives, ascending.
  std::vector<AddedToken> added_tokens;
  // Spellings.
  std::optional<std::string> bos, eos, unknown, separator, padding, mask, cls;
  std::vector<std::string> more_special;
  std::optional<bool> add_bos, add_eos, lowers_case;
  std::vector<NamedTemplate> chat_templates;
  std::vector<int32_t> ends;  // ids that end an answer, of another file: read_end_ids
};

// Throws Error{bad_input} naming `name` and the key.
TokenizerConfig read_tokenizer_config(std::string_view json, const std::string& name);

// eos_token_id of generation_config.json or config.json: an id or several; empty if the file has
// none. In config.json it may be that of the part that writes text. The ids need not be tokens.
// Throws as above.
std::vector<int32_t> read_end_ids(std::string_view json, const std::string& name);

}  // namespace arion

// Keys in the spelling of llama.cpp's converters; the mirror of vocabulary_loader.cpp.
#include "model/vocabulary_writer.h"

#include <optional>
#include <string>
#include <vector>

namespace arion {

void add_vocabulary(const Vocabulary& vocabulary, GgufWriter& out) {
  out.add_string("tokenizer.ggml.model", vocabulary.model);
  if (!vocabulary.pre.empty()) out.add_string("tokenizer.ggml.pre", vocabulary.pre);
  out.add_strings("tokenizer.ggml.tokens", vocabulary.tokens);
  if (!vocabulary.scores.empty()) out.add_f32s("tokenizer.ggml.scores", vocabulary.scores);
  std::vector<int32_t> types;
  for (const TokenType type : vocabulary.types) types.push_back(static_cast<int32_t>(type));
  if (!types.empty()) out.add_i32s("tokenizer.ggml.token_type", types);
  if (has_merges(vocabulary)) out.add_strings("tokenizer.ggml.merges", vocabulary.merges);
  const auto add_id = [&](const char* key, std::optional<int32_t> id) {
    if (id) out.add_u32(key, static_cast<uint32_t>(*id));
  };
  add_id("tokenizer.ggml.bos_token_id", vocabulary.special.bos);
  add_id("tokenizer.ggml.eos_token_id", vocabulary.special.eos);
  add_id("tokenizer.ggml.eot_token_id", vocabulary.special.eot);
  add_id("tokenizer.ggml.eom_token_id", vocabulary.special.eom);
  add_id("tokenizer.ggml.unknown_token_id", vocabulary.special.unknown);
  add_id("tokenizer.ggml.seperator_token_id", vocabulary.special.separator);
  add_id("tokenizer.ggml.padding_token_id", vocabulary.special.padding);
  add_id("tokenizer.ggml.mask_token_id", vocabulary.special.mask);
  const auto add_claim = [&](const char* key, std::optional<bool> claim) {
    if (claim) out.add_bool(key, *claim);
  };
  add_claim("tokenizer.ggml.add_bos_token", vocabulary.add_bos);
  add_claim("tokenizer.ggml.add_eos_token", vocabulary.add_eos);
  add_claim("tokenizer.ggml.add_space_prefix", vocabulary.add_space_prefix);
}

void add_chat_templates(std::span<const NamedTemplate> templates, GgufWriter& out) {
  constexpr const char* kKey = "tokenizer.chat_template";
  std::vector<std::string> names;
  for (const NamedTemplate& chat_template : templates) {
    if (chat_template.name == "default") {
      out.add_string(kKey, chat_template.text);
      continue;
    }
    names.push_back(chat_template.name);
    out.add_string(std::string(kKey) + '.' + chat_template.name, chat_template.text);
  }
  if (!names.empty()) out.add_strings("tokenizer.chat_templates", names);
}

}  // namespace arion

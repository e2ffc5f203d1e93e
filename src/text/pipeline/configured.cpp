// What the transformers library does with tokenizer_config.json.
#include "text/pipeline/configured.h"

#include <algorithm>

#include "text/end_of_generation.h"
#include "text/pipeline/tokenizer_json.h"

namespace arion {
namespace {

std::vector<std::string> special_spellings(const TokenizerConfig& config) {
  std::vector<std::string> spellings = config.more_special;
  for (const auto* spelling : {&config.bos, &config.eos, &config.unknown, &config.separator,
                               &config.padding, &config.mask, &config.cls}) {
    if (*spelling) spellings.push_back(**spelling);
  }
  return spellings;
}

// Gemma has "</s>" as a visible HTML tag.
bool ends_answers(const AddedToken& token) {
  return is_end_spelling(token.content) && token.content != "</s>";
}

bool is_listed(const std::vector<std::string>& spellings, const std::string& content) {
  return std::find(spellings.begin(), spellings.end(), content) != spellings.end();
}

void add_configured_tokens(const TokenizerConfig& config, NewIds new_ids, PipelineParts& parts) {
  add_tokens(config.added_tokens, new_ids, parts);
  const std::vector<std::string> spellings = special_spellings(config);
  std::vector<AddedToken> missing;
  for (const std::string& spelling : spellings) {
    const auto has_content = [&](const AddedToken& token) { return token.content == spelling; };
    if (std::none_of(parts.added_tokens.begin(), parts.added_tokens.end(), has_content)) {
      missing.push_back({.content = spelling, .is_normalized = false, .is_special = true});
    }
  }
  add_tokens(std::move(missing), NewIds::next, parts);
  for (AddedToken& token : parts.added_tokens) {
    token.is_special |= is_listed(spellings, token.content) || ends_answers(token) ||
                        std::ranges::count(config.ends, token.id) > 0;
  }
}

std::optional<int32_t> find_id(const std::optional<std::string>& spelling,
                               const PipelineParts& parts) {
  if (!spelling) return std::nullopt;
  for (const AddedToken& token : parts.added_tokens) {
    if (token.content == *spelling) return token.id;
  }
  return parts.vocabulary->find(*spelling);
}

Template bos_and_eos(const TokenizerConfig& config, const SpecialIds& special) {
  Template result;
  if (config.add_bos.value_or(false) && special.bos) {
    result.parts.push_back({.is_text = false, .ids = {*special.bos}});
  }
  result.parts.push_back({});
  if (config.add_eos.value_or(false) && special.eos) {
    result.parts.push_back({.is_text = false, .ids = {*special.eos}});
  }
  return result;
}

}  // namespace

Tokenizer make_tokenizer(PipelineParts parts, const TokenizerConfig& config, NewIds new_ids) {
  add_configured_tokens(config, new_ids, parts);
  SpecialIds special;
  special.bos = find_id(config.bos, parts);
  special.eos = find_id(config.eos, parts);
  special.unknown = find_id(config.unknown, parts);
  special.separator = find_id(config.separator, parts);
  special.padding = find_id(config.padding, parts);
  special.mask = find_id(config.mask, parts);
  special.ends = config.ends;
  if (config.add_bos || config.add_eos) parts.post_processor = {bos_and_eos(config, special)};
  return Tokenizer(std::make_unique<Pipeline>(std::move(parts)), special);
}

}  // namespace arion

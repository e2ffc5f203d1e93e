// Tokens are spelled as strings or as objects with flags.
#include "text/pipeline/tokenizer_config.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "text/pipeline/json_reader.h"
#include "text/pipeline/limits.h"

namespace arion {
namespace {

constexpr size_t kMaxTemplates = 64;
constexpr size_t kMaxEnds = 1024;

std::optional<std::string> read_spelling(const JsonObject& config, std::string_view key) {
  const auto element = config.find(key);
  if (!element) return std::nullopt;
  if (element->is_object()) return std::string(config.object(key).string("content"));
  return std::string(config.string(key));
}

std::optional<bool> read_flag(const JsonObject& config, std::string_view key) {
  return config.find(key) ? std::optional(config.boolean(key, false)) : std::nullopt;
}

AddedToken read_added_token(const JsonObject& item, std::string_view id) {
  AddedToken token = {.content = std::string(item.string("content")),
                      .is_single_word = item.boolean("single_word", false),
                      .strips_left = item.boolean("lstrip", false),
                      .strips_right = item.boolean("rstrip", false),
                      .is_normalized = item.boolean("normalized", true),
                      .is_special = item.boolean("special", false)};
  const auto [rest, error] = std::from_chars(id.data(), id.data() + id.size(), token.id);
  const bool is_number = error == std::errc() && rest == id.data() + id.size();
  if (!is_number || token.id < 0 || static_cast<size_t>(token.id) >= kMaxTokens) {
    fail(ErrorCode::bad_input, "{}: \"{}\" is no token id", item.where(), id.substr(0, 80));
  }
  if (token.content.size() > kMaxSpecialBytes) {
    fail(ErrorCode::bad_input, "{}.{} has {} bytes, at most {} are supported", item.where(), id,
         token.content.size(), kMaxSpecialBytes);
  }
  return token;
}

std::vector<AddedToken> read_token_decoder(const JsonObject& config) {
  std::vector<AddedToken> tokens;
  if (!config.find("added_tokens_decoder")) return tokens;
  const JsonObject decoder = config.object("added_tokens_decoder");
  for (const auto [id, element] : decoder) {
    tokens.push_back(read_added_token(JsonObject(element, decoder.where()), id));
  }
  std::stable_sort(tokens.begin(), tokens.end(),
                   [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
  return tokens;
}

// Lists of additional tokens hold strings or objects; a newer spelling is an object of names.
std::vector<std::string> read_more_special(const JsonObject& config) {
  std::vector<std::string> spellings;
  for (const std::string_view key : {"additional_special_tokens", "extra_special_tokens"}) {
    const auto element = config.find(key);
    if (!element || !element->is_array()) continue;
    for (const JsonElement item : config.array(key)) {
      const std::string where = config.where() + ": " + std::string(key);
      spellings.emplace_back(item.is_object() ? JsonObject(item, where).string("content")
                                              : json_string(item, where));
    }
  }
  return spellings;
}

std::vector<NamedTemplate> read_chat_templates(const JsonObject& config) {
  const auto element = config.find("chat_template");
  if (!element) return {};
  if (element->is_string()) return {{"default", std::string(config.string("chat_template"))}};
  std::vector<NamedTemplate> templates;
  for (const JsonElement item : config.array("chat_template")) {
    const JsonObject entry(item, config.where() + ": chat_template");
    templates.push_back({std::string(entry.string("name")), std::string(entry.string("template"))});
    if (templates.size() > kMaxTemplates) {
      fail(ErrorCode::bad_input, "{} has more than {} entries", entry.where(), kMaxTemplates);
    }
  }
  return templates;
}

}  // namespace

TokenizerConfig read_tokenizer_config(std::string_view json, const std::string& name) {
  const JsonDocument document(json, name);
  const JsonObject config = document.root();
  TokenizerConfig result;
  result.tokenizer_class = config.find_string("tokenizer_class").value_or("");
  result.added_tokens = read_token_decoder(config);
  result.bos = read_spelling(config, "bos_token");
  result.eos = read_spelling(config, "eos_token");
  result.unknown = read_spelling(config, "unk_token");
  result.separator = read_spelling(config, "sep_token");
  result.padding = read_spelling(config, "pad_token");
  result.mask = read_spelling(config, "mask_token");
  result.cls = read_spelling(config, "cls_token");
  result.more_special = read_more_special(config);
  result.add_bos = read_flag(config, "add_bos_token");
  result.add_eos = read_flag(config, "add_eos_token");
  result.lowers_case = read_flag(config, "do_lower_case");
  result.chat_templates = read_chat_templates(config);
  return result;
}

std::vector<int32_t> read_end_ids(std::string_view json, const std::string& name) {
  constexpr std::string_view kKey = "eos_token_id";
  const JsonDocument document(json, name);
  JsonObject config = document.root();
  // As transformers does, only the first of these is asked.
  for (const std::string_view part : {"decoder", "generator", "text_config"}) {
    if (config.find(kKey)) break;
    if (!config.find(part)) continue;
    config = config.object(part);
    break;
  }
  const auto element = config.find(kKey);
  if (!element) return {};
  const std::string where = fmt::format("{}: {}", config.where(), kKey);
  const auto read_id = [&](JsonElement id) {
    return static_cast<int32_t>(json_integer(id, kMaxTokens - 1, where));
  };
  if (!element->is_array()) return {read_id(*element)};
  const JsonArray array = json_array(*element, where);
  if (array.size() > kMaxEnds) {
    fail(ErrorCode::bad_input, "{} has more than {} entries", where, kMaxEnds);
  }
  std::vector<int32_t> ids;
  for (const JsonElement id : array) ids.push_back(read_id(id));
  return ids;
}

}  // namespace arion

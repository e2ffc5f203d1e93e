// The top level of the file and its added tokens.
#include "text/pipeline/tokenizer_json.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "text/pipeline/json_parts.h"
#include "text/pipeline/limits.h"
#include "text/unicode.h"

namespace arion {
namespace {

std::vector<AddedToken> read_added_tokens(const JsonObject& root) {
  std::vector<AddedToken> tokens;
  if (!root.find("added_tokens")) return tokens;
  for (const JsonElement element : root.array("added_tokens")) {
    const JsonObject item(element, root.where() + ": added_tokens");
    tokens.push_back({.content = std::string(item.string("content")),
                      .is_single_word = item.boolean("single_word", false),
                      .strips_left = item.boolean("lstrip", false),
                      .strips_right = item.boolean("rstrip", false),
                      .is_normalized = item.boolean("normalized", true),
                      .is_special = item.boolean("special", false)});
    if (tokens.back().content.size() > kMaxSpecialBytes || tokens.size() > kMaxTokens) {
      fail(ErrorCode::bad_input, "{}: expected at most {} tokens of at most {} bytes", item.where(),
           kMaxTokens, kMaxSpecialBytes);
    }
  }
  return tokens;
}

bool is_free_id(int32_t id, const PipelineParts& parts) {
  const TokenBytes& tokens = parts.vocabulary->tokens;
  return id >= tokens.size() || tokens[id].empty();
}

}  // namespace

void PartBudget::take(const JsonObject& part) {
  if (--left_ >= 0) return;
  fail(ErrorCode::bad_input, "{}: the tokenizer is made of more parts than are supported",
       part.where());
}

void fail_part(const JsonObject& part, std::string_view type, std::string_view supported) {
  fail(ErrorCode::bad_input, "{}: the type \"{}\" is not supported; supported are {}", part.where(),
       type.substr(0, 80), supported);
}

std::unique_ptr<const Pattern> read_pattern(const JsonObject& part) {
  const JsonElement pattern = part.require("pattern");
  if (pattern.is_string()) {
    return make_literal_pattern(std::string(json_string(pattern, part.where() + ".pattern")));
  }
  const JsonObject object = part.object("pattern");
  if (const auto regex = object.find_string("Regex")) return make_regex_pattern(*regex);
  return make_literal_pattern(std::string(object.string("String")));
}

std::string read_content(const JsonObject& part) {
  constexpr size_t kMaxContentBytes = 1024;
  const std::string_view content = part.string("content");
  if (content.size() > kMaxContentBytes) {
    fail(ErrorCode::bad_input, "{}.content has {} bytes, at most {} are supported", part.where(),
         content.size(), kMaxContentBytes);
  }
  return std::string(content);
}

std::string read_char(const JsonObject& part, std::string_view key) {
  const std::string_view text = part.string(key);
  if (text.empty() || decode_utf8(text).length != text.size()) {
    fail(ErrorCode::bad_input, "{}.{} is \"{}\", expected one character", part.where(), key,
         text.substr(0, 80));
  }
  return std::string(text);
}

void add_tokens(std::vector<AddedToken> tokens, NewIds new_ids, PipelineParts& parts) {
  std::unordered_map<std::string, size_t> places;
  int32_t next = parts.vocabulary->tokens.size();
  for (size_t i = 0; i < parts.added_tokens.size(); ++i) {
    places.emplace(parts.added_tokens[i].content, i);
    next = std::max(next, parts.added_tokens[i].id + 1);
  }
  for (AddedToken& token : tokens) {
    if (token.content.empty()) continue;
    const auto [place, is_new] = places.emplace(token.content, parts.added_tokens.size());
    if (!is_new) {
      token.id = parts.added_tokens[place->second].id;
      parts.added_tokens[place->second] = std::move(token);
      continue;
    }
    const auto id = parts.vocabulary->find(token.content);
    const bool is_free = new_ids == NewIds::as_asked && is_free_id(token.id, parts);
    if (id) {
      token.id = *id;
    } else if (!is_free) {
      token.id = next;
    }
    next = std::max(next, token.id + 1);
    parts.added_tokens.push_back(std::move(token));
  }
  size_t bytes = 0;
  for (const AddedToken& token : parts.added_tokens) bytes += token.content.size();
  if (static_cast<size_t>(next) > kMaxTokens || bytes > kMaxAllSpecialBytes) {
    fail(ErrorCode::bad_input, "{} added tokens with {} bytes together are more than is supported",
         parts.added_tokens.size(), bytes);
  }
}

PipelineParts read_tokenizer_json(std::string_view json, const std::string& name) {
  const JsonDocument document(json, name);
  const JsonObject root = document.root();
  PartBudget budget;
  PipelineParts parts;
  std::optional<std::vector<std::string>> byte_level_regexes;
  if (root.find("normalizer")) {
    parts.normalizer = read_normalizer(root.object("normalizer"), budget);
  }
  if (root.find("pre_tokenizer")) {
    PreTokenizerPart part = read_pre_tokenizer(root.object("pre_tokenizer"), budget);
    parts.pre_tokenizer = std::move(part.cutter);
    byte_level_regexes = std::move(part.byte_level_regexes);
  }
  read_model(root.object("model"), byte_level_regexes, parts);
  add_tokens(read_added_tokens(root), NewIds::next, parts);
  if (root.find("post_processor")) {
    parts.post_processor = read_post_processor(root.object("post_processor"), budget);
  }
  if (root.find("decoder")) parts.decoder = read_decoder(root.object("decoder"), budget);
  return parts;
}

}  // namespace arion

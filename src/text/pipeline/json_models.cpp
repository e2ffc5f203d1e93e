// Models of tokenizer.json and their vocabularies.
#include <cmath>

#include "base/error.h"
#include "text/pipeline/fast_bpe.h"
#include "text/pipeline/json_parts.h"
#include "text/pipeline/limits.h"

namespace arion {
namespace {

void check_token(std::string_view token, const std::string& where) {
  if (token.size() > kMaxTokenBytes) {
    fail(ErrorCode::bad_input, "{}: a token has {} bytes, at most {} are supported", where,
         token.size(), kMaxTokenBytes);
  }
}

// {"token": id}. Ids may leave gaps, which have empty tokens.
std::vector<std::string> read_token_ids(const JsonObject& part) {
  const JsonObject vocab = part.object("vocab");
  std::vector<std::string> tokens;
  for (const auto [token, element] : vocab) {
    const size_t id = json_integer(element, kMaxTokens - 1, vocab.where());
    check_token(token, vocab.where());
    if (tokens.size() <= id) tokens.resize(id + 1);
    if (!tokens[id].empty() && tokens[id] != token) {
      fail(ErrorCode::bad_input, "{}: \"{}\" and \"{}\" both have the id {}", vocab.where(),
           tokens[id].substr(0, 80), token.substr(0, 80), id);
    }
    tokens[id] = token;
  }
  return tokens;
}

// "left right", or ["left", "right"] since tokens may hold spaces.
MergeList read_merges(const JsonObject& part) {
  MergeList merges;
  const std::string where = part.where() + ".merges";
  for (const JsonElement element : part.array("merges")) {
    if (merges.size() >= kMaxMerges) {
      fail(ErrorCode::bad_input, "{} has more than {} entries", where, kMaxMerges);
    }
    if (element.is_array()) {
      const JsonArray pair = json_array(element, where);
      if (pair.size() != 2) fail(ErrorCode::bad_input, "{}: expected pairs of tokens", where);
      merges.emplace_back(json_string(pair.at(0), where), json_string(pair.at(1), where));
      continue;
    }
    const std::string_view merge = json_string(element, where);
    const size_t space = merge.find(' ');
    if (space == std::string_view::npos || merge.find(' ', space + 1) != std::string_view::npos) {
      fail(ErrorCode::bad_input, "{}[{}] is \"{}\", expected two tokens with a space between",
           where, merges.size(), merge.substr(0, 80));
    }
    merges.emplace_back(merge.substr(0, space), merge.substr(space + 1));
  }
  return merges;
}

void read_bpe(const JsonObject& part,
              const std::optional<std::vector<std::string>>& byte_level_regexes,
              PipelineParts& parts) {
  const auto text = [&part](std::string_view key) {
    return std::string(part.find_string(key).value_or(""));
  };
  WordBpeOptions options;
  if (const auto unknown = part.find_string("unk_token")) options.unknown = *unknown;
  options.continuing_prefix = text("continuing_subword_prefix");
  options.end_suffix = text("end_of_word_suffix");
  options.fuses_unknown = part.boolean("fuse_unk", false);
  options.has_byte_fallback = part.boolean("byte_fallback", false);
  options.ignores_merges = part.boolean("ignore_merges", false);
  set_bpe_model(read_token_ids(part), read_merges(part), std::move(options), byte_level_regexes,
                parts);
}

void read_unigram(const JsonObject& part, PipelineParts& parts) {
  const std::string where = part.where() + ".vocab";
  std::vector<std::string> tokens;
  std::vector<double> scores;
  for (const JsonElement element : part.array("vocab")) {
    const JsonArray pair = json_array(element, where);
    if (pair.size() != 2)
      fail(ErrorCode::bad_input, "{}: expected pairs of token and score", where);
    tokens.emplace_back(json_string(pair.at(0), where));
    scores.push_back(json_number(pair.at(1), where));
    check_token(tokens.back(), where);
    if (tokens.size() > kMaxTokens) {
      fail(ErrorCode::bad_input, "{} has more than {} entries", where, kMaxTokens);
    }
  }
  UnigramOptions options;
  if (const auto unknown = part.find_integer("unk_id", kMaxTokens)) {
    if (*unknown >= tokens.size()) {
      fail(ErrorCode::bad_input, "{}.unk_id is {}, expected 0 to {}", part.where(), *unknown,
           tokens.size() - 1);
    }
    options.unknown = static_cast<int32_t>(*unknown);
  }
  options.has_byte_fallback = part.boolean("byte_fallback", false);
  parts.vocabulary = std::make_unique<WordVocabulary>(tokens);
  parts.model = make_unigram_model(*parts.vocabulary, scores, options);
}

void read_wordpiece(const JsonObject& part, PipelineParts& parts) {
  WordPieceOptions options;
  options.unknown = part.find_string("unk_token").value_or("[UNK]");
  options.continuing_prefix = part.find_string("continuing_subword_prefix").value_or("##");
  options.max_chars = part.find_integer("max_input_chars_per_word", UINT32_MAX).value_or(100);
  parts.vocabulary = std::make_unique<WordVocabulary>(read_token_ids(part));
  parts.model = make_wordpiece_model(*parts.vocabulary, options);
}

void read_word_level(const JsonObject& part, PipelineParts& parts) {
  parts.vocabulary = std::make_unique<WordVocabulary>(read_token_ids(part));
  parts.model = make_word_level_model(*parts.vocabulary,
                                      std::string(part.find_string("unk_token").value_or("<unk>")));
}

// Files of old versions do not name the type.
std::string_view model_type(const JsonObject& part) {
  if (const auto type = part.find_string("type")) return *type;
  if (part.find("merges")) return "BPE";
  if (part.require("vocab").is_array()) return "Unigram";
  return part.find("continuing_subword_prefix") ? "WordPiece" : "WordLevel";
}

}  // namespace

void read_model(const JsonObject& part,
                const std::optional<std::vector<std::string>>& byte_level_regexes,
                PipelineParts& parts) {
  const std::string_view type = model_type(part);
  if (type == "BPE") return read_bpe(part, byte_level_regexes, parts);
  if (type == "Unigram") return read_unigram(part, parts);
  if (type == "WordLevel") return read_word_level(part, parts);
  if (type == "WordPiece") return read_wordpiece(part, parts);
  fail_part(part, type, "BPE, Unigram, WordLevel, WordPiece");
}

}  // namespace arion

// Checks of everything a model file may get wrong about its tokens.
#include "text/vocabulary.h"

#include <cmath>
#include <utility>

#include "base/error.h"

namespace arion {
namespace {

// Far above any vocabulary in use (about 262,144 tokens, 514,000 merges, 100 KB of special tokens).
// They keep tables below 64 MiB, offsets in 32 bits and the cost per byte of text bounded.
constexpr size_t kMaxVocabularyTokens = (1 << 21) - 1;
constexpr size_t kMaxMerges = (1 << 20) - 1;
constexpr size_t kMaxTokenBytes = 1 << 16;
constexpr size_t kMaxSpecialBytes = 1 << 10;
constexpr size_t kMaxAllSpecialBytes = 1 << 20;

[[noreturn]] void fail_count(const char* key, size_t got, size_t expected) {
  fail(ErrorCode::bad_input,
       "{} has {} entries, expected {}, one for each of tokenizer.ggml.tokens", key, got, expected);
}

bool is_special(TokenType type) {
  using enum TokenType;
  return type == control || type == user_defined || type == unknown;
}

void check_tokens(const Vocabulary& vocabulary) {
  size_t bytes = 0, special_bytes = 0;
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const std::string& token = vocabulary.tokens[id];
    const size_t limit = is_special(vocabulary.type(id)) ? kMaxSpecialBytes : kMaxTokenBytes;
    if (token.size() > limit) {
      fail(ErrorCode::bad_input, "tokenizer.ggml.tokens[{}] has {} bytes, at most {} are supported",
           id, token.size(), limit);
    }
    if (vocabulary.type(id) == TokenType::byte && !parse_byte_token(token)) {
      fail(ErrorCode::bad_input,
           "tokenizer.ggml.tokens[{}] is \"{}\" with type byte, expected a spelling such as <0x0A>",
           id, token.substr(0, 40));
    }
    bytes += token.size();
    if (is_special(vocabulary.type(id))) special_bytes += token.size();
  }
  if (special_bytes > kMaxAllSpecialBytes) {
    fail(ErrorCode::bad_input,
         "tokenizer.ggml.token_type marks tokens of {} bytes as special, at most {} are supported",
         special_bytes, kMaxAllSpecialBytes);
  }
  if (bytes >= UINT32_MAX) {
    fail(ErrorCode::bad_input, "tokenizer.ggml.tokens holds {} bytes, at most {} are supported",
         bytes, UINT32_MAX);
  }
}

void check_scores_and_types(const Vocabulary& vocabulary) {
  const size_t count = vocabulary.tokens.size();
  const bool needs_scores = vocabulary.model == "llama" || vocabulary.model == "t5";
  if (vocabulary.scores.size() != count && (needs_scores || !vocabulary.scores.empty())) {
    fail_count("tokenizer.ggml.scores", vocabulary.scores.size(), count);
  }
  for (size_t id = 0; id < vocabulary.scores.size(); ++id) {
    if (std::isnan(vocabulary.scores[id])) {
      fail(ErrorCode::bad_input, "tokenizer.ggml.scores[{}] is not a number", id);
    }
  }
  if (!vocabulary.types.empty() && vocabulary.types.size() != count) {
    fail_count("tokenizer.ggml.token_type", vocabulary.types.size(), count);
  }
  for (size_t id = 0; id < vocabulary.types.size(); ++id) {
    const int32_t type = static_cast<int32_t>(vocabulary.types[id]);
    if (type < 0 || type > 6) {
      fail(ErrorCode::bad_input, "tokenizer.ggml.token_type[{}] is {}, expected 0 to 6", id, type);
    }
  }
}

void check_merges(const Vocabulary& vocabulary) {
  if (vocabulary.merges.size() > kMaxMerges) {
    fail(ErrorCode::bad_input, "tokenizer.ggml.merges has {} entries, at most {} are supported",
         vocabulary.merges.size(), kMaxMerges);
  }
  for (size_t rank = 0; rank < vocabulary.merges.size(); ++rank) {
    const std::string& merge = vocabulary.merges[rank];
    const size_t space = merge.find(' ', 1);
    if (space == std::string::npos || space + 1 == merge.size() || merge.size() > kMaxTokenBytes) {
      fail(ErrorCode::bad_input, "tokenizer.ggml.merges[{}] is \"{}\", expected \"left right\"",
           rank, merge.substr(0, 40));
    }
  }
}

void check_special_ids(const Vocabulary& vocabulary) {
  const SpecialIds& ids = vocabulary.special;
  const std::pair<const char*, std::optional<int32_t>> all[] = {
      {"bos_token_id", ids.bos},
      {"eos_token_id", ids.eos},
      {"eot_token_id", ids.eot},
      {"eom_token_id", ids.eom},
      {"unknown_token_id", ids.unknown},
      {"seperator_token_id", ids.separator},
      {"padding_token_id", ids.padding},
      {"mask_token_id", ids.mask},
      {"fim_pre_token_id", ids.fim_prefix},
      {"fim_suf_token_id", ids.fim_suffix},
      {"fim_mid_token_id", ids.fim_middle},
      {"fim_pad_token_id", ids.fim_padding},
      {"fim_rep_token_id", ids.fim_repository},
      {"fim_sep_token_id", ids.fim_separator},
  };
  for (const auto& [key, id] : all) {
    if (id && (*id < 0 || static_cast<size_t>(*id) >= vocabulary.tokens.size())) {
      fail(ErrorCode::bad_input, "tokenizer.ggml.{} is {}, expected 0 to {}", key, *id,
           vocabulary.tokens.size() - 1);
    }
  }
}

std::optional<uint8_t> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return std::nullopt;
}

}  // namespace

std::optional<uint8_t> parse_byte_token(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  const auto high = hex_digit(token[3]);
  const auto low = hex_digit(token[4]);
  if (!high || !low) return std::nullopt;
  return static_cast<uint8_t>(*high << 4 | *low);
}

void validate(const Vocabulary& vocabulary) {
  if (vocabulary.tokens.empty()) {
    fail(ErrorCode::bad_input, "tokenizer.ggml.tokens is missing or empty");
  }
  if (vocabulary.tokens.size() > kMaxVocabularyTokens) {
    fail(ErrorCode::bad_input, "tokenizer.ggml.tokens has {} entries, at most {} are supported",
         vocabulary.tokens.size(), kMaxVocabularyTokens);
  }
  check_scores_and_types(vocabulary);
  check_tokens(vocabulary);
  check_merges(vocabulary);
  check_special_ids(vocabulary);
}

}  // namespace arion

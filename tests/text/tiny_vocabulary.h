// Vocabularies small enough to follow by hand.
#pragma once
#include <string>
#include <vector>

#include "text/vocabulary.h"

namespace arion::test {

// GPT-2's printable spelling of one byte.
inline std::string spell_byte(int byte) {
  const auto is_printable = [](int b) {
    return (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
  };
  int code_point = byte;
  if (!is_printable(byte)) {
    code_point = 256;
    for (int b = 0; b < byte; ++b) code_point += !is_printable(b);
  }
  if (code_point < 0x80) return std::string(1, static_cast<char>(code_point));
  return {static_cast<char>(0xC0 | code_point >> 6), static_cast<char>(0x80 | (code_point & 0x3F))};
}

// Ids 0..255 are the bytes; each merge adds its result as the next id.
inline Vocabulary byte_vocabulary(const std::vector<std::string>& merges,
                                  const std::string& pre = "gpt-2") {
  Vocabulary vocabulary;
  vocabulary.model = "gpt2";
  vocabulary.pre = pre;
  for (int byte = 0; byte < 256; ++byte) vocabulary.tokens.push_back(spell_byte(byte));
  for (const std::string& merge : merges) {
    std::string token = merge;
    token.erase(token.find(' ', 1), 1);
    vocabulary.tokens.push_back(token);
  }
  vocabulary.types.assign(vocabulary.tokens.size(), TokenType::normal);
  vocabulary.merges = merges;
  return vocabulary;
}

inline int32_t add_token(Vocabulary& vocabulary, const std::string& text, TokenType type,
                         float score = 0) {
  vocabulary.tokens.push_back(text);
  vocabulary.types.push_back(type);
  if (vocabulary.model == "llama") vocabulary.scores.push_back(score);
  return static_cast<int32_t>(vocabulary.tokens.size()) - 1;
}

// Ids 0, 1, 2 are <unk>, <s>, </s>; then all byte tokens if wanted; then the pieces, best first.
inline Vocabulary piece_vocabulary(const std::vector<std::string>& pieces,
                                   bool has_byte_tokens = true) {
  Vocabulary vocabulary;
  vocabulary.model = "llama";
  add_token(vocabulary, "<unk>", TokenType::unknown);
  add_token(vocabulary, "<s>", TokenType::control);
  add_token(vocabulary, "</s>", TokenType::control);
  constexpr char kHex[] = "0123456789ABCDEF";
  for (int byte = 0; has_byte_tokens && byte < 256; ++byte) {
    add_token(vocabulary, {'<', '0', 'x', kHex[byte / 16], kHex[byte % 16], '>'}, TokenType::byte);
  }
  float score = 0;
  for (const std::string& piece : pieces) add_token(vocabulary, piece, TokenType::normal, --score);
  return vocabulary;
}

}  // namespace arion::test

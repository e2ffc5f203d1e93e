// A tokenizer whose first 256 tokens are the bytes, then two control tokens and a few words.
#pragma once
#include <initializer_list>
#include <string>

#include "text/tokenizer.h"
#include "text/unicode.h"

namespace arion::test {

inline constexpr int32_t kBos = 256, kEos = 257;
inline constexpr int32_t kFirstWord = 258;

// GPT-2's spelling of bytes as printable characters.
inline std::string spell_bytes(const std::string& bytes) {
  std::string spelling;
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    const auto is_plain = [](uint32_t b) {
      return (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
    };
    char32_t shifted = 256;
    for (uint32_t b = 0; b < byte; ++b) shifted += is_plain(b) ? 0 : 1;
    append_utf8(spelling, is_plain(byte) ? byte : shifted);
  }
  return spelling;
}

inline Tokenizer byte_tokenizer(std::initializer_list<const char*> words = {"DEF", "GH", "BC"}) {
  Vocabulary vocabulary;
  vocabulary.model = "gpt2";
  vocabulary.pre = "gpt-2";
  for (int byte = 0; byte < 256; ++byte) {
    vocabulary.tokens.push_back(spell_bytes(std::string(1, static_cast<char>(byte))));
  }
  vocabulary.tokens.push_back("<|bos|>");
  vocabulary.tokens.push_back("<|eos|>");
  for (const char* word : words) vocabulary.tokens.push_back(spell_bytes(word));
  vocabulary.types.assign(vocabulary.tokens.size(), TokenType::normal);
  vocabulary.types[kBos] = vocabulary.types[kEos] = TokenType::control;
  vocabulary.merges = {"B C"};  // one is required
  vocabulary.special.bos = kBos;
  vocabulary.special.eos = kEos;
  return Tokenizer(std::move(vocabulary));
}

}  // namespace arion::test

// UTF-8 decoding that survives any bytes, and the Unicode classes that pre-tokenizers ask about.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace arion {

// Class flags of a code point; letters carry their case too (title case counts as upper).
enum UnicodeFlag : uint16_t {
  kLetter = 1,       // L*
  kNumber = 2,       // N*
  kMark = 4,         // M*
  kPunctuation = 8,  // P*
  kSymbol = 16,      // S*
  kSpace = 32,       // White_Space, what \s means in the regexes of tokenizers
  kUpper = 64,       // Lu, Lt
  kLower = 128,      // Ll
  kDigit = 256,      // Nd
  kWord = 512,       // what \w means in the regexes of tokenizers: Alphabetic, M*, Nd, Pc
};

constexpr char32_t kReplacement = 0xFFFD;

// One step of decoding. Ill-formed bytes give `kReplacement` with is_valid = false and the length
// of the maximal subpart (Unicode 16, section 3.9), so that a text is always the concatenation of
// its characters.
struct Utf8Char {
  char32_t code_point;
  uint8_t length;  // bytes taken, 1..4
  bool is_valid;
  bool is_cut;  // ill-formed only because the text ends: more bytes could complete it
};

// The first character of `text`, which must not be empty.
Utf8Char decode_utf8(std::string_view text);

void append_utf8(std::string& out, char32_t code_point);

// Class flags; 0 beyond U+10FFFF.
uint16_t unicode_flags(char32_t code_point);

}  // namespace arion

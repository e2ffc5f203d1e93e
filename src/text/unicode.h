// The Unicode classes that pre-tokenizers ask about.
#pragma once
#include <cstdint>

#include "base/utf8.h"

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

// Class flags; 0 beyond U+10FFFF.
uint16_t unicode_flags(char32_t code_point);

inline bool is_space(char32_t code_point) {
  return (unicode_flags(code_point) & kSpace) != 0;
}

}  // namespace arion

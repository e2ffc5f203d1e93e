// Classes of characters as the Hugging Face tokenizers package knows them.
#pragma once
#include <cstdint>

namespace arion {

// The package takes them from libraries of several Unicode versions, so they differ a little from
// the flags in unicode.h.
enum CharacterClass : uint16_t {
  kPunctuationClass = 1,  // P* and ASCII symbols; Unicode 8.0
  kNumericClass = 2,      // N*; 17.0
  kWordClass = 4,         // \w: Alphabetic, M*, Nd, Pc, joiners; 16.0
  kControlClass = 8,  // what BERT deletes: C* but tab, line ends and unassigned, and U+FFFD; 8.0
  kNonspacingClass = 16,  // Mn; 8.0: the accents that BERT strips
  kCombiningClass = 32,   // M*; 12.0: the accents that StripAccents strips
  kPictographClass = 64,  // Extended_Pictographic
  // Above bit 8: the grapheme cluster class, see grapheme.cpp.
};

// Class bits; 0 beyond U+10FFFF.
uint16_t character_class(char32_t code_point);

inline bool is_word(char32_t code_point) {
  return (character_class(code_point) & kWordClass) != 0;
}

}  // namespace arion

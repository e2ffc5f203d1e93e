// UTF-8 decoding that survives any bytes, and encoding.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace arion {

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

Utf8Char decode_utf8_beyond_ascii(std::string_view text);  // part of decode_utf8

// The first character of `text`, which must not be empty.
inline Utf8Char decode_utf8(std::string_view text) {
  const uint8_t first = static_cast<uint8_t>(text[0]);
  return first < 0x80 ? Utf8Char{first, 1, true, false} : decode_utf8_beyond_ascii(text);
}

void append_utf8(std::string& out, char32_t code_point);

// With U+FFFD for every ill-formed maximal subpart.
std::string repair_utf8(std::string_view bytes);

}  // namespace arion

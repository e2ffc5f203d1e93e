// Characters of a text with their class flags, for scanners.
#pragma once
#include <array>
#include <string_view>

#include "text/unicode.h"

namespace arion {

// A character with its class flags; `end` is behind it.
struct ScannedChar {
  char32_t code_point;
  uint16_t flags;
  const char* end;
};

inline constexpr std::array<uint16_t, 128> kAsciiFlags = [] {
  std::array<uint16_t, 128> flags{};
  for (int c = 'A'; c <= 'Z'; ++c) flags[c] = kLetter | kUpper | kWord;
  for (int c = 'a'; c <= 'z'; ++c) flags[c] = kLetter | kLower | kWord;
  for (int c = '0'; c <= '9'; ++c) flags[c] = kNumber | kDigit | kWord;
  for (int c = '\t'; c <= '\r'; ++c) flags[c] = kSpace;
  flags[' '] = kSpace;
  for (const char c : std::string_view("!\"#%&'()*,-./:;?@[\\]{}")) flags[c] = kPunctuation;
  for (const char c : std::string_view("$+<=>^`|~")) flags[c] = kSymbol;
  flags['_'] = kPunctuation | kWord;
  return flags;
}();

// The character at `at`, which must be before `end`. Ill-formed bytes count as U+FFFD.
inline ScannedChar read_char(const char* at, const char* end) {
  const uint8_t byte = static_cast<uint8_t>(*at);
  if (byte < 0x80) return {byte, kAsciiFlags[byte], at + 1};
  const Utf8Char c = decode_utf8({at, static_cast<size_t>(end - at)});
  return {c.code_point, unicode_flags(c.code_point), at + c.length};
}

// Skips characters whose flags, masked, equal `value`.
inline const char* skip_chars(const char* at, const char* end, uint16_t mask, uint16_t value) {
  while (at < end) {
    const ScannedChar c = read_char(at, end);
    if ((c.flags & mask) != value) break;
    at = c.end;
  }
  return at;
}

// Skips characters that have one of the flags.
inline const char* skip_any(const char* at, const char* end, uint16_t flags) {
  while (at < end) {
    const ScannedChar c = read_char(at, end);
    if ((c.flags & flags) == 0) break;
    at = c.end;
  }
  return at;
}

}  // namespace arion

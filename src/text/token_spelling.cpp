// The alphabet of GPT-2, the escapes of RWKV and the visible space of SentencePiece.
#include "text/token_spelling.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "text/unicode.h"

namespace arion {
namespace {

// GPT-2 spells printable Latin-1 bytes as themselves and the other 68, in order, as U+0100...
constexpr bool spells_itself(int byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

// Byte for each code point below U+0144, -1 where the alphabet has none.
constexpr int kAlphabetEnd = 256 + 68;
constexpr std::array<int16_t, kAlphabetEnd> kBytes = [] {
  std::array<int16_t, kAlphabetEnd> bytes{};
  bytes.fill(-1);
  int next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    bytes[spells_itself(byte) ? byte : next++] = static_cast<int16_t>(byte);
  }
  return bytes;
}();

constexpr std::array<char16_t, 256> kSpellings = [] {
  std::array<char16_t, 256> spellings{};
  for (int c = 0; c < kAlphabetEnd; ++c) {
    if (kBytes[c] >= 0) spellings[kBytes[c]] = static_cast<char16_t>(c);
  }
  return spellings;
}();

// The byte that a character spells, or -1.
int byte_of(const Utf8Char& c) {
  return c.is_valid && c.code_point < kAlphabetEnd ? kBytes[c.code_point] : -1;
}

}  // namespace

std::string encode_byte_alphabet(std::string_view bytes) {
  std::string spelled;
  spelled.reserve(bytes.size() + bytes.size() / 2);
  for (const char byte : bytes) append_utf8(spelled, kSpellings[static_cast<uint8_t>(byte)]);
  return spelled;
}

std::string decode_byte_alphabet(std::string_view spelled) {
  std::string bytes;
  bytes.reserve(spelled.size());
  while (!spelled.empty()) {
    const Utf8Char c = decode_utf8(spelled);
    if (const int byte = byte_of(c); byte >= 0) {
      bytes.push_back(static_cast<char>(byte));
    } else {
      bytes.append(spelled.substr(0, c.length));
    }
    spelled.remove_prefix(c.length);
  }
  return bytes;
}

std::string decode_escapes(std::string_view spelled) {
  std::string bytes;
  for (size_t at = 0; at < spelled.size(); ++at) {
    if (spelled[at] != '\\' || at + 1 == spelled.size()) {
      bytes += spelled[at];
      continue;
    }
    const char escape = spelled[++at];
    const char* const digits = spelled.data() + at + 1;
    unsigned byte = 0;
    if (escape == 'x' && spelled.size() - at > 2 &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      bytes += static_cast<char>(byte);
      at += 2;
    } else {
      bytes += escape == 't' ? '\t' : escape == 'n' ? '\n' : escape == 'r' ? '\r' : escape;
    }
  }
  return bytes;
}

std::optional<std::string> decode_byte_spelling(std::string_view spelled) {
  for (std::string_view rest = spelled; !rest.empty();) {
    const Utf8Char c = decode_utf8(rest);
    if (byte_of(c) < 0) return std::nullopt;
    rest.remove_prefix(c.length);
  }
  return decode_byte_alphabet(spelled);
}

std::string spaces_from_underscores(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t found = std::min(text.find(kVisibleSpace, at), text.size());
    out.append(text.substr(at, found - at));
    if (found < text.size()) out.push_back(' ');
    at = found + kVisibleSpace.size();
  }
  return out;
}

}  // namespace arion

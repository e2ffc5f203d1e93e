// Walks the double array of darts-clone: 32-bit units, child at offset XOR byte.
#include "text/charsmap.h"

#include <cstring>

#include "base/error.h"
#include "text/grapheme.h"
#include "text/growth.h"
#include "text/unicode.h"

namespace arion {
namespace {

// The longest in use, for U+FDFA, has 33.
constexpr size_t kMaxReplacementBytes = 256;

// Bits of a unit (darts-clone, DoubleArrayUnit).
bool has_leaf(uint32_t unit) {
  return unit >> 8 & 1;
}
uint32_t label(uint32_t unit) {
  return unit & (1u << 31 | 0xFF);  // the top bit marks a value, which no byte equals
}
uint32_t offset(uint32_t unit) {
  return unit >> 10 << ((unit & 1u << 9) >> 6);
}
uint32_t value(uint32_t unit) {
  return unit & ~(1u << 31);
}

}  // namespace

Charsmap::Charsmap(std::string_view blob) {
  uint32_t trie_bytes = 0;
  if (blob.size() >= sizeof trie_bytes) std::memcpy(&trie_bytes, blob.data(), sizeof trie_bytes);
  if (trie_bytes == 0 || trie_bytes % 4 != 0 || trie_bytes > blob.size() - sizeof trie_bytes) {
    fail(ErrorCode::bad_input,
         "precompiled charsmap: its table has {} bytes of {} in all, the file may be truncated",
         trie_bytes, blob.size());
  }
  units_.resize(trie_bytes / 4);
  std::memcpy(units_.data(), blob.data() + sizeof trie_bytes, trie_bytes);
  replacements_ = blob.substr(sizeof trie_bytes + trie_bytes);
}

std::optional<Charsmap::Match> Charsmap::find(std::string_view text, bool wants_longest) const {
  std::optional<Match> match;
  uint32_t at = offset(units_[0]);
  for (size_t i = 0; i < text.size(); ++i) {
    const uint8_t byte = static_cast<uint8_t>(text[i]);
    if (byte == 0) break;  // ends a key
    at ^= byte;
    if (at >= units_.size() || label(units_[at]) != byte) break;
    const uint32_t unit = units_[at];
    at ^= offset(unit);
    if (!has_leaf(unit)) continue;
    const uint32_t begin = at < units_.size() ? value(units_[at]) : UINT32_MAX;
    if (begin >= replacements_.size()) break;
    const std::string_view rest =
        std::string_view(replacements_).substr(begin, kMaxReplacementBytes + 1);
    match = {i + 1, rest.substr(0, rest.find('\0'))};
    if (match->replacement.size() > kMaxReplacementBytes) {
      fail(ErrorCode::bad_input,
           "precompiled charsmap: its entry at byte {} is longer than {} bytes", begin,
           kMaxReplacementBytes);
    }
    if (!wants_longest) break;
  }
  return match;
}

std::string apply_longest(const Charsmap& charsmap, std::string_view text) {
  const size_t size = text.size();
  std::string out;
  out.reserve(size);
  while (!text.empty()) {
    if (const auto match = charsmap.longest(text)) {
      out += match->replacement;
      check_growth(size, out.size());
      text.remove_prefix(match->length);
      continue;
    }
    const Utf8Char c = decode_utf8(text);
    out += text.substr(0, c.length);
    text.remove_prefix(c.length);
  }
  return out;
}

std::string apply_to_graphemes(const Charsmap& charsmap, std::string_view text) {
  constexpr size_t kMaxGraphemeBytes = 5;
  const size_t size = text.size();
  std::string out;
  out.reserve(size);
  while (!text.empty()) {
    check_growth(size, out.size());
    const size_t length = first_grapheme(text);
    std::string_view grapheme = text.substr(0, length);
    text.remove_prefix(length);
    if (length <= kMaxGraphemeBytes) {
      if (const auto match = charsmap.shortest(grapheme)) {
        out += match->replacement;
        continue;
      }
    }
    while (!grapheme.empty()) {
      const std::string_view character = grapheme.substr(0, decode_utf8(grapheme).length);
      const auto match = charsmap.shortest(character);
      out += match ? match->replacement : character;
      grapheme.remove_prefix(character.size());
    }
  }
  return out;
}

}  // namespace arion

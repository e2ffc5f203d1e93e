// A strict UTF-8 decoder.
#include "base/utf8.h"

#include <cstddef>

namespace arion {
namespace {

// Allowed range of the second byte and the number of continuation bytes, by lead byte (Unicode 16,
// table 3-7): this is where overlong forms, surrogates and values over U+10FFFF are refused.
struct Lead {
  uint8_t continuation_count;
  uint8_t second_low;
  uint8_t second_high;
};

constexpr Lead lead_of(uint8_t byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {1, 0x80, 0xBF};
  if (byte == 0xE0) return {2, 0xA0, 0xBF};
  if (byte == 0xED) return {2, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {2, 0x80, 0xBF};
  if (byte == 0xF0) return {3, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {3, 0x80, 0xBF};
  if (byte == 0xF4) return {3, 0x80, 0x8F};
  return {0, 0, 0};
}

}  // namespace

Utf8Char decode_utf8_beyond_ascii(std::string_view text) {
  const uint8_t first = static_cast<uint8_t>(text[0]);
  const Lead lead = lead_of(first);
  if (lead.continuation_count == 0) return {kReplacement, 1, false, false};
  char32_t code_point = first & (0x3Fu >> lead.continuation_count);
  for (uint8_t i = 1; i <= lead.continuation_count; ++i) {
    if (i == text.size()) return {kReplacement, i, false, true};
    const uint8_t byte = static_cast<uint8_t>(text[i]);
    const uint8_t low = i == 1 ? lead.second_low : 0x80;
    const uint8_t high = i == 1 ? lead.second_high : 0xBF;
    if (byte < low || byte > high) return {kReplacement, i, false, false};
    code_point = code_point << 6 | (byte & 0x3Fu);
  }
  return {code_point, static_cast<uint8_t>(lead.continuation_count + 1), true, false};
}

void append_utf8(std::string& out, char32_t code_point) {
  const auto put = [&out](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | code_point >> 12);
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | code_point >> 18);
    put(0x80 | (code_point >> 12 & 0x3F));
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

std::string repair_utf8(std::string_view bytes) {
  std::string valid;
  valid.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size();) {
    const Utf8Char c = decode_utf8(bytes.substr(at));
    if (c.is_valid) {
      valid += bytes.substr(at, c.length);
    } else {
      append_utf8(valid, kReplacement);
    }
    at += c.length;
  }
  return valid;
}

}  // namespace arion

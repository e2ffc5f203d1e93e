// What Python's str methods know about code points.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace arion::jinja {

enum CharFlag : uint16_t {
  kAlpha = 1,
  kDecimal = 2,
  kDigit = 4,
  kNumeric = 8,
  kPrintable = 16,  // shown as it is by repr()
  kLowercase = 32,
  kUppercase = 64,
  kTitlecase = 128,
  kCaseIgnorable = 256,  // skipped when looking whether a sigma ends a word
  kWhitespace = 512,
};
constexpr uint16_t kCased = kLowercase | kUppercase | kTitlecase;
constexpr uint16_t kAlphanumeric = kAlpha | kDecimal | kDigit | kNumeric;

uint16_t char_flags(char32_t code_point);

enum class CaseMap : uint8_t { lower, upper, title, fold };

// Appends the full mapping of one character; one may become three.
void append_mapped(std::string& out, char32_t code_point, CaseMap map);

}  // namespace arion::jinja

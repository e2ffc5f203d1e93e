// The regexes of the splits, as alternatives tried in order at each position:
//
// gpt2         's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// digits_gpt2  first \p{N}, then gpt2 inside the pieces this leaves
// llama3       (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}
//              | ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
// qwen2        llama3 with \p{N} instead of \p{N}{1,3}
// generic      first [\p{P}$+<=>^~|]+, then gpt2, then \p{N}+, then [0-9][0-9][0-9]
#include "text/pre_tokenizer.h"

#include <array>
#include <string>

#include "base/error.h"
#include "text/unicode.h"

namespace arion {
namespace {

constexpr PreTokenizer kPreTokenizers[] = {
    {"default", Split::generic},
    {"gpt-2", Split::gpt2},
    {"phi-2", Split::gpt2},
    {"jina-es", Split::gpt2},
    {"jina-de", Split::gpt2},
    {"jina-v2-es", Split::gpt2},
    {"jina-v2-de", Split::gpt2},
    {"gigachat", Split::gpt2},
    {"a.x-4.0", Split::gpt2},
    {"mellum", Split::gpt2},
    {"modern-bert", Split::gpt2},
    {"exaone4", Split::gpt2},
    {"mpt", Split::gpt2},
    {"olmo", Split::gpt2},
    {"jais", Split::gpt2},
    {"trillion", Split::gpt2},
    {"granite-docling", Split::gpt2},
    {"starcoder", Split::digits_gpt2},
    {"refact", Split::digits_gpt2},
    {"command-r", Split::digits_gpt2},
    {"smollm", Split::digits_gpt2},
    {"codeshell", Split::digits_gpt2},
    {"exaone", Split::digits_gpt2},
    {"minerva-7b", Split::digits_gpt2},
    {"mellum2", Split::digits_gpt2},
    {"llama3", Split::llama3, true, true},
    {"llama-v3", Split::llama3, true, true},
    {"llama-bpe", Split::llama3, true, true},
    {"falcon3", Split::llama3, true, true},
    {"falcon-h1", Split::llama3, true, true},
    {"pixtral", Split::llama3, true, true},
    {"midm-2.0", Split::llama3, true, true},
    {"lfm2", Split::llama3, true, true},
    {"jina-v5-nano", Split::llama3, true, true},
    {"dbrx", Split::llama3},
    {"smaug-bpe", Split::llama3},
    {"glm4", Split::llama3},
    {"chatglm-bpe", Split::llama3},
    {"qwen2", Split::qwen2},
    {"deepseek-r1-qwen", Split::qwen2},
    {"kormo", Split::qwen2},
    {"f2llmv2", Split::qwen2},
    {"megrez", Split::qwen2},
    {"stablelm2", Split::qwen2},
    {"hunyuan", Split::qwen2},
    {"solar-open", Split::qwen2},
    {"grok-2", Split::qwen2},
};

// A character with its class flags; `end` is behind it.
struct Char {
  char32_t code_point;
  uint8_t flags;
  const char* end;
};

constexpr std::array<uint8_t, 128> kAsciiFlags = [] {
  std::array<uint8_t, 128> flags{};
  for (int c = 0; c < 128; ++c) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
      flags[c] = kLetter;
    else if (c >= '0' && c <= '9')
      flags[c] = kNumber;
    else if (c == ' ' || (c >= '\t' && c <= '\r'))
      flags[c] = kSpace;
  }
  for (const char c : std::string_view("!\"#%&'()*,-./:;?@[\\]_{}")) flags[c] = kPunctuation;
  return flags;
}();

inline Char char_at(const char* at, const char* end) {
  const uint8_t byte = static_cast<uint8_t>(*at);
  if (byte < 0x80) return {byte, kAsciiFlags[byte], at + 1};
  const Utf8Char c = decode_utf8({at, static_cast<size_t>(end - at)});
  return {c.code_point, unicode_flags(c.code_point), at + c.length};
}

bool is_newline(char32_t c) {
  return c == '\r' || c == '\n';
}

constexpr uint8_t kWordClasses = kLetter | kNumber | kSpace;  // what [^\s\p{L}\p{N}] excludes

// Skips characters whose flags, masked, equal `value`.
const char* skip(const char* at, const char* end, uint8_t mask, uint8_t value) {
  while (at < end) {
    const Char c = char_at(at, end);
    if ((c.flags & mask) != value) break;
    at = c.end;
  }
  return at;
}
const char* skip_letters(const char* at, const char* end) {
  return skip(at, end, kLetter, kLetter);
}

enum class Case : uint8_t { exact, folded };

// End of 's 't 're 've 'm 'll 'd at the apostrophe `at`, or null. Folding follows Unicode, where
// U+017F (long s) folds to s; no other character folds to one of these letters.
const char* contraction_end(const char* at, const char* end, Case letter_case) {
  const auto letter = [&](const char* p) -> char {
    if (p >= end) return 0;
    return letter_case == Case::folded && *p >= 'A' && *p <= 'Z' ? *p - 'A' + 'a' : *p;
  };
  switch (letter(at + 1)) {
    case 's':
    case 't':
    case 'm':
    case 'd':
      return at + 2;
    case 'r':
    case 'v':
      return letter(at + 2) == 'e' ? at + 3 : nullptr;
    case 'l':
      return letter(at + 2) == 'l' ? at + 3 : nullptr;
    default:
      if (letter_case == Case::folded && end - at > 2 && at[1] == '\xC5' && at[2] == '\xBF') {
        return at + 3;
      }
      return nullptr;
  }
}

// \s+(?!\S)|\s+ : the run of white space, but its last character stays for the word behind it
// unless it is all there is.
const char* space_end(const char* at, const char* end) {
  const char* last = at;
  const char* behind = at;
  while (behind < end) {
    const Char c = char_at(behind, end);
    if ((c.flags & kSpace) == 0) break;
    last = behind;
    behind = c.end;
  }
  return behind < end && last > at ? last : behind;
}

const char* gpt2_end(const char* at, const char* end) {
  Char first = char_at(at, end);
  if (first.code_point == '\'') {
    if (const char* behind = contraction_end(at, end, Case::exact)) return behind;
  }
  if (first.code_point == ' ' && first.end < end) {  // the optional space of three alternatives
    const Char second = char_at(first.end, end);
    if ((second.flags & kSpace) == 0) first = second;
  }
  if (first.flags & kLetter) return skip_letters(first.end, end);
  if (first.flags & kNumber) return skip(first.end, end, kNumber, kNumber);
  if ((first.flags & kSpace) == 0) return skip(first.end, end, kWordClasses, 0);
  return space_end(at, end);
}

const char* llama3_end(const char* at, const char* end, int max_numbers) {
  const Char first = char_at(at, end);
  if (first.flags & kLetter) return skip_letters(first.end, end);
  if (first.flags & kNumber) {
    const char* behind = first.end;
    for (int i = 1; i < max_numbers && behind < end; ++i) {
      const Char c = char_at(behind, end);
      if ((c.flags & kNumber) == 0) break;
      behind = c.end;
    }
    return behind;
  }
  if (first.code_point == '\'') {
    if (const char* behind = contraction_end(at, end, Case::folded)) return behind;
  }
  if (!is_newline(first.code_point) && first.end < end) {
    const Char second = char_at(first.end, end);
    if (second.flags & kLetter) return skip_letters(second.end, end);
    // " ?[^\s\p{L}\p{N}]+[\r\n]*" with the space
    if (first.code_point == ' ' && (second.flags & kWordClasses) == 0) {
      const char* behind = skip(second.end, end, kWordClasses, 0);
      while (behind < end && is_newline(*behind)) ++behind;
      return behind;
    }
  }
  if ((first.flags & kSpace) == 0) {
    const char* behind = skip(first.end, end, kWordClasses, 0);
    while (behind < end && is_newline(*behind)) ++behind;
    return behind;
  }
  // \s*[\r\n]+ takes the run of white space up to its last line end.
  const char* behind_newline = nullptr;
  for (const char* p = at; p < end;) {
    const Char c = char_at(p, end);
    if ((c.flags & kSpace) == 0) break;
    p = c.end;
    if (is_newline(c.code_point)) behind_newline = p;
  }
  return behind_newline != nullptr ? behind_newline : space_end(at, end);
}

bool is_generic_punctuation(const Char& c) {
  if (c.flags & kPunctuation) return true;
  return c.code_point < 0x80 &&
         std::string_view("$+<=>^~|").find(static_cast<char>(c.code_point)) !=
             std::string_view::npos;
}

}  // namespace

const PreTokenizer& find_pre_tokenizer(std::string_view name) {
  if (name.empty()) name = "default";
  std::string names;
  for (const PreTokenizer& entry : kPreTokenizers) {
    if (entry.name == name) return entry;
    if (!names.empty()) names += ", ";
    names += entry.name;
  }
  fail(ErrorCode::bad_input,
       "tokenizer.ggml.pre is \"{}\", a pre-tokenizer that is not supported; supported are {}",
       name.substr(0, 80), names);
}

WordScanner::WordScanner(Split split, std::string_view text)
    : split_(split), at_(text.data()), part_end_(at_), end_(at_ + text.size()) {
  const bool has_parts = split == Split::digits_gpt2 || split == Split::generic;
  if (!has_parts) part_end_ = end_;
}

std::string_view WordScanner::take(const char* end) {
  const std::string_view word(at_, static_cast<size_t>(end - at_));
  at_ = end;
  return word;
}

std::string_view WordScanner::next() {
  if (at_ == end_) return {};
  switch (split_) {
    case Split::gpt2:
      return take(gpt2_end(at_, end_));
    case Split::llama3:
      return take(llama3_end(at_, end_, 3));
    case Split::qwen2:
      return take(llama3_end(at_, end_, 1));
    case Split::digits_gpt2:
      if (at_ == part_end_) {
        const Char c = char_at(at_, end_);
        if (c.flags & kNumber) {
          part_end_ = c.end;
          return take(c.end);
        }
        part_end_ = skip(c.end, end_, kNumber, 0);
      }
      return take(gpt2_end(at_, part_end_));
    case Split::generic:
      break;
  }
  if (number_end_ != nullptr) return next_number();
  if (at_ == part_end_) part_end_ = generic_part_end();
  const char* word_end = gpt2_end(at_, part_end_);
  const Char first = char_at(at_, end_);
  const char* body = first.code_point == ' ' && first.end < word_end ? first.end : at_;
  if ((char_at(body, end_).flags & kNumber) == 0) return take(word_end);
  number_end_ = word_end;
  return body > at_ ? take(body) : next_number();
}

// End of the run of punctuation, or of everything else, that starts here.
const char* WordScanner::generic_part_end() const {
  const bool kind = is_generic_punctuation(char_at(at_, end_));
  const char* p = at_;
  while (p < end_) {
    const Char c = char_at(p, end_);
    if (is_generic_punctuation(c) != kind) break;
    p = c.end;
  }
  return p;
}

// Three ASCII digits in a row are a word, what lies between such words is one too.
std::string_view WordScanner::next_number() {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const char* p = at_;
  while (number_end_ - p >= 3 && !(is_digit(p[0]) && is_digit(p[1]) && is_digit(p[2]))) ++p;
  if (number_end_ - p < 3) p = number_end_;
  const std::string_view word = take(p > at_ ? p : at_ + 3);
  if (at_ == number_end_) number_end_ = nullptr;
  return word;
}

}  // namespace arion

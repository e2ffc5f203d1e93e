// One rule per regex: the end of the match at a place. Alternatives are tried in the regex's order
// wherever two of them could match.
#include "text/scanners.h"

#include "text/char_reader.h"

namespace arion {
namespace {

bool is_newline(char32_t c) {
  return c == '\r' || c == '\n';
}

constexpr uint16_t kWordClasses = kLetter | kNumber | kSpace;  // what [^\s\p{L}\p{N}] excludes

enum class Case : uint8_t { exact, folded };

// End of 's 't 're 've 'm 'll 'd at `at`, or null. Folding follows Unicode, where U+017F (long s)
// folds to s; no other character folds to one of these letters.
const char* contraction_end(const char* at, const char* end, Case letter_case) {
  if (at >= end || *at != '\'') return nullptr;
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
    const ScannedChar c = read_char(behind, end);
    if ((c.flags & kSpace) == 0) break;
    last = behind;
    behind = c.end;
  }
  return behind < end && last > at ? last : behind;
}

// \s*[\r\n]+|\s+(?!\S)|\s+ : a run of white space up to its last line end, if it has one.
const char* space_or_newline_end(const char* at, const char* end) {
  const char* behind_newline = nullptr;
  for (const char* p = at; p < end;) {
    const ScannedChar c = read_char(p, end);
    if ((c.flags & kSpace) == 0) break;
    p = c.end;
    if (is_newline(c.code_point)) behind_newline = p;
  }
  return behind_newline != nullptr ? behind_newline : space_end(at, end);
}

const char* numbers_end(const char* at, const char* end, int most) {
  for (int i = 0; i < most && at < end; ++i) {
    const ScannedChar c = read_char(at, end);
    if ((c.flags & kNumber) == 0) break;
    at = c.end;
  }
  return at;
}

struct Gpt2Rule {
  static const char* end(const char* at, const char* end) {
    ScannedChar first = read_char(at, end);
    if (const char* behind = contraction_end(at, end, Case::exact)) return behind;
    if (first.code_point == ' ' && first.end < end) {  // the optional space of three alternatives
      const ScannedChar second = read_char(first.end, end);
      if ((second.flags & kSpace) == 0) first = second;
    }
    if (first.flags & kLetter) return skip_any(first.end, end, kLetter);
    if (first.flags & kNumber) return skip_any(first.end, end, kNumber);
    if ((first.flags & kSpace) == 0) return skip_chars(first.end, end, kWordClasses, 0);
    return space_end(at, end);
  }
};

// Llama 3 and Qwen. `kLetters`: the flags of a letter; `kMostNumbers`: of a group.
template <uint16_t kLetters, int kMostNumbers>
struct LlamaRule {
  static constexpr uint16_t kNoSymbol = kLetters | kNumber | kSpace;

  static const char* symbols_end(const char* at, const char* end) {
    at = skip_chars(at, end, kNoSymbol, 0);
    while (at < end && is_newline(*at)) ++at;
    return at;
  }

  static const char* end(const char* at, const char* end) {
    const ScannedChar first = read_char(at, end);
    if (first.flags & kLetters) return skip_any(first.end, end, kLetters);
    if (first.flags & kNumber) return numbers_end(at, end, kMostNumbers);
    if (const char* behind = contraction_end(at, end, Case::folded)) return behind;
    if (!is_newline(first.code_point) && first.end < end) {
      const ScannedChar second = read_char(first.end, end);
      if (second.flags & kLetters) return skip_any(second.end, end, kLetters);
      if (first.code_point == ' ' && (second.flags & kNoSymbol) == 0) {
        return symbols_end(second.end, end);
      }
    }
    if ((first.flags & kSpace) == 0) return symbols_end(first.end, end);
    return space_or_newline_end(at, end);
  }
};

// GPT-4o and Tekken: words end where a lower-case part does.
template <int kMostNumbers, bool kHasContractions>
struct CasedRule {
  // [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}] and [\p{Ll}\p{Lm}\p{Lo}\p{M}]
  static bool is_upper(const ScannedChar& c) {
    return (c.flags & (kLetter | kMark)) != 0 && (c.flags & kLower) == 0;
  }
  static bool is_lower(const ScannedChar& c) {
    return (c.flags & (kLetter | kMark)) != 0 && (c.flags & kUpper) == 0;
  }

  struct Letters {
    const char* lower_end;  // of upper* lower+, or null
    const char* upper_end;  // of the run of upper, `at` if it is empty
  };
  static Letters letters_end(const char* at, const char* end) {
    const char* p = at;
    const char* both_end = nullptr;  // behind the last character that counts as lower, too
    while (p < end) {
      const ScannedChar c = read_char(p, end);
      if (!is_upper(c)) return {is_lower(c) ? lower_end(c.end, end) : both_end, p};
      p = c.end;
      if (is_lower(c)) both_end = p;
    }
    return {both_end, p};
  }

  static const char* lower_end(const char* at, const char* end) {
    while (at < end) {
      const ScannedChar c = read_char(at, end);
      if (!is_lower(c)) break;
      at = c.end;
    }
    return at;
  }

  static const char* word_end(const char* at, const char* end) {
    if constexpr (kHasContractions) {
      if (const char* behind = contraction_end(at, end, Case::folded)) return behind;
    }
    return at;
  }

  static const char* end(const char* at, const char* end) {
    const ScannedChar first = read_char(at, end);
    const bool is_prefix =
        !is_newline(first.code_point) && (first.flags & (kLetter | kNumber)) == 0;
    Letters with_prefix = {nullptr, first.end};
    if (is_prefix) with_prefix = letters_end(first.end, end);
    if (with_prefix.lower_end) return word_end(with_prefix.lower_end, end);
    Letters plain = {nullptr, at};
    if (first.flags & (kLetter | kMark)) plain = letters_end(at, end);
    if (plain.lower_end) return word_end(plain.lower_end, end);
    if (with_prefix.upper_end > first.end) return word_end(with_prefix.upper_end, end);
    if (plain.upper_end > at) return word_end(plain.upper_end, end);

    if (first.flags & kNumber) return numbers_end(at, end, kMostNumbers);
    ScannedChar symbol = first;
    if (first.code_point == ' ' && first.end < end) symbol = read_char(first.end, end);
    if ((symbol.flags & kWordClasses) == 0) {
      const char* p = skip_chars(symbol.end, end, kWordClasses, 0);
      while (p < end && (is_newline(*p) || *p == '/')) ++p;
      return p;
    }
    return space_or_newline_end(at, end);
  }
};

struct NumberRule {
  static const char* end(const char* at, const char* end) { return numbers_end(at, end, 1); }
};

struct Numbers3Rule {
  static const char* end(const char* at, const char* end) { return numbers_end(at, end, 3); }
};

struct HanKanaRule {
  static const char* end(const char* at, const char* end) {
    while (at < end && static_cast<uint8_t>(*at) >= 0xE3) {
      const ScannedChar c = read_char(at, end);
      const bool is_one = (c.code_point >= 0x3040 && c.code_point <= 0x30FF) ||
                          (c.code_point >= 0x4E00 && c.code_point <= 0x9FA5);
      if (!is_one) break;
      at = c.end;
    }
    return at;
  }
};

struct DeepSeek3Rule {
  static constexpr uint16_t kLetters = kLetter | kMark, kSymbols = kPunctuation | kSymbol;

  static bool is_ascii_letter(const char* at, const char* end) {
    return at < end && ((*at >= 'A' && *at <= 'Z') || (*at >= 'a' && *at <= 'z'));
  }

  static const char* end(const char* at, const char* end) {
    const ScannedChar first = read_char(at, end);
    if (first.flags & kLetters) return skip_any(first.end, end, kLetters);
    ScannedChar symbol = first;
    if (first.flags & kSymbols) {
      if (first.code_point < 0x80 && is_ascii_letter(first.end, end)) {
        const char* p = first.end;
        while (is_ascii_letter(p, end)) ++p;
        return p;
      }
    } else if (!is_newline(first.code_point) && first.end < end) {
      const ScannedChar second = read_char(first.end, end);
      if (second.flags & kLetters) return skip_any(second.end, end, kLetters);
      if (first.code_point == ' ') symbol = second;
    }
    if (symbol.flags & kSymbols) {
      const char* p = skip_any(symbol.end, end, kSymbols);
      while (p < end && is_newline(*p)) ++p;
      return p;
    }
    return (first.flags & kSpace) != 0 ? space_or_newline_end(at, end) : at;
  }
};

// Characters where the rule does not match, which shows as an empty match, stay together.
template <class Rule>
void scan(std::string_view text, Word piece, std::vector<Word>& words) {
  const char* const begin = text.data();
  const char* const end = begin + piece.end;
  const auto offset = [begin](const char* p) { return static_cast<uint32_t>(p - begin); };
  const char* at = begin + piece.begin;
  const char* done = at;
  while (at < end) {
    const char* const behind = Rule::end(at, end);
    if (behind == at) {
      at = read_char(at, end).end;
      continue;
    }
    if (at > done) words.push_back({offset(done), offset(at)});
    words.push_back({offset(at), offset(behind)});
    done = at = behind;
  }
  if (at > done) words.push_back({offset(done), offset(at)});
}

// Digits in threes from the right. `kThousands` takes runs only that end a word, and each group is
// a match; `kThousandsCut` takes any run and only cuts in it.
enum class Thousands : uint8_t { match, cut };

template <Thousands kKind>
void scan_thousands(std::string_view text, Word piece, std::vector<Word>& words) {
  const char* const begin = text.data();
  const char* const end = begin + piece.end;
  uint32_t done = piece.begin;
  const auto cut = [&](const char* p) {
    const uint32_t offset = static_cast<uint32_t>(p - begin);
    if (offset > done) words.push_back({done, offset});
    done = offset;
  };
  for (const char* at = begin + piece.begin; at < end;) {
    const ScannedChar first = read_char(at, end);
    if ((first.flags & kDigit) == 0) {
      at = first.end;
      continue;
    }
    size_t count = 0;
    const char* run_end = at;
    uint16_t next_flags = 0;
    while (run_end < end) {
      const ScannedChar c = read_char(run_end, end);
      next_flags = c.flags;
      if ((c.flags & kDigit) == 0) break;
      run_end = c.end;
      next_flags = 0;
      ++count;
    }
    if (kKind == Thousands::match && (next_flags & kWord)) {
      at = run_end;
      continue;
    }
    if (kKind == Thousands::match) cut(at);
    for (; at < run_end; --count) {
      if (count % 3 == 0) cut(at);
      at = read_char(at, end).end;
    }
    if (kKind == Thousands::match) cut(run_end);
  }
  cut(end);
}

struct Entry {
  std::string_view pattern;
  Scan scan;
};
constexpr Entry kScanners[] = {
    {pattern::kNumber, scan<NumberRule>},
    {pattern::kNumbers3, scan<Numbers3Rule>},
    {pattern::kThousands, scan_thousands<Thousands::match>},
    {pattern::kThousandsCut, scan_thousands<Thousands::cut>},
    {pattern::kGpt2, scan<Gpt2Rule>},
    {pattern::kLlama3, scan<LlamaRule<kLetter, 3>>},
    {pattern::kQwen2, scan<LlamaRule<kLetter, 1>>},
    {pattern::kQwen35, scan<LlamaRule<kLetter | kMark, 1>>},
    {pattern::kGpt4o, scan<CasedRule<3, true>>},
    {pattern::kTekken, scan<CasedRule<1, false>>},
    {pattern::kHanKana, scan<HanKanaRule>},
    {pattern::kDeepSeek3, scan<DeepSeek3Rule>},
};

}  // namespace

Scan find_scanner(std::string_view pattern) {
  for (const Entry& entry : kScanners) {
    if (entry.pattern == pattern) return entry.scan;
  }
  return nullptr;
}

std::vector<std::string_view> scanned_patterns() {
  std::vector<std::string_view> patterns;
  for (const Entry& entry : kScanners) patterns.push_back(entry.pattern);
  return patterns;
}

}  // namespace arion

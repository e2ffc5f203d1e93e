// Searching by predicate, by memmem, by scanner and by PCRE2.
#include "text/pattern.h"

#include <chrono>
#include <utility>

#include "base/error.h"
#include "text/regex.h"
#include "text/scanners.h"
#include "text/unicode.h"

namespace arion {
namespace {

class CharPattern final : public Pattern {
 public:
  explicit CharPattern(CharPredicate predicate) : predicate_(predicate) {}
  void find(std::string_view text, std::vector<TextRange>& matches) const override {
    matches.clear();
    for (size_t at = 0; at < text.size();) {
      const Utf8Char c = decode_utf8(text.substr(at));
      if (predicate_(c.code_point)) matches.push_back({at, at + c.length});
      at += c.length;
    }
  }

 private:
  CharPredicate predicate_;
};

class LiteralPattern final : public Pattern {
 public:
  explicit LiteralPattern(std::string literal) : literal_(std::move(literal)) {}
  void find(std::string_view text, std::vector<TextRange>& matches) const override {
    matches.clear();
    for (size_t at = text.find(literal_); at != std::string_view::npos;) {
      matches.push_back({at, at + literal_.size()});
      at = text.find(literal_, at + literal_.size());
    }
  }

 private:
  std::string literal_;
};

// A regex that matches every part of a text, so that the words of its scanner are its matches.
class ScannerPattern final : public Pattern {
 public:
  explicit ScannerPattern(Scan scan) : scan_(scan) {}
  void find(std::string_view text, std::vector<TextRange>& matches) const override {
    std::vector<Word> words;
    scan_(text, {0, static_cast<uint32_t>(text.size())}, words);
    matches.clear();
    for (const Word word : words) matches.push_back({word.begin, word.end});
  }

 private:
  Scan scan_;
};

bool matches_everything(std::string_view regex) {
  return regex == pattern::kGpt2 || regex == pattern::kLlama3 || regex == pattern::kQwen2 ||
         regex == pattern::kQwen35 || regex == pattern::kGpt4o || regex == pattern::kTekken;
}

// A text of the same length that is well-formed: bytes that are not UTF-8 become control
// characters, which patterns treat like U+FFFD. Empty if nothing had to change.
std::string well_formed_copy(std::string_view text) {
  constexpr char kSubstitute = '\x1A';
  std::string copy;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = decode_utf8(text.substr(at));
    if (!c.is_valid) {
      if (copy.empty()) copy = text;
      copy.replace(at, c.length, c.length, kSubstitute);
    }
    at += c.length;
  }
  return copy;
}

// One match is bounded by its number of steps, but a pattern may look at all of the text at every
// place. This ends it.
class Stopwatch {
 public:
  explicit Stopwatch(size_t bytes)
      : end_(Clock::now() + std::chrono::seconds(2) + std::chrono::microseconds(4) * bytes) {}
  void check(const Regex& regex) {
    if (++calls_ % 64 != 0 || Clock::now() < end_) return;
    fail(ErrorCode::bad_input,
         "the text takes too long to search for the regular expression \"{}\"",
         regex.pattern().substr(0, 200));
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
  unsigned calls_ = 0;
};

class RegexPattern final : public Pattern {
 public:
  explicit RegexPattern(std::string_view regex) : regex_(regex) {}
  void find(std::string_view text, std::vector<TextRange>& matches) const override {
    matches.clear();
    const std::string copy = well_formed_copy(text);
    if (!copy.empty()) text = copy;
    RegexMatcher matcher;
    Stopwatch stopwatch(text.size());
    size_t last_end = SIZE_MAX;
    for (size_t at = 0; at <= text.size();) {
      stopwatch.check(regex_);
      const auto match = matcher.find(regex_, text, at);
      if (!match) break;
      const bool is_empty = match->begin == match->end;
      // As in the package an empty match directly behind another one does not count.
      if (!is_empty || match->begin != last_end) matches.push_back(*match);
      last_end = match->end;
      at = match->end;
      if (is_empty) at += at < text.size() ? decode_utf8(text.substr(at)).length : 1;
    }
  }

 private:
  Regex regex_;
};

}  // namespace

std::unique_ptr<const Pattern> make_char_pattern(CharPredicate predicate) {
  return std::make_unique<CharPattern>(predicate);
}

std::unique_ptr<const Pattern> make_literal_pattern(std::string literal) {
  if (literal.empty()) fail(ErrorCode::bad_input, "a pattern of the tokenizer is an empty string");
  return std::make_unique<LiteralPattern>(std::move(literal));
}

std::unique_ptr<const Pattern> make_regex_pattern(std::string_view regex) {
  if (matches_everything(regex)) return std::make_unique<ScannerPattern>(find_scanner(regex));
  return std::make_unique<RegexPattern>(regex);
}

}  // namespace arion

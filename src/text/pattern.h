// What a pre-tokenizer splits at and a normalizer replaces.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/text_range.h"

namespace arion {

// Immutable: thread-safe.
class Pattern {
 public:
  Pattern() = default;
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  virtual ~Pattern() = default;
  // Replaces `matches` by the matches in `text`, from left to right, without overlap; they may be
  // empty ranges. `text` may be any bytes.
  virtual void find(std::string_view text, std::vector<TextRange>& matches) const = 0;
};

// Every character for which the predicate holds, one match each.
using CharPredicate = bool (*)(char32_t);
std::unique_ptr<const Pattern> make_char_pattern(CharPredicate predicate);
// Throws Error if `literal` is empty.
std::unique_ptr<const Pattern> make_literal_pattern(std::string literal);
// A regular expression of the Hugging Face tokenizers package. Those of widespread models are found
// by hand-written scanners, the others by PCRE2, which throws Error when a text takes too long.
std::unique_ptr<const Pattern> make_regex_pattern(std::string_view regex);

}  // namespace arion

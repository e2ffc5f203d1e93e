// Regular expressions as the Hugging Face tokenizers package understands them, matched by PCRE2.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "text/text_range.h"

struct pcre2_real_code_8;
struct pcre2_real_match_data_8;
struct pcre2_real_match_context_8;
struct pcre2_real_jit_stack_8;

namespace arion {

// The package uses Oniguruma in Ruby's syntax: \s, \d, \w, \p{..} and case folding follow Unicode,
// ^ and $ also match at line ends. Classes follow the Unicode version of the installed PCRE2.
// Immutable: thread-safe.
class Regex {
 public:
  // Throws Error with the place where a pattern is wrong or has no PCRE2 equivalent (sets inside
  // sets and their intersections).
  explicit Regex(std::string_view pattern);

  const std::string& pattern() const { return pattern_; }
  const pcre2_real_code_8* code() const { return code_.get(); }
  bool has_jit() const { return has_jit_; }

 private:
  struct Free {
    void operator()(pcre2_real_code_8* code) const;
  };
  std::string pattern_;
  std::unique_ptr<pcre2_real_code_8, Free> code_;
  bool has_jit_ = false;
};

// Finds matches of any regexes. Holds scratch memory: one per thread.
class RegexMatcher {
 public:
  RegexMatcher();
  // Leftmost match at or behind `from`, perhaps empty. `text` must be well-formed UTF-8 and counts
  // as all there is. Throws Error if the search takes too many steps.
  std::optional<TextRange> find(const Regex& regex, std::string_view text, size_t from);

 private:
  struct Free {
    void operator()(pcre2_real_match_data_8* data) const;
    void operator()(pcre2_real_match_context_8* context) const;
    void operator()(pcre2_real_jit_stack_8* stack) const;
  };
  std::unique_ptr<pcre2_real_match_context_8, Free> context_;
  std::unique_ptr<pcre2_real_jit_stack_8, Free> jit_stack_;
  std::unique_ptr<pcre2_real_match_data_8, Free> data_;
};

}  // namespace arion

// Cuts a text into words by regexes, as byte-level BPE wants it before merging.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "text/regex.h"
#include "text/scanners.h"

namespace arion {

// Runs regexes one after the other: in every piece that the one before left, matches become pieces
// and what lies between two matches is one too; an empty match only cuts. No piece is lost. This is
// `Split` with behaviour `isolated` of the Hugging Face tokenizers package. Thread-safe.
class WordSplitter {
 public:
  // Hand-written scanners stand in for the regexes of scanners.h. Throws Error for a bad regex.
  explicit WordSplitter(std::span<const std::string_view> patterns);

  // Appends the words of `text` in order. Ill-formed UTF-8 counts as U+FFFD, one per maximal
  // subpart. Throws Error if a regex takes too many steps.
  void split(std::string_view text, std::vector<Word>& words) const;

 private:
  using Step = std::variant<Scan, Regex>;
  void run(const Step& step, std::string_view text, std::span<const Word> pieces,
           std::vector<Word>& words) const;
  void split_well_formed(std::string_view text, std::vector<Word>& words) const;

  std::vector<Step> steps_;
  bool needs_well_formed_;  // PCRE2 takes no other text
};

}  // namespace arion

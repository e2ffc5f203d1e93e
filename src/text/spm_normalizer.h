// How SentencePiece rewrites a text before it cuts it into pieces.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "text/charsmap.h"
#include "text/prefix_trie.h"
#include "text/vocabulary.h"

namespace arion {

// Immutable: thread-safe.
class SpmNormalizer {
 public:
  // Takes the charsmap, the flags and the user-defined tokens, which are never rewritten.
  explicit SpmNormalizer(const Vocabulary& vocabulary);

  // The text as the pieces spell it, with spaces for U+2581. Empty if only white space is removed.
  std::string apply(std::string_view text) const;

 private:
  struct Step {
    std::string_view replacement;
    size_t length;  // bytes of the text
  };
  Step first_step(std::string_view text) const;

  std::optional<Charsmap> charsmap_;
  PrefixTrie user_defined_;
  bool adds_prefix_;
  bool removes_spaces_;  // at both ends, and all but one of several
};

}  // namespace arion

// WordPiece (Schuster and Nakajima 2012, as in BERT): the longest token that a word begins with,
// then the longest that goes on, and so on.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/prefix_trie.h"

namespace arion {

// Immutable: thread-safe.
class WordPiece {
 public:
  // `starts` are tokens that a word may begin with, `continuations` those behind, without the
  // prefix that marks them. Words with more characters than `max_chars` are unknown.
  WordPiece(std::vector<PrefixTrie::Key> starts, std::vector<PrefixTrie::Key> continuations,
            size_t max_chars);

  // Appends the ids of `word`. False and nothing appended if it cannot be cut into tokens.
  bool encode(std::string_view word, std::vector<int32_t>& ids) const;

 private:
  PrefixTrie starts_;
  PrefixTrie continuations_;
  size_t max_chars_;
};

}  // namespace arion

// Tokens that are cut out of a text before it is tokenized.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/normalizer.h"
#include "text/prefix_trie.h"
#include "text/text_range.h"

namespace arion {

struct AddedToken {
  std::string content;
  int32_t id = 0;
  bool is_single_word = false;  // only between characters that are not part of words
  bool strips_left = false;     // takes the white space in front of it away
  bool strips_right = false;
  bool is_normalized = true;  // looked for in the normalized text
  bool is_special = false;    // control token: no part of a text
};

// Immutable: thread-safe.
class AddedTokens {
 public:
  AddedTokens() : AddedTokens({}, nullptr) {}
  // Of tokens with the same content the first one counts; special ones go first.
  AddedTokens(std::vector<AddedToken> tokens, const Normalizer* normalizer);

  // A token, or text between tokens.
  struct Segment {
    size_t begin, end;
    std::optional<int32_t> id;
  };
  // Cuts at the tokens to be found before normalization, leftmost first and among those the
  // longest. Special tokens count only inside one of `control_ranges`, ascending parts of the text.
  std::vector<Segment> cut_raw(std::string_view text,
                               std::span<const TextRange> control_ranges) const;
  // The same behind normalization. `finds_special`: the whole text may hold control tokens.
  std::vector<Segment> cut_normalized(std::string_view text, bool finds_special) const;

  const AddedToken* find(int32_t id) const;
  // What the token looks like in a text: its content, normalized if it is looked for so. Empty if
  // `id` is none of these tokens.
  std::string_view shown(int32_t id) const;
  bool is_special(std::string_view spelling) const;
  std::span<const AddedToken> tokens() const { return tokens_; }

 private:
  std::optional<size_t> find_place(int32_t id) const;
  template <class IsAllowed>
  std::vector<Segment> cut(std::string_view text, const PrefixTrie& trie,
                           const IsAllowed& is_allowed) const;

  std::vector<AddedToken> tokens_;  // special ones first
  std::vector<size_t> by_id_;       // places in tokens_ by ascending id
  std::vector<std::string> shown_;
  // To places in tokens_. A text of which only parts may hold control tokens is not cut by those
  // behind normalization, where the parts are no longer known, but before it.
  PrefixTrie raw_, raw_and_special_, normalized_;
};

}  // namespace arion

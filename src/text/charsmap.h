// The normalization table that SentencePiece compiles into its models.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace arion {

// "precompiled_charsmap": a double-array trie (darts-clone) whose values are places in a pool of
// replacement strings that end with a zero byte. Immutable: thread-safe.
class Charsmap {
 public:
  // Throws Error if the blob is cut off. Offsets inside it are checked when they are followed.
  explicit Charsmap(std::string_view blob);

  struct Match {
    size_t length;  // bytes of the text that are replaced, at least 1
    std::string_view replacement;
  };
  // The longest, or the shortest, key that `text` begins with.
  std::optional<Match> longest(std::string_view text) const { return find(text, true); }
  std::optional<Match> shortest(std::string_view text) const { return find(text, false); }

 private:
  std::optional<Match> find(std::string_view text, bool wants_longest) const;

  std::vector<uint32_t> units_;
  std::string replacements_;
};

// What SentencePiece does: at every place the longest key is replaced; a character without a key
// stays.
std::string apply_longest(const Charsmap& charsmap, std::string_view text);

// What the Hugging Face tokenizers package does: a grapheme cluster of at most 5 bytes that begins
// with a key is replaced as a whole by the value of its shortest key, else this is tried with each
// of its characters.
std::string apply_to_graphemes(const Charsmap& charsmap, std::string_view text);

}  // namespace arion

// Spellings with escapes, and the walk over the trie.
#include "text/longest_match.h"

#include "text/token_spelling.h"

namespace arion {

LongestMatch::LongestMatch(const Vocabulary& vocabulary) : unknown_(vocabulary.special.unknown) {
  for (const std::string& token : vocabulary.tokens) bytes_.add(decode_escapes(token));
  std::vector<SpecialMatcher::Token> tokens;
  for (int32_t id = 0; id < bytes_.size(); ++id) {
    if (vocabulary.type(id) != TokenType::normal) continue;
    tokens.push_back({.text = bytes_[id], .id = id, .is_control = false});
  }
  matcher_.emplace(tokens);
}

void LongestMatch::encode(std::string_view text, std::vector<int32_t>& ids) const {
  for (size_t at = 0; at < text.size();) {
    const auto match = matcher_->find(text, at, {});
    const bool has_gap = match.length == 0 || match.begin > at;
    if (has_gap && unknown_) ids.push_back(*unknown_);
    if (match.length == 0) return;
    ids.push_back(match.id);
    at = match.begin + match.length;
  }
}

}  // namespace arion

// Greedy longest match. A match that ends inside a character cannot happen: tokens are whole ones.
#include "text/wordpiece.h"

#include <utility>

#include "text/unicode.h"

namespace arion {

WordPiece::WordPiece(std::vector<PrefixTrie::Key> starts,
                     std::vector<PrefixTrie::Key> continuations, size_t max_chars)
    : starts_(std::move(starts)), continuations_(std::move(continuations)), max_chars_(max_chars) {}

bool WordPiece::encode(std::string_view word, std::vector<int32_t>& ids) const {
  size_t chars = 0;
  for (size_t at = 0; at < word.size(); at += decode_utf8(word.substr(at)).length) {
    if (++chars > max_chars_) return false;
  }
  const size_t old_size = ids.size();
  for (size_t at = 0; at < word.size();) {
    const auto match = (at == 0 ? starts_ : continuations_).longest_prefix(word.substr(at));
    if (match.length == 0) {
      ids.resize(old_size);
      return false;
    }
    ids.push_back(match.value);
    at += match.length;
  }
  return true;
}

}  // namespace arion

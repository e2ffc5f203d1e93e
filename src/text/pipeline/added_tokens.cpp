// Matching with the flags, as AddedVocabulary of the Hugging Face tokenizers package does.
#include "text/pipeline/added_tokens.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "text/character_class.h"
#include "text/unicode.h"

namespace arion {
namespace {

// Place where the last character of `text`, not empty, begins.
size_t last_char(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && text.size() - at < 4 && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80) --at;
  const bool is_whole = at + decode_utf8(text.substr(at)).length == text.size();
  return is_whole ? at : text.size() - 1;
}

bool ends_with_word(std::string_view text) {
  return !text.empty() && is_word(decode_utf8(text.substr(last_char(text))).code_point);
}
bool starts_with_word(std::string_view text) {
  return !text.empty() && is_word(decode_utf8(text).code_point);
}

// Place where the white space at the end of `text` begins.
size_t trailing_spaces(std::string_view text) {
  while (!text.empty()) {
    const size_t at = last_char(text);
    if (!is_space(decode_utf8(text.substr(at)).code_point)) break;
    text = text.substr(0, at);
  }
  return text.size();
}
// Place where the white space at the beginning of `text` ends.
size_t leading_spaces(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const Utf8Char c = decode_utf8(text.substr(at));
    if (!is_space(c.code_point)) break;
    at += c.length;
  }
  return at;
}

template <class IsWanted>
PrefixTrie make_trie(const std::vector<AddedToken>& tokens, const IsWanted& is_wanted) {
  std::vector<PrefixTrie::Key> keys;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!is_wanted(tokens[i]) || tokens[i].content.empty()) continue;
    keys.push_back({tokens[i].content, static_cast<int32_t>(i)});
  }
  return PrefixTrie(std::move(keys));
}

PrefixTrie make_normalized_trie(const std::vector<AddedToken>& tokens,
                                const std::vector<std::string>& normalized) {
  std::vector<PrefixTrie::Key> keys;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is_normalized || normalized[i].empty()) continue;
    keys.push_back({normalized[i], static_cast<int32_t>(i)});
  }
  return PrefixTrie(std::move(keys));
}

std::vector<std::string> normalize(const std::vector<AddedToken>& tokens,
                                   const Normalizer* normalizer) {
  std::vector<std::string> contents;
  for (const AddedToken& token : tokens) {
    contents.push_back(token.content);
    if (token.is_normalized && normalizer != nullptr) normalizer->apply(contents.back());
  }
  return contents;
}

std::vector<AddedToken> special_first(std::vector<AddedToken> tokens) {
  std::stable_partition(tokens.begin(), tokens.end(),
                        [](const AddedToken& token) { return token.is_special; });
  return tokens;
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, const Normalizer* normalizer)
    : tokens_(special_first(std::move(tokens))),
      by_id_(tokens_.size()),
      shown_(normalize(tokens_, normalizer)),
      raw_(make_trie(tokens_, [](const AddedToken& t) { return !t.is_normalized; })),
      raw_and_special_(
          make_trie(tokens_, [](const AddedToken& t) { return !t.is_normalized || t.is_special; })),
      normalized_(make_normalized_trie(tokens_, shown_)) {
  std::iota(by_id_.begin(), by_id_.end(), 0);
  std::stable_sort(by_id_.begin(), by_id_.end(),
                   [this](size_t a, size_t b) { return tokens_[a].id < tokens_[b].id; });
}

std::optional<size_t> AddedTokens::find_place(int32_t id) const {
  const auto at =
      std::lower_bound(by_id_.begin(), by_id_.end(), id,
                       [this](size_t i, int32_t value) { return tokens_[i].id < value; });
  return at != by_id_.end() && tokens_[*at].id == id ? std::optional(*at) : std::nullopt;
}

const AddedToken* AddedTokens::find(int32_t id) const {
  const auto place = find_place(id);
  return place ? &tokens_[*place] : nullptr;
}

std::string_view AddedTokens::shown(int32_t id) const {
  const auto place = find_place(id);
  return place ? shown_[*place] : std::string_view();
}

bool AddedTokens::is_special(std::string_view spelling) const {
  const auto match = raw_and_special_.longest_prefix(spelling);
  return match.length > 0 && match.length == spelling.size() &&
         tokens_[static_cast<size_t>(match.value)].is_special;
}

template <class IsAllowed>
std::vector<AddedTokens::Segment> AddedTokens::cut(std::string_view text, const PrefixTrie& trie,
                                                   const IsAllowed& is_allowed) const {
  std::vector<Segment> segments;
  size_t text_begin = 0;  // of the text since the last token
  for (size_t at = 0; at < text.size();) {
    const AddedToken* token = nullptr;
    size_t length = 0;
    trie.for_each_prefix(text.substr(at), [&](size_t prefix_length, int32_t index) {
      const AddedToken& candidate = tokens_[static_cast<size_t>(index)];
      if (candidate.is_special && !is_allowed(TextRange{at, at + prefix_length})) return;
      token = &candidate;
      length = prefix_length;
    });
    if (token == nullptr) {
      ++at;
      continue;
    }
    size_t begin = at, end = at + length;
    at = end;
    const bool touches_word =
        ends_with_word(text.substr(0, begin)) || starts_with_word(text.substr(end));
    if (token->is_single_word && touches_word) continue;
    // White space that an earlier token took away is not there for this one.
    if (token->strips_left) {
      begin = std::max(text_begin, trailing_spaces(text.substr(0, begin)));
    }
    if (token->strips_right) end += leading_spaces(text.substr(end));
    if (text_begin < begin) segments.push_back({text_begin, begin, std::nullopt});
    segments.push_back({begin, end, token->id});
    text_begin = end;
  }
  if (text_begin < text.size()) segments.push_back({text_begin, text.size(), std::nullopt});
  return segments;
}

std::vector<AddedTokens::Segment> AddedTokens::cut_raw(
    std::string_view text, std::span<const TextRange> control_ranges) const {
  const bool is_mixed = !control_ranges.empty() &&
                        (control_ranges[0].begin > 0 || control_ranges[0].end < text.size());
  return cut(text, is_mixed ? raw_and_special_ : raw_, [&](TextRange place) {
    const auto range = std::upper_bound(control_ranges.begin(), control_ranges.end(), place.begin,
                                        [](size_t value, TextRange r) { return value < r.end; });
    return range != control_ranges.end() && range->begin <= place.begin && place.end <= range->end;
  });
}

std::vector<AddedTokens::Segment> AddedTokens::cut_normalized(std::string_view text,
                                                              bool finds_special) const {
  return cut(text, normalized_, [finds_special](TextRange) { return finds_special; });
}

}  // namespace arion

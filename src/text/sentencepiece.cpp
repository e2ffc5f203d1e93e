// SentencePiece BPE (Kudo and Richardson 2018) over a vocabulary with scores.
#include "text/sentencepiece.h"

#include <algorithm>
#include <numeric>

#include "text/token_spelling.h"
#include "text/unicode.h"

namespace arion {
namespace {

bool is_spelled_token(TokenType type) {
  using enum TokenType;
  return type == normal || type == undefined || type == unused || type == user_defined;
}

std::string bytes_of(const std::string& token, TokenType type) {
  if (type == TokenType::byte) return std::string(1, static_cast<char>(*parse_byte_token(token)));
  if (is_spelled_token(type)) return spaces_from_underscores(token);
  return token;
}

// A symbol for a character that is not looked up yet: negative, another one for any other bytes.
int32_t character_symbol(std::string_view bytes) {
  uint32_t symbol = 0;
  for (const char c : bytes) symbol = symbol << 8 | static_cast<uint8_t>(c);
  return static_cast<int32_t>(symbol | 0x80000000);
}

}  // namespace

SentencePiece::SentencePiece(const Vocabulary& vocabulary, SpacePrefix prefix)
    : prefix_(prefix),
      map_(bytes_, vocabulary.tokens.size()),
      ranks_(vocabulary.tokens.size()),
      unknown_(vocabulary.special.unknown),
      known_words_(vocabulary.tokens.size()) {
  byte_ids_.fill(kNoToken);
  const int32_t count = static_cast<int32_t>(vocabulary.tokens.size());
  for (int32_t id = 0; id < count; ++id) {
    const std::string& token = vocabulary.tokens[id];
    const TokenType type = vocabulary.type(id);
    bytes_.add(bytes_of(token, type));
    if (type == TokenType::byte) {
      int32_t& entry = byte_ids_[*parse_byte_token(token)];
      if (entry == kNoToken) entry = id;
    }
    // Text has no spaces when SentencePiece looks at it, so a token spelled with one never matches.
    if (!is_spelled_token(type) || token.empty() || token.find(' ') != std::string::npos) continue;
    map_.add(id);
    const std::string_view text = bytes_[id];
    Utf8Char left = decode_utf8(text);
    for (size_t at = left.length; at < text.size();) {
      const Utf8Char right = decode_utf8(text.substr(at));
      joined_pairs_.add(left.code_point, right.code_point);
      at += right.length;
      left = right;
    }
  }
  std::vector<int32_t> order(vocabulary.tokens.size());
  std::iota(order.begin(), order.end(), 0);
  const std::vector<float>& scores = vocabulary.scores;
  std::sort(order.begin(), order.end(),
            [&](int32_t a, int32_t b) { return scores[a] > scores[b]; });
  for (size_t i = 0; i < order.size(); ++i) {
    const bool is_tie = i > 0 && scores[order[i]] == scores[order[i - 1]];
    ranks_[order[i]] = is_tie ? ranks_[order[i - 1]] : static_cast<uint32_t>(i);
  }
}

void SentencePiece::encode(std::string_view text, std::vector<int32_t>& ids) const {
  const bool has_prefix = prefix_ == SpacePrefix::add;
  std::string normalized;
  if (has_prefix || text.find(kVisibleSpace) != std::string_view::npos) {
    if (has_prefix) normalized = " ";
    normalized += spaces_from_underscores(text);
    text = normalized;
  }
  Scratch scratch;
  WordCache cache(text.size());
  while (!text.empty()) {
    const std::string_view part = text.substr(0, part_end(text));
    text.remove_prefix(part.size());
    const uint64_t hash = map_.hash(part);
    // Behind an unknown token the ids of a part may be others.
    if (scratch.last_is_unknown) {
      encode_part(part, hash, scratch, ids);
      continue;
    }
    if (cache.append(part, hash, ids)) continue;
    const size_t first = ids.size();
    encode_part(part, hash, scratch, ids);
    if (!scratch.last_is_unknown) cache.put(part, hash, std::span(ids).subspan(first));
  }
}

// End of the first part of a text that can be merged by itself.
size_t SentencePiece::part_end(std::string_view text) const {
  Utf8Char left = decode_utf8(text);
  size_t at = left.length;
  while (at < text.size()) {
    const Utf8Char right = decode_utf8(text.substr(at));
    if (!joined_pairs_.contains(left.code_point, right.code_point)) break;
    at += right.length;
    left = right;
  }
  return at;
}

void SentencePiece::encode_part(std::string_view part, uint64_t hash, Scratch& scratch,
                                std::vector<int32_t>& ids) const {
  const int32_t whole = map_.find(part, hash);
  if (whole != kNoToken && known_words_.get(whole) == KnownWords::is_one_token) {
    return emit(part, whole, scratch, ids);
  }
  Merger& merger = scratch.merger;
  merger.symbols.clear();
  for (uint32_t at = 0; at < part.size();) {
    const Utf8Char c = decode_utf8(part.substr(at));
    merger.symbols.push_back({at, at + c.length, character_symbol(part.substr(at, c.length))});
    at += c.length;
  }
  merger.run([&](const MergeSymbol& left, const MergeSymbol& right) -> Merge {
    const int32_t id = map_.find(part.substr(left.begin, right.end - left.begin));
    if (id == kNoToken) return {};
    return {ranks_[id], id};
  });
  for (const MergeSymbol& symbol : merger.symbols) {
    const std::string_view text = part.substr(symbol.begin, symbol.end - symbol.begin);
    // Characters that never merged have not been looked up yet.
    emit(text, symbol.id >= 0 ? symbol.id : map_.find(text), scratch, ids);
  }
  if (whole != kNoToken) {
    known_words_.set(
        whole, merger.symbols.size() == 1 ? KnownWords::is_one_token : KnownWords::is_several);
  }
}

// Text without a token becomes its bytes; without byte tokens, one unknown token for the whole run.
void SentencePiece::emit(std::string_view text, int32_t id, Scratch& scratch,
                         std::vector<int32_t>& ids) const {
  if (id != kNoToken) {
    ids.push_back(id);
    scratch.last_is_unknown = false;
    return;
  }
  for (const char c : text) {
    const int32_t byte_id = byte_ids_[static_cast<uint8_t>(c)];
    if (byte_id != kNoToken) {
      ids.push_back(byte_id);
      scratch.last_is_unknown = false;
    } else if (unknown_ && !scratch.last_is_unknown) {
      ids.push_back(*unknown_);
      scratch.last_is_unknown = true;
    }
  }
}

}  // namespace arion

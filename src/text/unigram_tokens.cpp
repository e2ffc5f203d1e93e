// Scores of the special kinds of pieces are those of sentencepiece's unigram_model.cc.
#include "text/unigram_tokens.h"

#include <algorithm>
#include <limits>

#include "text/token_spelling.h"

namespace arion {
namespace {

constexpr float kUnknownPenalty = 10;

}  // namespace

UnigramTokens::UnigramTokens(const Vocabulary& vocabulary)
    : normalizer_(vocabulary), unknown_(vocabulary.special.unknown) {
  byte_ids_.fill(kNoToken);
  float least = std::numeric_limits<float>::max(), most = std::numeric_limits<float>::lowest();
  const int32_t count = static_cast<int32_t>(vocabulary.tokens.size());
  for (int32_t id = 0; id < count; ++id) {
    const std::string& token = vocabulary.tokens[id];
    if (vocabulary.type(id) == TokenType::byte) {
      const uint8_t byte = *parse_byte_token(token);
      bytes_.add(std::string(1, static_cast<char>(byte)));
      byte_ids_[byte] = id;
    } else {
      bytes_.add(spaces_from_underscores(token));
    }
    if (vocabulary.type(id) != TokenType::normal) continue;
    least = std::min(least, vocabulary.scores[id]);
    most = std::max(most, vocabulary.scores[id]);
  }
  const bool has_all_bytes =
      std::find(byte_ids_.begin(), byte_ids_.end(), kNoToken) == byte_ids_.end();
  if (!has_all_bytes) byte_ids_.fill(kNoToken);
  std::vector<Unigram::Piece> pieces;
  for (int32_t id = 0; id < count; ++id) {
    const TokenType type = vocabulary.type(id);
    if (bytes_[id].empty()) continue;
    if (type == TokenType::normal) pieces.push_back({bytes_[id], id, vocabulary.scores[id]});
    if (type == TokenType::user_defined) {
      const float bytes = static_cast<float>(vocabulary.tokens[id].size());
      pieces.push_back({bytes_[id], id, double{bytes * most} - 0.1});
    }
  }
  unigram_.emplace(pieces, double{least - kUnknownPenalty}, Unigram::Precision::single);
}

void UnigramTokens::encode(std::string_view text, std::vector<int32_t>& ids) const {
  const std::string normalized = normalizer_.apply(text);
  Unigram::Lattice lattice;
  bool is_run = false;  // of unknown characters
  unigram_->encode(normalized, lattice, [&](std::string_view piece, int32_t id) {
    if (id >= 0) {
      ids.push_back(id);
    } else if (byte_ids_[0] != kNoToken) {
      for (const char byte : piece) ids.push_back(byte_ids_[static_cast<uint8_t>(byte)]);
    } else if (unknown_ && !is_run) {
      ids.push_back(*unknown_);
    }
    is_run = id < 0;
  });
}

}  // namespace arion

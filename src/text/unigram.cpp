// One step of the Viterbi algorithm: the pieces that start at one character.
#include "text/unigram.h"

namespace arion {

PrefixTrie Unigram::make_trie(const std::vector<Piece>& pieces) {
  std::vector<PrefixTrie::Key> keys;
  keys.reserve(pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    keys.push_back({pieces[i].text, static_cast<int32_t>(i)});
  }
  return PrefixTrie(std::move(keys));
}

Unigram::Unigram(const std::vector<Piece>& pieces, double unknown_score, Precision precision)
    : trie_(make_trie(pieces)), unknown_score_(unknown_score), precision_(precision) {
  ids_.reserve(pieces.size());
  scores_.reserve(pieces.size());
  for (const Piece& piece : pieces) {
    ids_.push_back(piece.id);
    scores_.push_back(piece.score);
  }
}

// Offers every piece that starts at `at` to the node where it ends; nodes[0] lies at `begin`.
// Returns the length of the character there.
size_t Unigram::extend(std::string_view text, size_t begin, size_t at,
                       std::vector<Lattice::Node>& nodes) const {
  const std::string_view rest = text.substr(at);
  const uint8_t char_length = decode_utf8(rest).length;
  const double score_here = nodes[at - begin].score;
  const auto offer = [&](size_t length, int32_t index, double score) {
    const size_t end = at - begin + length;
    if (nodes.size() <= end) nodes.resize(end + 1);
    double candidate = score + score_here;
    if (precision_ == Precision::single) candidate = static_cast<float>(candidate);
    Lattice::Node& node = nodes[end];
    if (node.index != kUnreached && !(candidate > node.score)) return;
    node.score = candidate;
    node.index = index;
    node.length = static_cast<uint32_t>(length);
  };
  bool is_piece = false;
  trie_.for_each_prefix(rest, [&](size_t length, int32_t index) {
    offer(length, index, scores_[static_cast<size_t>(index)]);
    is_piece |= length == char_length;
  });
  if (!is_piece) offer(char_length, kUnknown, unknown_score_);
  return char_length;
}

}  // namespace arion

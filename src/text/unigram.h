// The unigram model of SentencePiece (Kudo 2018): the cut of a text whose pieces have the best
// score.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/prefix_trie.h"
#include "text/unicode.h"

namespace arion {

// Immutable: thread-safe. Time is linear in the text, but for pieces that are prefixes of each
// other; memory holds what lies between two places that no piece spans.
class Unigram {
 public:
  struct Piece {
    std::string_view text;  // not empty; needed during construction only
    int32_t id;
    double score;  // natural logarithm of a probability
  };
  // How scores are added: SentencePiece rounds to float, the tokenizers package does not. Matters
  // for ties only.
  enum class Precision : uint8_t { single, full };

  // Among pieces with equal text the first one counts.
  Unigram(const std::vector<Piece>& pieces, double unknown_score, Precision precision);

  // Scratch memory, one per thread.
  class Lattice {
    friend class Unigram;
    struct Node {
      double score = 0;
      int32_t index = kUnreached;  // of the piece that ends here, or kUnknown
      uint32_t length = 0;         // of that piece
    };
    std::vector<Node> nodes_;  // by place behind the last cut
    std::vector<uint32_t> path_;
  };

  // Calls emit(text, id) for the pieces of the best cut in order; for a character that is no piece
  // the id is -1.
  template <class Emit>
  void encode(std::string_view text, Lattice& lattice, const Emit& emit) const {
    std::vector<Lattice::Node>& nodes = lattice.nodes_;
    nodes.assign(1, {});
    size_t begin = 0;  // place of nodes[0]
    for (size_t at = 0; at < text.size();) {
      at += extend(text, begin, at, nodes);
      // No piece reaches beyond this place, so the path up to here is final.
      if (nodes.size() != at - begin + 1) continue;
      emit_path(text.substr(begin, at - begin), lattice, emit);
      nodes.assign(1, {nodes.back().score});
      begin = at;
    }
  }

 private:
  static constexpr int32_t kUnreached = -2, kUnknown = -1;

  size_t extend(std::string_view text, size_t begin, size_t at,
                std::vector<Lattice::Node>& nodes) const;

  template <class Emit>
  void emit_path(std::string_view text, Lattice& lattice, const Emit& emit) const {
    lattice.path_.clear();
    for (size_t end = text.size(); end > 0; end -= lattice.nodes_[end].length) {
      lattice.path_.push_back(static_cast<uint32_t>(end));
    }
    for (size_t i = lattice.path_.size(); i-- > 0;) {
      const Lattice::Node& node = lattice.nodes_[lattice.path_[i]];
      const std::string_view piece = text.substr(lattice.path_[i] - node.length, node.length);
      emit(piece, node.index == kUnknown ? -1 : ids_[static_cast<size_t>(node.index)]);
    }
  }

  static PrefixTrie make_trie(const std::vector<Piece>& pieces);

  PrefixTrie trie_;  // to the place in the two lists
  std::vector<int32_t> ids_;
  std::vector<double> scores_;
  double unknown_score_;
  Precision precision_;
};

}  // namespace arion

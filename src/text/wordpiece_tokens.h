// BERT's tokenizer over a vocabulary of a GGUF file.
#pragma once
#include <optional>

#include "text/normalizer.h"
#include "text/piece_cutter.h"
#include "text/token_model.h"
#include "text/token_table.h"
#include "text/vocabulary.h"
#include "text/wordpiece.h"

namespace arion {

// GGUF files write U+2581 in front of tokens that start a word, and nothing in front of others.
// Text is lowered and its accents are stripped, as for all files of this kind.
class WordPieceTokens final : public TokenModel {
 public:
  explicit WordPieceTokens(const Vocabulary& vocabulary);

  void encode(std::string_view text, std::vector<int32_t>& ids) const override;
  std::string_view bytes(int32_t id) const override { return bytes_[id]; }

 private:
  TokenBytes bytes_;  // with a space in front of a token that starts a word
  NormalizerPtr normalizer_;
  PieceCutterPtr cutter_;
  std::optional<int32_t> unknown_;
  std::optional<WordPiece> wordpiece_;
};

}  // namespace arion

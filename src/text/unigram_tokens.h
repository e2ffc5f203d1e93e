// The unigram model of SentencePiece over a vocabulary with scores.
#pragma once
#include <array>

#include "text/spm_normalizer.h"
#include "text/token_model.h"
#include "text/token_table.h"
#include "text/unigram.h"
#include "text/vocabulary.h"

namespace arion {

// As sentencepiece encodes: normalize, find the best cut, characters that are no piece become bytes
// or one unknown token for a run of them. User-defined tokens are always taken.
class UnigramTokens final : public TokenModel {
 public:
  explicit UnigramTokens(const Vocabulary& vocabulary);

  void encode(std::string_view text, std::vector<int32_t>& ids) const override;
  std::string_view bytes(int32_t id) const override { return bytes_[id]; }

 private:
  TokenBytes bytes_;
  SpmNormalizer normalizer_;
  std::array<int32_t, 256> byte_ids_;  // all of them or none
  std::optional<int32_t> unknown_;
  std::optional<Unigram> unigram_;
};

}  // namespace arion

// SentencePiece BPE: the whole text is one word, merged by score, with bytes as the fallback.
#pragma once
#include <array>
#include <string>

#include "text/joined_pairs.h"
#include "text/known_words.h"
#include "text/merge.h"
#include "text/token_model.h"
#include "text/token_table.h"
#include "text/vocabulary.h"
#include "text/word_cache.h"

namespace arion {

enum class SpacePrefix : uint8_t { none, add };

// Works on text with spaces, where SentencePiece writes U+2581: tokens are turned instead. As in
// SentencePiece a U+2581 in the text therefore is a space.
class SentencePiece final : public TokenModel {
 public:
  // `prefix`: whether text that starts or follows a special token gets a space in front.
  SentencePiece(const Vocabulary& vocabulary, SpacePrefix prefix);

  void encode(std::string_view text, std::vector<int32_t>& ids) const override;
  std::string_view bytes(int32_t id) const override { return bytes_[id]; }

 private:
  struct Scratch {
    Merger merger;
    bool last_is_unknown = false;
  };

  size_t part_end(std::string_view text) const;
  void encode_part(std::string_view part, uint64_t hash, Scratch& scratch,
                   std::vector<int32_t>& ids) const;
  void emit(std::string_view text, int32_t id, Scratch& scratch, std::vector<int32_t>& ids) const;

  SpacePrefix prefix_;
  TokenBytes bytes_;
  TokenMap map_;
  std::vector<uint32_t> ranks_;  // place of each token by falling score; equal scores share one
  std::array<int32_t, 256> byte_ids_;
  std::optional<int32_t> unknown_;
  JoinedPairs joined_pairs_;  // of characters
  KnownWords known_words_;
};

}  // namespace arion

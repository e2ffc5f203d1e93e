// SentencePiece BPE: the whole text is one word, merged by score, with bytes as the fallback.
#pragma once
#include <array>
#include <string>

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
  // Two characters that stand side by side in no token never end up in one, so a text is cut
  // between them first. The set may err towards "joined" (64-bit hashes folded to 2^20 bits).
  class JoinedPairs {
   public:
    void add(char32_t left, char32_t right) {
      bits_[word(left, right)] |= bit(left, right);
      if ((left | right) < 128) ascii_[left * 128 + right] = true;
    }
    bool contains(char32_t left, char32_t right) const {
      if ((left | right) < 128) return ascii_[left * 128 + right];
      return bits_[word(left, right)] & bit(left, right);
    }

   private:
    static uint64_t hash(char32_t left, char32_t right) {
      return (uint64_t{left} << 21 | right) * 0x9E3779B97F4A7C15 >> 44;
    }
    static size_t word(char32_t left, char32_t right) { return hash(left, right) / 64; }
    static uint64_t bit(char32_t left, char32_t right) { return 1ull << hash(left, right) % 64; }
    std::array<bool, 128 * 128> ascii_{};
    std::vector<uint64_t> bits_ = std::vector<uint64_t>((1 << 20) / 64);
  };

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
  JoinedPairs joined_pairs_;
  KnownWords known_words_;
};

}  // namespace arion

// Byte-level BPE: words from the pre-tokenizer, merged by rank.
#pragma once
#include <array>
#include <memory>

#include "text/known_words.h"
#include "text/merge.h"
#include "text/pre_tokenizer.h"
#include "text/token_model.h"
#include "text/token_table.h"
#include "text/vocabulary.h"

namespace arion {

// Turns GPT-2's printable spelling of bytes back: "Ġthe" -> " the". Characters outside that
// alphabet stand for themselves.
std::string decode_byte_alphabet(std::string_view spelled);

class Bpe final : public TokenModel {
 public:
  Bpe(const Vocabulary& vocabulary, const PreTokenizer& pre_tokenizer);

  void encode(std::string_view text, std::vector<int32_t>& ids) const override;
  std::string_view bytes(int32_t id) const override { return bytes_[id]; }

 private:
  // Symbols are tokens and, behind them, byte strings that only occur in merges.
  int32_t intern(const std::string& bytes);
  void add_merge(int32_t left, int32_t right, Merge merge);
  Merge find_merge(int32_t left, int32_t right) const;
  void encode_word(std::string_view word, Merger& merger, std::vector<int32_t>& ids) const;
  void emit(std::string_view word, const MergeSymbol& symbol, std::vector<int32_t>& ids) const;

  struct Rule {
    uint64_t pair;  // left << 32 | right
    Merge merge;
  };

  PreTokenizer pre_tokenizer_;
  int32_t token_count_;
  TokenBytes bytes_;
  TokenMap map_;
  std::array<int32_t, 256> byte_symbols_;
  std::vector<Rule> rules_;  // open addressing; size is a power of two, at most half full
  int rules_shift_;          // 64 - log2 of the size: multiplicative hashing takes the top bits
  KnownWords known_words_;
};

}  // namespace arion

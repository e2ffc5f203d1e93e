// BPE with a list of merges: words from the splitter, merged by rank.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/huge_page_allocator.h"
#include "text/known_words.h"
#include "text/merge.h"
#include "text/pre_tokenizer.h"
#include "text/token_model.h"
#include "text/token_table.h"
#include "text/vocabulary.h"
#include "text/word_cache.h"
#include "text/word_splitter.h"

namespace arion {

struct BpeOptions {
  SymbolKind symbols = SymbolKind::bytes;
  bool ignores_merges = false;  // a word that is a token is taken whole
};

class Bpe final : public TokenModel {
 public:
  Bpe(const Vocabulary& vocabulary, WordSplitter splitter, BpeOptions options);

  void encode(std::string_view text, std::vector<int32_t>& ids) const override;
  std::string_view bytes(int32_t id) const override { return bytes_[id]; }

 private:
  void add_tokens(const Vocabulary& vocabulary);
  void add_byte_symbols(const Vocabulary& vocabulary);
  std::string decode_spelling(std::string_view spelled) const;
  // Symbols are tokens and, behind them, byte strings that only occur in merges.
  int32_t intern(const std::string& bytes);
  void add_merge(int32_t left, int32_t right, Merge merge);
  Merge find_merge(int32_t left, int32_t right) const;
  void encode_word(std::string_view word, uint64_t hash, Merger& merger,
                   std::vector<int32_t>& ids) const;
  bool is_taken_whole(std::string_view word) const;
  void add_symbols(std::string_view word, std::vector<MergeSymbol>& symbols) const;
  void emit(std::string_view word, const MergeSymbol& symbol, std::vector<int32_t>& ids) const;

  struct Rule {
    uint64_t pair;  // left << 32 | right
    Merge merge;
  };

  WordSplitter splitter_;
  BpeOptions options_;
  int32_t token_count_;
  TokenBytes bytes_;
  TokenMap map_;
  // Symbol of each byte; with characters as symbols the token that stands for it, or kNoToken.
  std::array<int32_t, 256> byte_symbols_;
  std::optional<int32_t> unknown_;
  // A bit for the hash of each pair that has a rule: most that are looked up have none.
  static constexpr int kFilterShift = 64 - 21;
  std::vector<uint64_t> rule_filter_ = std::vector<uint64_t>((1 << 21) / 64);
  std::vector<Rule, HugePageAllocator<Rule>>
      rules_;        // open addressing; size is a power of two, at most half full
  int rules_shift_;  // 64 - log2 of the size: multiplicative hashing takes the top bits
  KnownWords known_words_;
};

}  // namespace arion

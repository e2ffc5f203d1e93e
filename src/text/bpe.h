// BPE with a list of merges: words from the splitter, merged by rank.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "text/backtracking_bpe.h"
#include "text/merge.h"
#include "text/merge_rules.h"
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
  struct Scratch {
    BacktrackingBpe::Scratch search;
    std::vector<int32_t> strings;
    std::string kept_bytes;
    Merger merger;
  };

  void add_tokens(const Vocabulary& vocabulary);
  void add_byte_symbols(const Vocabulary& vocabulary);
  std::string decode_spelling(std::string_view spelled) const;
  // Symbols are tokens and, behind them, byte strings that only occur in merges.
  int32_t intern(const std::string& bytes);
  void add_merges(const std::vector<std::string>& merges);
  void encode_word(std::string_view word, uint64_t hash, Scratch& scratch,
                   std::vector<int32_t>& ids) const;
  bool is_taken_whole(std::string_view word) const;
  std::string_view drop_bytes(std::string_view word, std::string& kept) const;
  void add_symbols(std::string_view word, std::vector<MergeSymbol>& symbols) const;
  void emit(std::string_view text, int32_t symbol, std::vector<int32_t>& ids) const;

  WordSplitter splitter_;
  BpeOptions options_;
  int32_t token_count_;
  TokenBytes bytes_;
  TokenMap map_;
  // Symbol of each byte; with characters as symbols the token that stands for it, or kNoToken.
  std::array<int32_t, 256> byte_symbols_;
  std::optional<int32_t> unknown_;
  bool drops_bytes_ = false;
  // One of the two: merging goes by the rules where symbols are no bytes or the search does not
  // take the merges.
  std::optional<BacktrackingBpe> search_;
  std::optional<MergeRules> rules_;
};

}  // namespace arion

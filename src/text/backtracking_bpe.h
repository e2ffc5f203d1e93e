// BPE of long words: the longest symbol at each place, with steps back where merging would not make
// it.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "text/merge.h"
#include "text/merge_history.h"
#include "text/symbol_trie.h"
#include "text/token_table.h"

namespace arion {

// Exactly what merging by rank gives. Merges on one side of a place never depend on the other side
// until one crosses it, so the result for a text is the one row of symbols of which any two
// neighbours stay apart when only they are merged; and its beginning up to any border is the row of
// that beginning. Hence a place from which no symbol goes on is no border and need not be tried
// again: time is linear. (After van Antwerpen and Neubeck 2024, "So many tokens, so little time";
// theirs takes ids as ranks, this one any list of merges.) Immutable: thread-safe.
class BacktrackingBpe {
 public:
  // Scratch memory: one per thread.
  struct Scratch {
    std::vector<uint32_t> path;       // places of MergeHistory
    std::vector<uint64_t> dead_ends;  // a bit per place where no border is
    MergeHistory::Work work;
    size_t words_to_merge = 0;  // before the next search
  };

  // As MergeHistory::make; nothing also if the symbols have more than sixteen million bytes.
  static std::optional<BacktrackingBpe> make(const TokenBytes& strings,
                                             std::span<const int32_t> bytes,
                                             std::span<const MergeHistory::Rule> rules);

  // Appends the symbols of a text that is not empty. Searches where that is faster, or else merges.
  void encode(std::string_view text, Scratch& scratch, std::vector<int32_t>& strings) const;
  // The two ways. A search ends with false, and nothing appended, where it takes more than so many
  // steps per byte, of about one look at a byte each.
  bool search(std::string_view text, size_t steps_per_byte, Scratch& scratch,
              std::vector<int32_t>& strings) const;
  void merge(std::string_view text, Scratch& scratch, std::vector<int32_t>& strings) const;
  // Whether merging its bytes makes this string.
  bool is_symbol(int32_t string) const { return is_symbol_[static_cast<size_t>(string)]; }

 private:
  BacktrackingBpe(const TokenBytes& strings, MergeHistory history, SymbolTrie trie);
  bool search_path(std::string_view text, size_t steps_per_byte, Scratch& scratch) const;

  MergeHistory history_;
  SymbolTrie trie_;
  std::vector<bool> is_symbol_;  // by string
};

}  // namespace arion

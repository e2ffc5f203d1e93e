// The merge loop shared by byte-level BPE and SentencePiece BPE.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace arion {

// A run of bytes of the word being merged. `id` means what the caller's rule makes of it.
struct MergeSymbol {
  uint32_t begin, end;
  int32_t id;
};

constexpr uint32_t kNoRank = UINT32_MAX;

struct Merge {
  uint32_t rank = kNoRank;  // lower goes first; kNoRank: these two do not merge
  int32_t id = 0;           // of the merged symbol
};

// Merges adjacent symbols of one word, lowest rank first and leftmost among equal ranks, until no
// rule applies. O(n log n) for n symbols. Holds scratch memory: one per thread.
class Merger {
 public:
  // The caller fills this with the word's symbols; `run` leaves the merged ones.
  std::vector<MergeSymbol> symbols;

  // Rule: Merge rule(const MergeSymbol& left, const MergeSymbol& right), a pure function.
  template <class Rule>
  void run(const Rule& rule) {
    symbols.size() <= kScanSymbols ? scan(rule) : use_heap(rule);
  }

 private:
  // Up to here finding the minimum by a scan beats the heap; about a long word.
  static constexpr size_t kScanSymbols = 32;

  struct Link {
    uint32_t previous, next;
  };

  template <class Rule>
  void scan(const Rule& rule) {
    size_t count = symbols.size();
    Merge merges[kScanSymbols];  // [i] joins symbols i and i + 1, none behind the last
    for (size_t i = 0; i + 1 < count; ++i) merges[i] = rule(symbols[i], symbols[i + 1]);
    while (count > 1) {
      size_t best = 0;
      for (size_t i = 1; i + 1 < count; ++i) {
        if (merges[i].rank < merges[best].rank) best = i;
      }
      if (merges[best].rank == kNoRank) break;
      symbols[best] = {symbols[best].begin, symbols[best + 1].end, merges[best].id};
      std::move(symbols.begin() + best + 2, symbols.begin() + count, symbols.begin() + best + 1);
      std::move(merges + best + 2, merges + count, merges + best + 1);
      --count;
      if (best > 0) merges[best - 1] = rule(symbols[best - 1], symbols[best]);
      merges[best] = best + 1 < count ? rule(symbols[best], symbols[best + 1]) : Merge{};
    }
    symbols.resize(count);
  }

  // Heap entries are rank << 32 | position. One is stale when the pair at the position has another
  // rank by now; equal rank means an equal entry, so nothing else needs to be remembered.
  template <class Rule>
  void use_heap(const Rule& rule) {
    const uint32_t count = static_cast<uint32_t>(symbols.size());
    merges_.assign(count, Merge{});
    links_.resize(count);
    heap_.clear();
    for (uint32_t i = 0; i < count; ++i) {
      links_[i] = {i - 1, i + 1};
      if (i + 1 == count) break;
      merges_[i] = rule(symbols[i], symbols[i + 1]);
      if (merges_[i].rank != kNoRank) heap_.push_back(entry(i));
    }
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      const uint64_t top = heap_.back();
      heap_.pop_back();
      const uint32_t at = static_cast<uint32_t>(top);
      if (merges_[at].rank != top >> 32) continue;
      const uint32_t absorbed = links_[at].next;
      symbols[at] = {symbols[at].begin, symbols[absorbed].end, merges_[at].id};
      merges_[absorbed].rank = kNoRank;
      links_[at].next = links_[absorbed].next;
      if (links_[at].next < count) links_[links_[at].next].previous = at;
      update(at, rule);
      if (at > 0) update(links_[at].previous, rule);
    }
    size_t kept = 0;
    for (uint32_t i = 0; i < count; i = links_[i].next) symbols[kept++] = symbols[i];
    symbols.resize(kept);
  }

  template <class Rule>
  void update(uint32_t at, const Rule& rule) {
    const uint32_t next = links_[at].next;
    merges_[at] = next < symbols.size() ? rule(symbols[at], symbols[next]) : Merge{};
    if (merges_[at].rank == kNoRank) return;
    heap_.push_back(entry(at));
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }

  uint64_t entry(uint32_t at) const { return uint64_t{merges_[at].rank} << 32 | at; }

  std::vector<Merge> merges_;  // [i] joins symbol i and the one behind it
  std::vector<Link> links_;
  std::vector<uint64_t> heap_;
};

}  // namespace arion

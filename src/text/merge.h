// The merge loop shared by BPE with a list of merges and SentencePiece BPE.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace arion {

// A run of bytes of the word being merged. `id` means what the caller's rule makes of it.
struct MergeSymbol {
  uint32_t begin, end;
  int32_t id;
  bool operator==(const MergeSymbol&) const = default;
};

constexpr uint32_t kNoRank = UINT32_MAX;

struct Merge {
  uint32_t rank = kNoRank;  // lower goes first; kNoRank: these two do not merge
  int32_t id = 0;           // of the merged symbol
};

// Merges adjacent symbols of one word, lowest rank first and leftmost among equal ranks, until no
// rule applies. Holds scratch memory: one per thread.
//
// A long word is merged in windows, which keeps the work in cache and the time linear. Merges on
// one side of a place never depend on the other side until one crosses it. So the result for a word
// cut where its result has a border is the two results joined; and two results that meet are the
// result of both joined if the last symbol of the one and the first of the other stay apart when
// merged by themselves. Hence a window starts at a border that the window before found, and its
// first symbol is checked against the last final one. Neither needs more of the rule than that it
// is a function of the two symbols. A window that repeats the one before, as in runs of spaces, is
// merged once; hence symbols of equal ids must merge alike.
class Merger {
 public:
  // Up to here finding the minimum by a scan beats the heap.
  static constexpr uint32_t kScanSymbols = 128;

  // The caller fills this with the word's symbols; `run` leaves the merged ones.
  std::vector<MergeSymbol> symbols;

  // Rule: Merge rule(const MergeSymbol& left, const MergeSymbol& right), a pure function.
  template <class Rule>
  void run(const Rule& rule) {
    if (symbols.size() < 2) return;
    if (symbols.size() <= kWindow) {
      symbols.resize(scan(symbols, rule));
      return;
    }
    unmerged_.swap(symbols);
    const auto original = [this](const MergeSymbol& symbol) -> MergeSymbol {
      return {unmerged_[symbol.begin].begin, unmerged_[symbol.end - 1].end, symbol.id};
    };
    const auto fill = [this](uint32_t begin, uint32_t end, std::vector<MergeSymbol>& places) {
      places.resize(end - begin);
      for (uint32_t i = begin; i < end; ++i) places[i - begin] = {i, i + 1, unmerged_[i].id};
    };
    run_windows(static_cast<uint32_t>(unmerged_.size()), fill,
                [&](const MergeSymbol& left, const MergeSymbol& right) {
                  return rule(original(left), original(right));
                });
    for (MergeSymbol& symbol : symbols) symbol = original(symbol);
  }

  // The same for a word of `count` places whose symbols are made when needed.
  // Fill: void fill(uint32_t begin, uint32_t end, std::vector<MergeSymbol>& symbols) sets them to
  // those of these places. It may leave symbols that are merged for certain.
  template <class Fill, class Rule>
  void run(uint32_t count, const Fill& fill, const Rule& rule) {
    if (count > kScanSymbols) return run_windows(count, fill, rule);
    fill(0, count, symbols);
    symbols.resize(scan(symbols, rule));
  }

 private:
  // Places of a window; one that has to grow by a few still is scanned.
  static constexpr uint32_t kWindow = 80;
  // Windows grow where tokens are as long as they, such as runs of spaces.
  static constexpr uint32_t kMostUsualWindow = 1024;
  // Symbols at the end of a window that more text may change; nearly always enough.
  static constexpr size_t kLooseSymbols = 2;

  struct Link {
    uint32_t previous, next;
  };

  // Symbols begin and end at places.
  template <class Fill, class Rule>
  void run_windows(uint32_t count, const Fill& fill, const Rule& rule) {
    symbols.clear();
    unmerged_window_.clear();
    uint32_t usual_width = kWindow;
    uint32_t from = 0, width = usual_width;  // of the window
    uint32_t failed_at = 0;                  // last place that was no border
    MergeSymbol follower{};                  // of the last final symbol, when it became final
    while (true) {
      width = std::min(width, count - from);
      fill(from, from + width, window_);
      merge_window(rule);
      if (!symbols.empty() && window_[0] != follower && !stay_apart(fill, rule)) {
        // No border there after all: go back by a symbol, and look farther ahead than before.
        const uint32_t reach = from + width;
        failed_at = std::max(failed_at, from);
        follower = symbols.back();
        from = follower.begin;
        width = 2 * (reach - from);
        symbols.pop_back();
        continue;
      }
      size_t kept = window_.size();
      if (from + width < count) kept = kept > kLooseSymbols ? kept - kLooseSymbols : 0;
      symbols.insert(symbols.end(), window_.begin(),
                     window_.begin() + static_cast<ptrdiff_t>(kept));
      if (kept == window_.size()) return;
      follower = window_[kept];
      from = follower.begin;
      if (kept == 0) usual_width = std::min(2 * width, kMostUsualWindow);
      width = kept > 0 && from > failed_at ? usual_width : 2 * width;
    }
  }

  template <class Rule>
  void merge(std::vector<MergeSymbol>& word, const Rule& rule) {
    word.resize(word.size() <= kScanSymbols ? scan(word, rule) : use_heap(word, rule));
  }

  template <class Rule>
  void merge_window(const Rule& rule) {
    const auto is_repeated = [this](const MergeSymbol& now, const MergeSymbol& then) {
      return now.id == then.id &&
             now.end - then.end == window_[0].begin - unmerged_window_[0].begin;
    };
    if (std::ranges::equal(window_, unmerged_window_, is_repeated)) {
      const uint32_t moved = window_[0].begin - unmerged_window_[0].begin;
      for (MergeSymbol& symbol : merged_window_) symbol.begin += moved, symbol.end += moved;
      unmerged_window_ = window_;
      window_ = merged_window_;
      return;
    }
    unmerged_window_ = window_;
    merge(window_, rule);
    merged_window_ = window_;
  }

  // Whether the last final symbol and the first of the window are what merging makes of the text of
  // both.
  template <class Fill, class Rule>
  bool stay_apart(const Fill& fill, const Rule& rule) {
    fill(symbols.back().begin, window_[0].end, pair_);
    merge(pair_, rule);
    return pair_.size() == 2 && pair_[0] == symbols.back() && pair_[1] == window_[0];
  }

  // Merges `word` in place and returns the number of symbols left. What is done next hardly ever
  // repeats, so there are few branches to mispredict: minima are taken of doubles, which compilers
  // do without one.
  template <class Rule>
  static size_t scan(std::span<MergeSymbol> word, const Rule& rule) {
    constexpr uint32_t kBlock = 8;
    constexpr uint32_t kBlocks = kScanSymbols / kBlock;
    // Up to here looking at all positions beats keeping the minima of blocks.
    constexpr uint32_t kFewBlocks = 2;
    // Rank and position of joining symbol i and the one behind it, in the fraction of a double.
    constexpr uint64_t kOne = std::bit_cast<uint64_t>(1.0);
    constexpr double kNoKey = 2;
    const uint32_t count = static_cast<uint32_t>(word.size());
    const uint32_t blocks = (count + kBlock - 1) / kBlock;
    double keys[kScanSymbols], lowest[kBlocks];
    int32_t ids[kScanSymbols];
    uint8_t previous[kScanSymbols + 1], next[kScanSymbols];
    const auto update = [&](uint32_t at, uint32_t behind) {
      const Merge merge = rule(word[at], word[behind]);
      keys[at] = std::bit_cast<double>(kOne | uint64_t{merge.rank} * kScanSymbols | at);
      ids[at] = merge.id;
    };
    const auto lower = [](double a, double b) { return a < b ? a : b; };
    const auto lowest_of = [&](const double* values) {
      const auto low = [&](int i) { return lower(values[i], values[i + 4]); };
      return lower(lower(low(0), low(1)), lower(low(2), low(3)));
    };
    const auto update_block = [&](uint32_t at) {
      lowest[at / kBlock] = lowest_of(keys + at / kBlock * kBlock);
    };
    if (count < 2) return count;
    for (uint32_t i = 0; i < count; ++i) {
      next[i] = static_cast<uint8_t>(i + 1);
      previous[i] = static_cast<uint8_t>(i - 1);
      if (i + 1 < count) update(i, i + 1);
    }
    std::fill(keys + count - 1, keys + blocks * kBlock, kNoKey);
    const bool keeps_blocks = blocks > kFewBlocks;
    if (keeps_blocks) {
      std::ranges::fill(lowest, kNoKey);
      for (uint32_t block = 0; block < blocks; ++block) update_block(block * kBlock);
    }
    while (true) {
      double best = lowest_of(keeps_blocks ? lowest : keys);
      if (keeps_blocks) {
        if (blocks > kBlock) best = lower(best, lowest_of(lowest + kBlock));
      } else if (blocks == kFewBlocks) {
        best = lower(best, lowest_of(keys + kBlock));
      }
      const uint64_t key = std::bit_cast<uint64_t>(best) ^ kOne;
      if (key / kScanSymbols >= kNoRank) break;
      const uint32_t at = key % kScanSymbols;
      const uint32_t absorbed = next[at], behind = next[absorbed];
      word[at] = {word[at].begin, word[absorbed].end, ids[at]};
      keys[absorbed] = kNoKey;
      next[at] = static_cast<uint8_t>(behind);
      previous[behind] = static_cast<uint8_t>(at);
      if (behind < count) {
        update(at, behind);
      } else {
        keys[at] = kNoKey;
      }
      const uint32_t before = at > 0 ? previous[at] : at;
      if (at > 0) update(before, at);
      if (keeps_blocks) {
        update_block(before);
        update_block(at);
        update_block(absorbed);
      }
    }
    size_t kept = 0;
    for (uint32_t i = 0; i < count; i = next[i]) word[kept++] = word[i];
    return kept;
  }

  // The same. Heap entries are rank << 32 | position. One is stale when the pair at the position
  // has another rank by now; equal rank means an equal entry, so nothing else is remembered.
  template <class Rule>
  size_t use_heap(std::span<MergeSymbol> word, const Rule& rule) {
    const uint32_t count = static_cast<uint32_t>(word.size());
    merges_.assign(count, Merge{});
    links_.resize(count);
    heap_.clear();
    const auto entry = [&](uint32_t at) { return uint64_t{merges_[at].rank} << 32 | at; };
    const auto update = [&](uint32_t at) {
      const uint32_t next = links_[at].next;
      merges_[at] = next < count ? rule(word[at], word[next]) : Merge{};
      if (merges_[at].rank == kNoRank) return;
      heap_.push_back(entry(at));
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    };
    for (uint32_t i = 0; i < count; ++i) {
      links_[i] = {i - 1, i + 1};
      if (i + 1 == count) break;
      merges_[i] = rule(word[i], word[i + 1]);
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
      word[at] = {word[at].begin, word[absorbed].end, merges_[at].id};
      merges_[absorbed].rank = kNoRank;
      links_[at].next = links_[absorbed].next;
      if (links_[at].next < count) links_[links_[at].next].previous = at;
      update(at);
      if (at > 0) update(links_[at].previous);
    }
    size_t kept = 0;
    for (uint32_t i = 0; i < count; i = links_[i].next) word[kept++] = word[i];
    return kept;
  }

  std::vector<MergeSymbol> unmerged_, window_, pair_;
  std::vector<MergeSymbol> unmerged_window_, merged_window_;  // the last one merged
  std::vector<Merge> merges_;  // [i] joins symbol i and the one behind it
  std::vector<Link> links_;
  std::vector<uint64_t> heap_;
};

}  // namespace arion

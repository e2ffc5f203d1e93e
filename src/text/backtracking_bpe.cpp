// The search, and merging where that is faster.
#include "text/backtracking_bpe.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace arion {

std::optional<BacktrackingBpe> BacktrackingBpe::make(const TokenBytes& strings,
                                                     std::span<const int32_t> bytes,
                                                     std::span<const MergeHistory::Rule> rules) {
  std::optional<MergeHistory> history = MergeHistory::make(strings, bytes, rules);
  if (!history) return std::nullopt;
  std::vector<SymbolTrie::Key> keys;
  for (uint32_t place = 0; place < history->end(); ++place) {
    if (history->string(place) != kNoToken)
      keys.push_back({strings[history->string(place)], place});
  }
  std::optional<SymbolTrie> trie = SymbolTrie::make(std::move(keys));
  if (!trie) return std::nullopt;
  return BacktrackingBpe(strings, *std::move(history), *std::move(trie));
}

BacktrackingBpe::BacktrackingBpe(const TokenBytes& strings, MergeHistory history, SymbolTrie trie)
    : history_(std::move(history)),
      trie_(std::move(trie)),
      is_symbol_(static_cast<size_t>(strings.size())) {
  for (uint32_t place = 0; place < history_.end(); ++place) {
    const int32_t string = history_.string(place);
    if (string != kNoToken) is_symbol_[static_cast<size_t>(string)] = true;
  }
}

void BacktrackingBpe::encode(std::string_view text, Scratch& scratch,
                             std::vector<int32_t>& strings) const {
  // Runs take up to 10 steps per byte, Chinese 12, English without spaces 15, letters at random 19.
  // Merging takes as long as 12, and short words do not pay for a try; nor do words behind one that
  // was better merged.
  constexpr size_t kStepsPerByte = 10, kShort = 128, kMergedWords = 32;
  bool is_found = false;
  if (text.size() > kShort && scratch.words_to_merge == 0) {
    is_found = search(text, kStepsPerByte, scratch, strings);
    if (!is_found) scratch.words_to_merge = kMergedWords;
  }
  if (!is_found) {
    merge(text, scratch, strings);
    if (scratch.words_to_merge > 0) --scratch.words_to_merge;
  }
}

bool BacktrackingBpe::search(std::string_view text, size_t steps_per_byte, Scratch& scratch,
                             std::vector<int32_t>& strings) const {
  if (!search_path(text, steps_per_byte, scratch)) return false;
  for (const uint32_t place : scratch.path) strings.push_back(history_.string(place));
  return true;
}

// Sets scratch.path.
bool BacktrackingBpe::search_path(std::string_view text, size_t steps_per_byte,
                                  Scratch& scratch) const {
  constexpr size_t kCall = 8, kLookup = 4;  // steps
  // The first of a run takes longer than the others.
  const size_t always = 64 + std::min(text.size() / 4, size_t{1} << 12);
  std::vector<uint32_t>& path = scratch.path;
  path.clear();
  std::vector<uint64_t>& dead_ends = scratch.dead_ends;
  dead_ends.assign(text.size() / 64 + 2, 0);
  size_t marked = 0;  // up to here; by pieces, as a search may soon be given up
  size_t steps = 0;
  size_t at = 0;
  SymbolTrie::Matches matches;
  SymbolTrie::Match next;
  const auto is_dead_end = [&](size_t end) { return (dead_ends[end / 64] >> end % 64 & 1) != 0; };
  const auto take_shorter = [&] {
    if (matches.lengths == 0) {
      next = trie_.shorter(next.number);
      return;
    }
    next.length = static_cast<uint32_t>(63 - std::countl_zero(matches.lengths));
    next.number = matches.numbers[next.length];
    matches.lengths ^= uint64_t{1} << next.length;
  };
  const auto take_longest = [&] {
    if (marked < std::min(at + SymbolTrie::Matches::kEnd, text.size())) {
      constexpr size_t kPiece = 4096;
      const size_t begin = std::max(marked, at);  // a run may have gone on far
      marked = std::min(begin + kPiece, text.size());
      history_.mark_joins(text, begin, marked, dead_ends);
    }
    trie_.find(text.substr(at), matches);
    steps += kCall + matches.looked_at;
    if (matches.looked_at == SymbolTrie::Matches::kEnd) {
      matches.lengths = 0;
      next = trie_.longest(text.substr(at), matches.looked_at);
      steps += matches.looked_at;
      return;
    }
    const size_t word = at / 64, bit = at % 64;
    const uint64_t dead = dead_ends[word] >> bit | dead_ends[word + 1] << 1 << (63 - bit);
    const uint64_t lengths = matches.lengths & ~dead;
    matches.lengths = lengths != 0 ? lengths : 1 << 1;
    take_shorter();
  };
  // A symbol that stands twice in a row mostly comes a third time.
  const auto goes_on = [&] {
    return path.size() > 1 && path.back() == path[path.size() - 2] &&
           text.size() - at >= next.length && !is_dead_end(at + next.length) &&
           std::memcmp(text.data() + at - next.length, text.data() + at, next.length) == 0;
  };
  take_longest();
  while (true) {
    const size_t end = at + next.length;
    if (steps > always + steps_per_byte * end) return false;
    bool fits = !is_dead_end(end);
    if (fits && !path.empty()) {
      scratch.work.lookups = 0;
      fits = history_.stay_apart(path.back(), next.number, scratch.work);
      steps += kCall + kLookup * scratch.work.lookups;
    }
    if (fits) {
      path.push_back(next.number);
      at = end;
      while (goes_on()) {
        path.push_back(next.number);
        at += next.length;
      }
      if (at == text.size()) return true;
      take_longest();
      continue;
    }
    take_shorter();
    while (next.number == SymbolTrie::kNone) {
      dead_ends[at / 64] |= uint64_t{1} << at % 64;
      CHECK(!path.empty());
      next.number = path.back();
      path.pop_back();
      at -= trie_.length(next.number);
      // Where it only went on, longer ones have not been tried.
      const bool went_on =
          path.size() > 1 && path.back() == next.number && path[path.size() - 2] == next.number;
      if (went_on) {
        take_longest();
      } else {
        matches.lengths = 0;
        take_shorter();
      }
    }
  }
}

void BacktrackingBpe::merge(std::string_view text, Scratch& scratch,
                            std::vector<int32_t>& strings) const {
  Merger& merger = scratch.work.merger;
  history_.merge(text, merger);
  const size_t first = strings.size();
  strings.resize(first + merger.symbols.size());
  for (size_t i = 0; i < merger.symbols.size(); ++i) {
    strings[first + i] = history_.string(static_cast<uint32_t>(merger.symbols[i].id));
  }
}

}  // namespace arion

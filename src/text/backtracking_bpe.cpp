// The search, and merging where that is faster.
#include "text/backtracking_bpe.h"

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
      lengths_(history_.end()),
      is_symbol_(static_cast<size_t>(strings.size())) {
  for (uint32_t place = 0; place < history_.end(); ++place) {
    const int32_t string = history_.string(place);
    if (string == kNoToken) continue;
    lengths_[place] = static_cast<uint32_t>(strings[string].size());
    is_symbol_[static_cast<size_t>(string)] = true;
  }
}

void BacktrackingBpe::encode(std::string_view text, Scratch& scratch) const {
  // Runs take up to 10 steps per byte, Chinese 12, English without spaces and letters at random 20
  // and more. Merging takes as long as 14, and short words do not pay for a try; nor do words
  // behind one that was better merged.
  constexpr size_t kStepsPerByte = 14, kShort = 64, kMergedWords = 32;
  bool is_found = false;
  if (text.size() > kShort && scratch.words_to_merge == 0) {
    is_found = search(text, kStepsPerByte, scratch);
    if (!is_found) scratch.words_to_merge = kMergedWords;
  }
  if (!is_found) {
    merge(text, scratch);
    if (scratch.words_to_merge > 0) --scratch.words_to_merge;
  }
  scratch.strings.clear();
  for (const uint32_t place : scratch.path) scratch.strings.push_back(history_.string(place));
}

bool BacktrackingBpe::search(std::string_view text, size_t steps_per_byte, Scratch& scratch) const {
  constexpr size_t kCall = 8, kLookup = 4;  // steps
  // The first of a run takes longer than the others.
  const size_t always = 64 + text.size() / 4;
  std::vector<uint32_t>& path = scratch.path;
  path.clear();
  std::vector<uint64_t>& dead_ends = scratch.dead_ends;
  dead_ends.assign(text.size() / 64 + 1, 0);
  size_t steps = 0;
  size_t at = 0;
  const auto longest = [&] {
    const SymbolTrie::Match match = trie_.longest(text.substr(at));
    steps += kCall + match.looked_at;
    return match.number;
  };
  // A symbol that stands twice in a row mostly comes a third time.
  const auto goes_on = [&](size_t length) {
    return path.size() > 1 && path.back() == path[path.size() - 2] && text.size() - at >= length &&
           std::memcmp(text.data() + at - length, text.data() + at, length) == 0;
  };
  uint32_t next = longest();
  while (true) {
    const size_t end = at + lengths_[next];
    if (steps > always + steps_per_byte * end) return false;
    bool fits = (dead_ends[end / 64] >> end % 64 & 1) == 0;
    if (fits && !path.empty()) {
      scratch.work.lookups = 0;
      fits = history_.stay_apart(path.back(), next, scratch.work);
      steps += kCall + kLookup * scratch.work.lookups;
    }
    if (fits) {
      path.push_back(next);
      at = end;
      while (goes_on(lengths_[next])) {
        path.push_back(next);
        at += lengths_[next];
      }
      if (at == text.size()) return true;
      next = longest();
      continue;
    }
    next = trie_.shorter(next);
    while (next == SymbolTrie::kNone) {
      dead_ends[at / 64] |= uint64_t{1} << at % 64;
      CHECK(!path.empty());
      next = path.back();
      path.pop_back();
      at -= lengths_[next];
      // Where it only went on, longer ones have not been tried.
      const bool went_on = path.size() > 1 && path.back() == next && path[path.size() - 2] == next;
      next = went_on ? longest() : trie_.shorter(next);
    }
  }
}

void BacktrackingBpe::merge(std::string_view text, Scratch& scratch) const {
  history_.merge(text, scratch.work.merger);
  scratch.path.clear();
  for (const MergeSymbol& symbol : scratch.work.merger.symbols) {
    scratch.path.push_back(static_cast<uint32_t>(symbol.id));
  }
}

}  // namespace arion

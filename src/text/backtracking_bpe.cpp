// The search, and merging where that is faster.
#include "text/backtracking_bpe.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace arion {

std::optional<BacktrackingBpe> BacktrackingBpe::make(const TokenBytes& strings,
                                                     std::span<const int32_t> bytes,
                                                     std::span<const MergeHistory::Rule> rules) {
  std::optional<MergeHistory> history = MergeHistory::make(strings, bytes, rules);
  if (!history) return std::nullopt;
  size_t total_bytes = 0;
  std::vector<uint32_t> places;
  for (uint32_t place = 0; place < history->end(); ++place) {
    if (history->string(place) == kNoToken) continue;
    places.push_back(place);
    total_bytes += strings[history->string(place)].size();
  }
  if (history->end() + total_bytes > SymbolTrie::kMostNodes) return std::nullopt;
  const auto length = [&](uint32_t place) { return strings[history->string(place)].size(); };
  std::stable_sort(places.begin(), places.end(),
                   [&](uint32_t a, uint32_t b) { return length(a) < length(b); });
  return BacktrackingBpe(strings, *std::move(history), places);
}

BacktrackingBpe::BacktrackingBpe(const TokenBytes& strings, MergeHistory history,
                                 std::span<const uint32_t> by_length)
    : history_(std::move(history)),
      trie_(history_.end()),
      lengths_(history_.end()),
      is_symbol_(static_cast<size_t>(strings.size())) {
  for (const uint32_t place : by_length) {
    const std::string_view text = strings[history_.string(place)];
    trie_.add(text, place);
    lengths_[place] = static_cast<uint32_t>(text.size());
    is_symbol_[static_cast<size_t>(history_.string(place))] = true;
  }
}

void BacktrackingBpe::encode(std::string_view text, Scratch& scratch) const {
  // Runs of one character take up to 10 steps per byte, text of short tokens 14 to 20. Merging
  // takes as long as 12, and short words do not pay for a try.
  constexpr size_t kStepsPerByte = 12, kShort = 64;
  if (text.size() <= kShort || !search(text, kStepsPerByte, scratch)) merge(text, scratch);
  scratch.strings.clear();
  for (const uint32_t place : scratch.path) scratch.strings.push_back(history_.string(place));
}

bool BacktrackingBpe::search(std::string_view text, size_t steps_per_byte, Scratch& scratch) const {
  constexpr size_t kCall = 8, kLookup = 4, kAlways = 64;  // steps
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
  uint32_t next = longest();
  while (true) {
    const size_t end = at + lengths_[next];
    if (steps > kAlways + steps_per_byte * end) return false;
    bool fits = (dead_ends[end / 64] >> end % 64 & 1) == 0;
    if (fits && !path.empty()) {
      scratch.work.lookups = 0;
      fits = history_.stay_apart(path.back(), next, scratch.work);
      steps += kCall + kLookup * scratch.work.lookups;
    }
    if (fits) {
      path.push_back(next);
      if (end == text.size()) return true;
      at = end;
      next = longest();
      continue;
    }
    while ((next = trie_.shorter(next)) == SymbolTrie::kNone) {
      dead_ends[at / 64] |= uint64_t{1} << at % 64;
      CHECK(!path.empty());
      next = path.back();
      path.pop_back();
      at -= lengths_[next];
    }
  }
}

void BacktrackingBpe::merge(std::string_view text, Scratch& scratch) const {
  std::vector<MergeSymbol>& symbols = scratch.work.merger.symbols;
  symbols.clear();
  for (uint32_t i = 0; i < text.size(); ++i) {
    symbols.push_back({i, i + 1, static_cast<uint8_t>(text[i])});
  }
  history_.merge(scratch.work.merger);
  scratch.path.clear();
  for (const MergeSymbol& symbol : symbols) {
    scratch.path.push_back(static_cast<uint32_t>(symbol.id));
  }
}

}  // namespace arion

// Rules from the shortest result to the longest: what the halves do is known by then.
#include "text/merge_history.h"

#include <algorithm>
#include <bit>
#include <random>

#include "base/check.h"

namespace arion {

MergeHistory::MergeHistory(size_t rule_count)
    : strings_(kBytes + rule_count, kNoToken),
      makings_(kBytes + rule_count),
      first_bytes_(kBytes + rule_count),
      last_bytes_(kBytes + rule_count) {
  for (uint32_t i = 0; i < kBytes; ++i) first_bytes_[i] = last_bytes_[i] = static_cast<uint8_t>(i);
  std::random_device device;
  multiplier_ = uint64_t{device()} << 32 | device() | 1;
}

void MergeHistory::add(uint32_t left, uint32_t right, uint32_t joined) {
  first_bytes_[joined] = first_bytes_[left], last_bytes_[joined] = last_bytes_[right];
  BytePair& pair = pairs_[last_bytes_[left] * kBytes + first_bytes_[right]];
  if (left < kBytes) pair.takes_left = std::min(pair.takes_left, joined);
  if (right < kBytes) pair.takes_right = std::min(pair.takes_right, joined);
  for (const uint32_t half : {left, right}) {
    const Making made = making(half);
    if (joined < half && (made.left | made.right) < kBytes) {
      pairs_[made.left * kBytes + made.right].joined_in_order = kNone;
    }
  }
  const uint32_t time = std::max({joined, making(left).time, making(right).time});
  makings_[joined] = (uint64_t{left} << kPlaceBits | right) << kPlaceBits | time;
  if ((left | right) < kBytes) pair.joined_in_order = joined;
  const uint64_t key = uint64_t{left} << kPlaceBits | right;
  const uint64_t hash = key * multiplier_;
  filter_[hash >> kFilterShift] |= filter_bits(hash);
  size_t at = kFirstSlot + (hash >> shift_);
  while (slots_[at] != kFree) at = slot_behind(at);
  slots_[at] = key << kPlaceBits | joined;
}

// Where a merge waited for one of a higher rank, times do not tell what went before what.
bool MergeHistory::merge_apart(uint32_t left, uint32_t right, Work& work) const {
  std::vector<MergeSymbol>& symbols = work.merger.symbols;
  symbols.clear();
  add_bytes(left, symbols);
  add_bytes(right, symbols);
  work.lookups += 4 * symbols.size();
  work.merger.run([this](const MergeSymbol& a, const MergeSymbol& b) { return rule(a, b); });
  return symbols.size() == 2 && symbols[0].id == static_cast<int32_t>(left) &&
         symbols[1].id == static_cast<int32_t>(right);
}

void MergeHistory::add_bytes(uint32_t place, std::vector<MergeSymbol>& symbols) const {
  std::vector<uint32_t> behind = {place};
  while (!behind.empty()) {
    place = behind.back();
    behind.pop_back();
    if (place < kBytes) {
      const uint32_t at = static_cast<uint32_t>(symbols.size());
      symbols.push_back({at, at + 1, static_cast<int32_t>(place)});
    } else {
      behind.push_back(making(place).right);
      behind.push_back(making(place).left);
    }
  }
}

Merge MergeHistory::rule(const MergeSymbol& left, const MergeSymbol& right) const {
  const uint32_t place = find(static_cast<uint32_t>(left.id), static_cast<uint32_t>(right.id));
  static_assert(kNone == kNoRank);
  return {place, static_cast<int32_t>(place)};
}

// Calls visit(i, place) for the bytes of a text behind the first one: with the place of the symbol
// that byte i and the one before it become, or kNone where that is not certain. It is certain where
// no merge that takes one of the two away goes before theirs. Nor does a merge of their symbol, so
// that they may merge first of all.
template <class Visit>
void MergeHistory::visit_joins(std::string_view text, const Visit& visit) const {
  const auto pair_before = [&](size_t i) {
    return pairs_[static_cast<uint8_t>(text[i - 1]) * kBytes + static_cast<uint8_t>(text[i])];
  };
  if (text.size() < 2) return;
  BytePair before, here = pair_before(1);
  for (size_t i = 1; i < text.size(); ++i) {
    const BytePair behind = i + 1 < text.size() ? pair_before(i + 1) : BytePair{};
    const uint32_t joins = here.joined_in_order < std::min(before.takes_right, behind.takes_left);
    visit(i, here.joined_in_order | (joins - 1));  // no branch, as it would be mispredicted
    before = here, here = behind;
  }
}

void MergeHistory::mark_joins(std::string_view text, size_t begin, size_t end,
                              std::span<uint64_t> bits) const {
  const size_t from = begin - std::min(begin, size_t{2});  // two bytes on each side tell
  visit_joins(text.substr(from, end + 2 - from), [&](size_t i, uint32_t joined) {
    const size_t place = from + i;
    const bool joins = joined != kNone && place >= begin && place < end;
    bits[place / 64] |= uint64_t{joins} << place % 64;
  });
}

void MergeHistory::merge(std::string_view text, Merger& merger) const {
  const auto fill = [&](uint32_t begin, uint32_t end, std::vector<MergeSymbol>& symbols) {
    symbols.resize(end - begin);
    symbols[0] = {begin, begin + 1, static_cast<uint8_t>(text[begin])};
    size_t count = 1;
    visit_joins(text.substr(begin, end - begin), [&](size_t i, uint32_t joined) {
      const uint32_t at = begin + static_cast<uint32_t>(i);
      const uint32_t byte = static_cast<uint8_t>(text[at]);
      const uint32_t joins = joined != kNone;
      count -= joins;
      symbols[count++] = {at - joins, at + 1,
                          static_cast<int32_t>(byte ^ ((byte ^ joined) & (0 - joins)))};
    });
    symbols.resize(count);
  };
  merger.run(
      static_cast<uint32_t>(text.size()), fill,
      [this](const MergeSymbol& left, const MergeSymbol& right) { return rule(left, right); });
}

std::optional<MergeHistory> MergeHistory::make(const TokenBytes& strings,
                                               std::span<const int32_t> bytes,
                                               std::span<const Rule> rules) {
  CHECK(bytes.size() == kBytes);
  if (kBytes + rules.size() >= kMostPlaces) return std::nullopt;
  MergeHistory history(rules.size());
  std::vector<uint32_t> places(static_cast<size_t>(strings.size()), kNone);
  const auto put = [&](int32_t string, uint32_t place) {
    places[static_cast<size_t>(string)] = place;
    history.strings_[place] = string;
  };
  for (uint32_t byte = 0; byte < kBytes; ++byte) put(bytes[byte], byte);

  std::vector<uint64_t> order;  // length of the result, then rank
  order.reserve(rules.size());
  size_t results = 0;
  std::vector<bool> is_result(places.size());
  for (size_t rank = 0; rank < rules.size(); ++rank) {
    const int32_t result = rules[rank].result;
    order.push_back(uint64_t{strings[result].size()} << kPlaceBits | rank);
    results += !is_result[static_cast<size_t>(result)];
    is_result[static_cast<size_t>(result)] = true;
  }
  std::sort(order.begin(), order.end());
  const size_t slots = std::bit_ceil(2 * results + 2);
  history.slots_.assign(kFirstSlot + slots, kFree);
  history.shift_ = 64 - std::countr_zero(slots);

  Work work;
  for (const uint64_t key : order) {
    const uint32_t rank = key & (kMostPlaces - 1);
    const auto place_of = [&](int32_t string) { return places[static_cast<size_t>(string)]; };
    const uint32_t left = place_of(rules[rank].left), right = place_of(rules[rank].right);
    if (left == kNone || right == kNone || place_of(rules[rank].result) != kNone) continue;
    // Not added yet, so this asks whether merging gets as far as these two.
    if (!history.stay_apart(left, right, work)) continue;
    put(rules[rank].result, kBytes + rank);
    history.add(left, right, kBytes + rank);
  }
  return history;
}

}  // namespace arion

// Both ways of merging against the obvious quadratic one.
#include "text/merge.h"

#include <gtest/gtest.h>

#include <random>

namespace arion {
namespace {

// Rank and result are arbitrary but fixed functions of the two symbols; many ranks are equal.
Merge arbitrary_rule(const MergeSymbol& left, const MergeSymbol& right) {
  const uint32_t mixed =
      (static_cast<uint32_t>(left.id) * 31 + static_cast<uint32_t>(right.id)) * 2654435761u >> 20;
  if (mixed % 4 == 0) return {};
  return {mixed % 16, static_cast<int32_t>(mixed % 23)};
}

std::vector<MergeSymbol> merge_naively(std::vector<MergeSymbol> symbols) {
  while (true) {
    Merge best;
    size_t at = 0;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const Merge merge = arbitrary_rule(symbols[i], symbols[i + 1]);
      if (merge.rank < best.rank) best = merge, at = i;
    }
    if (best.rank == kNoRank) return symbols;
    symbols[at] = {symbols[at].begin, symbols[at + 1].end, best.id};
    symbols.erase(symbols.begin() + static_cast<ptrdiff_t>(at) + 1);
  }
}

TEST(Merger, AgreesWithTheQuadraticAlgorithmForAllLengths) {
  std::mt19937 random(3);
  Merger merger;
  for (int round = 0; round < 1500; ++round) {
    const uint32_t length = random() % (round % 5 == 0 ? 700 : 120);
    std::vector<MergeSymbol> symbols;
    for (uint32_t i = 0; i < length; ++i) {
      symbols.push_back({i, i + 1, static_cast<int32_t>(random() % (round % 2 ? 3 : 20))});
    }
    merger.symbols = symbols;
    merger.run(arbitrary_rule);
    const auto expected = merge_naively(symbols);
    ASSERT_EQ(merger.symbols.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(merger.symbols[i].begin, expected[i].begin);
      ASSERT_EQ(merger.symbols[i].end, expected[i].end);
      ASSERT_EQ(merger.symbols[i].id, expected[i].id);
    }
  }
}

TEST(Merger, AgreesWithTheQuadraticAlgorithmForRepeatedText) {
  std::mt19937 random(4);
  Merger merger;
  for (int round = 0; round < 200; ++round) {
    const uint32_t period = 1 + random() % 9, length = random() % 900;
    std::vector<MergeSymbol> symbols;
    for (uint32_t i = 0; i < length; ++i) {
      const int32_t id = i < period || random() % 300 == 0 ? static_cast<int32_t>(random() % 5)
                                                           : symbols[i - period].id;
      symbols.push_back({i, i + 1, id});
    }
    merger.symbols = symbols;
    merger.run(arbitrary_rule);
    ASSERT_EQ(merger.symbols, merge_naively(symbols));
  }
}

TEST(Merger, MergesWindowsThatRepeatOnce) {
  constexpr uint32_t kLength = 160000;
  Merger merger;
  for (uint32_t i = 0; i < kLength; ++i) merger.symbols.push_back({i, i + 1, 0});
  size_t calls = 0;
  merger.run([&](const MergeSymbol& left, const MergeSymbol& right) -> Merge {
    ++calls;
    if (left.id != right.id || left.id == 4) return {};
    return {static_cast<uint32_t>(left.id), left.id + 1};
  });
  EXPECT_EQ(merger.symbols.size(), kLength / 16);
  EXPECT_LE(calls, 2000u);
}

TEST(Merger, CallsTheRuleOnlyAFewTimesPerSymbolOfALongWord) {
  constexpr uint32_t kLength = 100000;
  Merger merger;
  for (uint32_t i = 0; i < kLength; ++i) merger.symbols.push_back({i, i + 1, 0});
  size_t calls = 0;
  merger.run([&](const MergeSymbol& left, const MergeSymbol& right) -> Merge {
    ++calls;
    if (left.id != right.id) return {};
    return {static_cast<uint32_t>(left.id), left.id + 1};
  });
  EXPECT_LE(calls, 8 * kLength);
  EXPECT_LE(merger.symbols.size(), 17u);  // one per set bit of the length
}

}  // namespace
}  // namespace arion

// Searching and merging against the plain way: the best pair of all, again and again.
#include "text/backtracking_bpe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>

namespace arion {
namespace {

constexpr size_t kAnySteps = size_t{1} << 40;

// The 256 bytes and rules over strings of a few letters.
struct Merges {
  TokenBytes strings;
  std::array<int32_t, 256> bytes;
  std::vector<MergeHistory::Rule> rules;

  Merges() {
    for (int byte = 0; byte < 256; ++byte) {
      bytes[byte] = strings.add(std::string(1, static_cast<char>(byte)));
    }
  }
  int32_t intern(const std::string& text) {
    for (int32_t id = 0; id < strings.size(); ++id) {
      if (strings[id] == text) return id;
    }
    return strings.add(text);
  }
  void add(int32_t left, int32_t right) {
    const std::string joined = std::string(strings[left]) + std::string(strings[right]);
    rules.push_back({left, right, intern(joined)});
  }
  // Of two rules for a pair the first counts.
  std::vector<int32_t> merge_plainly(std::string_view text) const {
    std::vector<int32_t> symbols;
    for (const char c : text) symbols.push_back(bytes[static_cast<uint8_t>(c)]);
    while (true) {
      size_t best = rules.size(), at = 0;
      for (size_t i = 0; i + 1 < symbols.size(); ++i) {
        const auto rule = std::find_if(rules.begin(), rules.end(), [&](const auto& r) {
          return r.left == symbols[i] && r.right == symbols[i + 1];
        });
        const size_t rank = static_cast<size_t>(rule - rules.begin());
        if (rank < best) best = rank, at = i;
      }
      if (best == rules.size()) return symbols;
      symbols[at] = rules[best].result;
      symbols.erase(symbols.begin() + static_cast<ptrdiff_t>(at) + 1);
    }
  }
};

std::string random_text(std::mt19937& random, int letters, size_t most) {
  std::string text(1 + random() % most, ' ');
  for (char& c : text) c = static_cast<char>('a' + random() % letters);
  return text;
}

std::vector<int32_t> strings_of(const BacktrackingBpe& bpe, std::string_view text, bool searches) {
  BacktrackingBpe::Scratch scratch;
  std::vector<int32_t> strings;
  if (searches) {
    EXPECT_TRUE(bpe.search(text, kAnySteps, scratch, strings));
  } else {
    bpe.merge(text, scratch, strings);
  }
  return strings;
}

void expect_equal_to_plain_merging(const Merges& merges, int letters, std::mt19937& random) {
  const auto bpe = BacktrackingBpe::make(merges.strings, merges.bytes, merges.rules);
  ASSERT_TRUE(bpe);
  BacktrackingBpe::Scratch scratch;
  for (int i = 0; i < 30; ++i) {
    const std::string text = random_text(random, letters, i % 10 == 0 ? 200 : 25);
    const auto expected = merges.merge_plainly(text);
    ASSERT_EQ(strings_of(*bpe, text, true), expected) << text;
    ASSERT_EQ(strings_of(*bpe, text, false), expected) << text;
    std::vector<int32_t> strings;
    bpe->encode(text, scratch, strings);
    ASSERT_EQ(strings, expected) << text;
  }
  for (int32_t id = 0; id < merges.strings.size(); ++id) {
    const bool is_symbol = merges.merge_plainly(merges.strings[id]) == std::vector<int32_t>{id};
    ASSERT_EQ(bpe->is_symbol(id), is_symbol) << merges.strings[id];
  }
}

// Every rule joins what rules before it made.
Merges trained(std::mt19937& random, int letters, int count) {
  Merges merges;
  std::vector<int32_t> known;
  for (int i = 0; i < letters; ++i) known.push_back(merges.bytes['a' + i]);
  for (int i = 0; i < count; ++i) {
    merges.add(known[random() % known.size()], known[random() % known.size()]);
    known.push_back(merges.rules.back().result);
  }
  return merges;
}

TEST(BacktrackingBpe, EqualsMergingForListsInTheOrderOfTraining) {
  std::mt19937 random(1);
  for (int round = 0; round < 150; ++round) {
    const int letters = 1 + round % 4;
    expect_equal_to_plain_merging(trained(random, letters, 2 + round % 20), letters, random);
  }
}

TEST(BacktrackingBpe, EqualsMergingWhereRulesComeBeforeThoseTheyNeed) {
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    const int letters = 1 + round % 4;
    Merges merges = trained(random, letters, 2 + round % 20);
    std::shuffle(merges.rules.begin(), merges.rules.end(), random);
    expect_equal_to_plain_merging(merges, letters, random);
  }
}

TEST(BacktrackingBpe, EqualsMergingWhereEverySplitOfATokenIsARule) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    const int letters = 1 + round % 3;
    Merges merges;
    std::vector<std::string> tokens;
    for (int i = 0; i < letters; ++i) tokens.push_back(std::string(1, static_cast<char>('a' + i)));
    for (int i = 0; i < 12; ++i) tokens.push_back(random_text(random, letters, 6));
    for (const std::string& token : tokens) {
      for (size_t cut = 1; cut < token.size(); ++cut) {
        const std::string left = token.substr(0, cut), right = token.substr(cut);
        if (std::ranges::count(tokens, left) == 0 || std::ranges::count(tokens, right) == 0) {
          continue;
        }
        merges.add(merges.intern(left), merges.intern(right));
      }
    }
    if (round % 2 == 1) std::shuffle(merges.rules.begin(), merges.rules.end(), random);
    expect_equal_to_plain_merging(merges, letters, random);
  }
}

TEST(BacktrackingBpe, ARunOfALongTokenIsFoundInFewSteps) {
  Merges merges;
  for (int i = 0; i < 7; ++i) merges.add(merges.strings.size() - 1, merges.strings.size() - 1);
  const auto bpe = BacktrackingBpe::make(merges.strings, merges.bytes, merges.rules);
  ASSERT_TRUE(bpe);
  BacktrackingBpe::Scratch scratch;
  std::vector<int32_t> strings;
  EXPECT_TRUE(bpe->search(std::string(100'000, '\xFF'), 2, scratch, strings));
  EXPECT_EQ(strings.size(), 100'000u / 128 + 1);  // the rest is 32
}

TEST(BacktrackingBpe, RunsEqualMergingWhateverComesBehindThem) {
  std::mt19937 random(4);
  for (int round = 0; round < 60; ++round) {
    Merges merges = trained(random, 2, 2 + round % 20);
    if (round % 2 == 1) std::shuffle(merges.rules.begin(), merges.rules.end(), random);
    const auto bpe = BacktrackingBpe::make(merges.strings, merges.bytes, merges.rules);
    ASSERT_TRUE(bpe);
    for (int i = 0; i < 10; ++i) {
      const std::string unit = random_text(random, 2, 4);
      std::string text = random_text(random, 2, 4);
      for (int times = 3 + static_cast<int>(random() % 30); times > 0; --times) text += unit;
      text += random_text(random, 2, 4);
      ASSERT_EQ(strings_of(*bpe, text, true), merges.merge_plainly(text)) << text;
    }
  }
}

TEST(BacktrackingBpe, ASearchThatFindsNothingFastIsGivenUpAndMergingTakesOver) {
  // Every place looks for 500 letters with another behind, which never comes.
  Merges merges;
  const int32_t letters[] = {merges.bytes['a'], merges.bytes['c']};
  int32_t long_token = merges.bytes['b'];
  for (int i = 0; i < 500; ++i) {
    merges.add(letters[i % 2], long_token);
    long_token = merges.rules.back().result;
  }
  const auto bpe = BacktrackingBpe::make(merges.strings, merges.bytes, merges.rules);
  ASSERT_TRUE(bpe);
  BacktrackingBpe::Scratch scratch;
  std::string text;
  std::vector<int32_t> expected;
  while (text.size() < 10'000) {
    text += "ac";
    expected.insert(expected.end(), {letters[0], letters[1]});
  }
  std::vector<int32_t> strings;
  EXPECT_FALSE(bpe->search(text, 100, scratch, strings));
  bpe->encode(text, scratch, strings);
  EXPECT_EQ(strings, expected);
}

}  // namespace
}  // namespace arion

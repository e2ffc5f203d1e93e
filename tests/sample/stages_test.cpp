// Stages against references that sort and sum everything in fp64.
#include "sample/stages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sample/random_rows.h"

namespace arion {
namespace {

struct Expected {
  std::vector<Candidate> kept;  // in order
  bool is_on_the_line = false;  // a comparison was closer than fp32 can tell
};

// Distance to a limit below which fp32 exponentials may decide otherwise.
constexpr double kTooClose = 2e-6;

std::vector<Candidate> sorted_row(const std::vector<float>& row) {
  std::vector<Candidate> sorted;
  for (size_t i = 0; i < row.size(); ++i) sorted.push_back({static_cast<TokenId>(i), row[i]});
  std::sort(sorted.begin(), sorted.end(), ranks_before);
  return sorted;
}

Expected by_definition(const std::vector<Candidate>& sorted, const SamplingParams& params) {
  Expected result{.kept = sorted};
  std::vector<Candidate>& kept = result.kept;
  const double peak = kept.front().logit;
  if (params.top_k > 0) kept.resize(std::min(kept.size(), static_cast<size_t>(params.top_k)));
  const auto mass_of = [&](const Candidate& c) { return std::exp(c.logit - peak); };
  if (params.top_p < 1.0f) {
    double total = 0;
    for (const Candidate& c : kept) total += mass_of(c);
    double sum = 0;
    size_t count = 0;
    while (count < kept.size()) {
      sum += mass_of(kept[count++]);
      const double distance = sum / total - static_cast<double>(params.top_p);
      if (std::abs(distance) < kTooClose) result.is_on_the_line = true;
      if (distance >= 0) break;
    }
    kept.resize(count);
  }
  if (params.min_p > 0.0f) {
    std::erase_if(kept, [&](const Candidate& c) {
      const double distance = mass_of(c) - static_cast<double>(params.min_p);
      if (std::abs(distance) < kTooClose) result.is_on_the_line = true;
      return distance < 0;
    });
  }
  return result;
}

std::vector<Candidate> survivors_of(const std::vector<float>& row, const SamplingParams& params) {
  Survivors survivors;
  apply_stages(row, find_peak(row), params, survivors);
  if (survivors.is_everything) return sorted_row(row);
  std::sort(survivors.kept.begin(), survivors.kept.end(), ranks_before);
  return survivors.kept;
}

TEST(Stages, EqualTheirDefinitionsOnAThousandRows) {
  int compared = 0;
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    const std::vector<float> row = test::random_row(seed);
    const std::vector<Candidate> sorted = sorted_row(row);
    for (const int top_k : {0, 1, 40}) {
      for (const float top_p : {1.0f, 0.95f, 0.3f, 0.0f}) {
        for (const float min_p : {0.0f, 0.05f, 1.0f}) {
          const SamplingParams params{.top_k = top_k, .top_p = top_p, .min_p = min_p};
          const Expected expected = by_definition(sorted, params);
          // min_p = 1 lies on the line by definition: exactly the tokens equal to the largest.
          if (expected.is_on_the_line && min_p != 1.0f) continue;
          ++compared;
          ASSERT_EQ(survivors_of(row, params), expected.kept)
              << "seed " << seed << ", top_k " << top_k << ", top_p " << top_p << ", min_p "
              << min_p;
        }
      }
    }
  }
  EXPECT_GT(compared, 30000);
}

TEST(Stages, FlatRowsNeedMoreThanTheFirstGuess) {
  const std::vector<float> row(20000, 0.5f);
  EXPECT_EQ(survivors_of(row, {.top_p = 0.5f}).size(), 10000u);
  EXPECT_EQ(survivors_of(row, {.top_p = 0.999999f}).size(), 20000u);
}

// Corpus case 071: p = B .6629, C .2439, D .0897, rest .0035 in all.
TEST(Stages, BoundariesPickExactlyTheRightSet) {
  const auto letters = [](const SamplingParams& params) {
    std::string set;
    for (const Candidate& c : survivors_of(test::iid_row(), params)) {
      set += c.logit > -8.0f ? static_cast<char>(c.id) : '.';
    }
    return set;
  };
  EXPECT_EQ(letters({.top_p = 0.5f}), "B");
  EXPECT_EQ(letters({.top_p = 0.7f}), "BC");
  EXPECT_EQ(letters({.top_p = 0.95f}), "BCD");
  EXPECT_EQ(letters({.min_p = 0.3f}), "BC");
  EXPECT_EQ(letters({.min_p = 0.4f}), "B");
  EXPECT_EQ(letters({.min_p = 0.1f}), "BCD");
  EXPECT_EQ(letters({.top_p = 1.0f, .min_p = 0.0f}).size(), 320u);
  EXPECT_EQ(letters({.top_k = 2}), "BC");
  EXPECT_EQ(letters({.top_k = 0}).size(), 320u);
  EXPECT_EQ(letters({.top_k = -1}).size(), 320u);
}

TEST(Stages, TopPMeasuresWhatTopKLeft) {
  // Of B and C alone, B holds 73 %.
  EXPECT_EQ(survivors_of(test::iid_row(), {.top_k = 2, .top_p = 0.7f}).size(), 1u);
  EXPECT_EQ(survivors_of(test::iid_row(), {.top_p = 0.7f}).size(), 2u);
}

}  // namespace
}  // namespace arion

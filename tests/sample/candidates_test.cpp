// Selection against a full sort.
#include "sample/candidates.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "sample/random_rows.h"

namespace arion {
namespace {

std::vector<Candidate> sorted_row(const std::vector<float>& row) {
  std::vector<Candidate> all;
  for (size_t i = 0; i < row.size(); ++i) {
    if (row[i] > -kInfinity) all.push_back({static_cast<TokenId>(i), row[i]});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& a, const Candidate& b) { return a.logit > b.logit; });
  return all;
}

ScannedRow scan(std::span<const float> row) {
  ScannedRow scanned;
  scanned.scan(row);
  return scanned;
}

TEST(Candidates, TopIsAPrefixOfTheSortedAllowedTokensForAnyK) {
  std::vector<Candidate> top;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const std::vector<float> row = test::random_row(seed);
    const std::vector<Candidate> all = sorted_row(row);
    for (const size_t k :
         {size_t{1}, size_t{2}, size_t{40}, size_t{300}, row.size(), size_t{1} << 20}) {
      select_top(scan(row), k, top);
      ASSERT_EQ(top.size(), std::min(k, all.size()));
      ASSERT_TRUE(std::equal(top.begin(), top.end(), all.begin())) << "seed " << seed << " k " << k;
    }
  }
}

TEST(Candidates, TopOfAscendingAndConstantRowsIsRight) {
  std::vector<float> row(100000);
  for (size_t i = 0; i < row.size(); ++i) row[i] = static_cast<float>(i);
  std::vector<Candidate> top;
  select_top(scan(row), 3, top);
  EXPECT_EQ(top[0].id, 99999);
  EXPECT_EQ(top[2].id, 99997);
  std::fill(row.begin(), row.end(), 1.0f);
  select_top(scan(row), 3, top);
  EXPECT_EQ(top[0].id, 0);
  EXPECT_EQ(top[2].id, 2);
}

TEST(Candidates, PlacesAreThoseOfTheSortedRow) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const std::vector<float> row = test::random_row(seed);
    const std::vector<Candidate> all = sorted_row(row);
    const ScannedRow scanned = scan(row);
    for (size_t place = 0; place < std::min<size_t>(all.size(), 300); ++place) {
      ASSERT_EQ(count_before(scanned, all[place].id), place) << "seed " << seed;
    }
  }
}

TEST(Candidates, ThresholdKeepsEqualLogitsByAscendingId) {
  const std::vector<float> row = {1, 3, 2, 3, -kInfinity, 2};
  std::vector<Candidate> kept;
  select_at_least(scan(row), 2.0f, kept);
  EXPECT_EQ(kept, (std::vector<Candidate>{{1, 3}, {2, 2}, {3, 3}, {5, 2}}));
}

TEST(Candidates, BestIsTheLowestIdWithTheLargestLogit) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const std::vector<float> row = test::random_row(seed);
    const Candidate first = sorted_row(row).front();
    EXPECT_EQ(scan(row).best().id, first.id);
    EXPECT_EQ(scan(row).best().logit, first.logit);
  }
}

TEST(Candidates, UnusableRowsAreErrorsThatNameTheToken) {
  for (const size_t size : {size_t{37}, size_t{64}, size_t{200}}) {
    for (size_t at = 0; at < size; at += 9) {
      for (const float bad : {std::numeric_limits<float>::quiet_NaN(), kInfinity}) {
        std::vector<float> row(size, 1.0f);
        row[at] = bad;
        try {
          scan(row);
          FAIL() << "no error";
        } catch (const Error& error) {
          EXPECT_NE(std::string(error.what()).find("token " + std::to_string(at) + ";"),
                    std::string::npos)
              << error.what();
        }
      }
    }
  }
  EXPECT_THROW(scan(std::vector<float>(20, -kInfinity)), Error);
  EXPECT_THROW(scan({}), Error);
}

}  // namespace
}  // namespace arion

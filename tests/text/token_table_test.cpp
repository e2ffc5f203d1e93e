// The map from bytes to tokens, through its filter.
#include "text/token_table.h"

#include <gtest/gtest.h>

#include <string>

namespace arion {
namespace {

TEST(TokenMap, FindsEveryTokenAndNothingElseHoweverOftenItGrows) {
  TokenBytes bytes;
  TokenMap map(bytes, 0);
  constexpr int kTokens = 5000;
  for (int i = 0; i < kTokens; ++i) map.add(bytes.add("token" + std::to_string(i)));
  for (int i = 0; i < kTokens; ++i) {
    ASSERT_EQ(map.find("token" + std::to_string(i)), i);
    ASSERT_EQ(map.find("other" + std::to_string(i)), kNoToken);
  }
}

TEST(TokenMap, TheFirstOfEqualTokensWins) {
  TokenBytes bytes;
  TokenMap map(bytes, 2);
  const int32_t first = bytes.add("same");
  map.add(first);
  map.add(bytes.add("same"));
  EXPECT_EQ(map.find("same"), first);
}

}  // namespace
}  // namespace arion

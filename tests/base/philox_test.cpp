// The generator against its published answers.
#include "base/philox.h"

#include <gtest/gtest.h>

#include <vector>

namespace arion {
namespace {

using Words = std::array<uint32_t, 4>;

// Known answers published with the Random123 library.
TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, GivesTheSameWordsForManyCounters) {
  const std::array<uint32_t, 2> key{0xa4093822, 0x299f31d0};
  for (const int lanes : {1, 4, 8}) {
    for (size_t count = 0; count < 100; ++count) {
      const Words counter{7, ~0u - 40, ~0u, 0x03707344};  // the second number wraps
      std::vector<uint32_t> words(count);
      philox_words(counter, key, words, lanes);
      for (size_t i = 0; i < count; ++i) {
        const auto second = counter[1] + static_cast<uint32_t>(i);
        ASSERT_EQ(words[i], philox({counter[0], second, counter[2], counter[3]}, key)[0])
            << i << " of " << count << ", " << lanes << " lanes";
      }
    }
  }
}

}  // namespace
}  // namespace arion

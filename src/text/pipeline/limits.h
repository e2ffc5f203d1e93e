// Far above any vocabulary in use (about 262,144 tokens, 514,000 merges, 100 KB of special tokens).
// They keep tables small, offsets in 32 bits and the cost per byte of text bounded.
#pragma once
#include <cstddef>

namespace arion {

constexpr size_t kMaxTokens = (1 << 21) - 1;
constexpr size_t kMaxMerges = (1 << 21) - 1;
constexpr size_t kMaxTokenBytes = 1 << 16;
constexpr size_t kMaxSpecialBytes = 1 << 10;
constexpr size_t kMaxAllSpecialBytes = 1 << 22;

}  // namespace arion

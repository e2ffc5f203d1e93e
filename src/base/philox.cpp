// Many counters at once: each in 64-bit lanes, whose upper halves the multiplication does not read.
#include "base/philox.h"

#if defined(__x86_64__)
// GCC 12 warns about the deliberately undefined values inside its own intrinsics.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

namespace arion {
namespace {

using Counter = std::array<uint32_t, 4>;
using Key = std::array<uint32_t, 2>;

void words_of_any(Counter counter, Key key, std::span<uint32_t> words) {
  for (uint32_t& word : words) {
    word = philox(counter, key)[0];
    ++counter[1];
  }
}

#if defined(__x86_64__)

// Vectors of independent counters hide each other's latencies, as many as fit the registers.

constexpr size_t kAvx2Words = 8, kAvx512Words = 32;  // at once

__attribute__((target("avx2"))) void words_of_avx2(Counter counter, Key key,
                                                   std::span<uint32_t> words) {
  constexpr size_t kLanes = 4, kVectors = kAvx2Words / kLanes;
  const __m256i even = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
  const __m256i a = _mm256_set1_epi64x(0xD2511F53), b = _mm256_set1_epi64x(0xCD9E8D57);
  for (size_t i = 0; i < words.size(); i += kAvx2Words) {
    __m256i c[4][kVectors];
    for (size_t v = 0; v < kVectors; ++v) {
      const auto second = static_cast<int64_t>(counter[1] + i + v * kLanes);
      c[0][v] = _mm256_set1_epi64x(counter[0]);
      c[1][v] = _mm256_add_epi64(_mm256_set1_epi64x(second), _mm256_setr_epi64x(0, 1, 2, 3));
      c[2][v] = _mm256_set1_epi64x(counter[2]);
      c[3][v] = _mm256_set1_epi64x(counter[3]);
    }
    Key k = key;
    for (int round = 0; round < 10; ++round) {
      const __m256i k0 = _mm256_set1_epi64x(k[0]), k1 = _mm256_set1_epi64x(k[1]);
      for (size_t v = 0; v < kVectors; ++v) {
        const __m256i x = _mm256_mul_epu32(c[0][v], a), y = _mm256_mul_epu32(c[2][v], b);
        c[0][v] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(y, 32), c[1][v]), k0);
        c[2][v] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(x, 32), c[3][v]), k1);
        c[1][v] = y;
        c[3][v] = x;
      }
      k = {k[0] + 0x9E3779B9, k[1] + 0xBB67AE85};
    }
    for (size_t v = 0; v < kVectors; ++v) {
      const __m256i low = _mm256_permutevar8x32_epi32(c[0][v], even);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(&words[i + v * kLanes]),
                       _mm256_castsi256_si128(low));
    }
  }
}

__attribute__((target("avx512f"))) void words_of_avx512(Counter counter, Key key,
                                                        std::span<uint32_t> words) {
  constexpr size_t kLanes = 8, kVectors = kAvx512Words / kLanes;
  const __m512i a = _mm512_set1_epi64(0xD2511F53), b = _mm512_set1_epi64(0xCD9E8D57);
  for (size_t i = 0; i < words.size(); i += kAvx512Words) {
    __m512i c[4][kVectors];
    for (size_t v = 0; v < kVectors; ++v) {
      const auto second = static_cast<int64_t>(counter[1] + i + v * kLanes);
      c[0][v] = _mm512_set1_epi64(counter[0]);
      c[1][v] =
          _mm512_add_epi64(_mm512_set1_epi64(second), _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
      c[2][v] = _mm512_set1_epi64(counter[2]);
      c[3][v] = _mm512_set1_epi64(counter[3]);
    }
    Key k = key;
    for (int round = 0; round < 10; ++round) {
      const __m512i k0 = _mm512_set1_epi64(k[0]), k1 = _mm512_set1_epi64(k[1]);
      for (size_t v = 0; v < kVectors; ++v) {
        const __m512i x = _mm512_mul_epu32(c[0][v], a), y = _mm512_mul_epu32(c[2][v], b);
        c[0][v] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(y, 32), c[1][v], k0, 0x96);
        c[2][v] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(x, 32), c[3][v], k1, 0x96);
        c[1][v] = y;
        c[3][v] = x;
      }
      k = {k[0] + 0x9E3779B9, k[1] + 0xBB67AE85};
    }
    for (size_t v = 0; v < kVectors; ++v) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(&words[i + v * kLanes]),
                          _mm512_cvtepi64_epi32(c[0][v]));
    }
  }
}

#endif

}  // namespace

void philox_words(Counter counter, Key key, std::span<uint32_t> words, int max_lanes) {
  size_t done = 0;
#if defined(__x86_64__)
  static const bool has_avx512 = __builtin_cpu_supports("avx512f");
  static const bool has_avx2 = __builtin_cpu_supports("avx2");
  if (has_avx512 && max_lanes >= 8) {
    done = words.size() / kAvx512Words * kAvx512Words;
    words_of_avx512(counter, key, words.first(done));
  } else if (has_avx2 && max_lanes >= 4) {
    done = words.size() / kAvx2Words * kAvx2Words;
    words_of_avx2(counter, key, words.first(done));
  }
#endif
  counter[1] += static_cast<uint32_t>(done);
  words_of_any(counter, key, words.subspan(done));
}

}  // namespace arion

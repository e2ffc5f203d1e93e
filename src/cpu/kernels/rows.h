// What the kernels that treat rows one by one share: names, ranks and the split into chunks.
#pragma once
#include "backend/kernel.h"
#include "cpu/simd/simd.h"

#define ARION_ISA_TEXT_(isa) #isa
#define ARION_ISA_TEXT(isa) ARION_ISA_TEXT_(isa)
// "norm.avx2" of "norm".
#define ARION_KERNEL_NAME(operation) operation "." ARION_ISA_TEXT(ARION_ISA)

namespace arion::cpu::ARION_ISA {
namespace {

#if defined(ARION_ISA_generic)
inline constexpr int kIsaRank = 10;
#elif defined(ARION_ISA_avx2)
inline constexpr int kIsaRank = 20;
#elif defined(ARION_ISA_avxvnni)
inline constexpr int kIsaRank = 30;
#elif defined(ARION_ISA_avx512)
inline constexpr int kIsaRank = 40;
#else
inline constexpr int kIsaRank = 50;
#endif

// True for operations of these kinds, whatever their forms.
template <OpKind... kinds>
bool supports_kinds(const OpDesc& op) {
  return ((op.kind == kinds) || ...);
}

struct Range {
  int begin = 0, end = 0;
};

// Part `chunk` of `chunks` nearly equal parts of [0, count).
ARION_INLINE Range part_of(int count, int chunk, int chunks) {
  const auto bound = [&](int i) ARION_INLINE_LAMBDA {
    return static_cast<int>(static_cast<int64_t>(count) * i / chunks);
  };
  return {bound(chunk), bound(chunk + 1)};
}

// The same for rows. Many rows are split between int8 tiles, because workers that write to one tile
// share its cache lines.
ARION_INLINE Range rows_of_chunk(int rows, int chunk, int chunks) {
  if (rows < 2 * kTileRows) return part_of(rows, chunk, chunks);
  const Range tiles = part_of((rows + kTileRows - 1) / kTileRows, chunk, chunks);
  const int end = tiles.end * kTileRows;
  return {tiles.begin * kTileRows, end < rows ? end : rows};
}

// Chunks of about 10 us for `rows` rows of `ns_per_row`, at most one per row.
ARION_INLINE int row_chunks(int rows, float ns_per_row) {
  const int wanted = static_cast<int>(static_cast<float>(rows) * ns_per_row * 1e-4f);
  const int most = rows < 2 * kTileRows ? rows : (rows + kTileRows - 1) / kTileRows;
  return wanted < 1 ? 1 : wanted < most ? wanted : most;
}

}  // namespace
}  // namespace arion::cpu::ARION_ISA

// The arithmetic of attention on one key tile: 64 positions, 4 KV blocks.
//
// Every function works on R query rows at once so that they share the loads of K and V. Each row
// executes the same operations whatever R is, in the same order.
#pragma once
#include "cpu/kernels/kv_element.h"
#include "cpu/kernels/math.h"
#include "cpu/kernels/rows.h"

namespace arion::cpu::ARION_ISA {
namespace {

inline constexpr int kTileKeys = 64;
inline constexpr int kTileBlocks = kTileKeys / kBlockTokens;
inline constexpr int kSplitTiles = 8;
inline constexpr float kNegativeInfinity = -__builtin_inff();
inline constexpr int kLineBytes = 64;  // of the cache

// One query row of one head, in scratch.
struct QueryRow {
  const float* q;    // [head_dim]
  float* p;          // [64] scores, then probabilities of the tile
  float* split_acc;  // [head_dim, rounded up to 16] of the current split
  float* acc;        // the same of all splits before it
  float split_max, split_sum, max, sum;
  bool split_is_empty;
  int position;
  int first_visible;
  int row, head;
  Range keys;  // visible ones of the current tile, relative to it
};

// The four blocks of a tile; null where no key is visible.
struct TileBlocks {
  const void* k[kTileBlocks];
  const void* v[kTileBlocks];
  ptrdiff_t ahead[kTileBlocks];  // bytes to the block in this place of the next tile; 0: none
};

// Rows that share the loads of a tile, and accumulators that fit into the registers of each level.
#if defined(ARION_ISA_avx512)
inline constexpr int kPassRows = 6, kAccumulators = 24, kSoftmaxRows = 3;
#else
inline constexpr int kPassRows = 4, kAccumulators = 4, kSoftmaxRows = 2;
#endif

// Blocks lie anywhere, so no stream of the hardware goes on from one to the next: what is read of a
// tile is prefetched of the next one, line by line.
ARION_INLINE void prefetch_ahead(const void* p, ptrdiff_t ahead) {
  prefetch_l2(static_cast<const std::byte*>(p) + ahead);
}

// p[r][16 * block ..] = scale * (q_r . k) for the keys of B blocks, one key per lane.
template <typename Kv, int R, int B>
ARION_INLINE void score_blocks(QueryRow* rows, const TileBlocks& tile, int block, int head_dim,
                               float scale) {
  using Element = typename Kv::Element;
  F32 acc[R][B];
  const float* q[R];
  const Element* k[B];
  static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
    q[r] = rows[r].q;
    static_for<B>([&](auto b) ARION_INLINE_LAMBDA { acc[r][b] = F32::zero(); });
  });
  static_for<B>([&](auto b)
                    ARION_INLINE_LAMBDA { k[b] = static_cast<const Element*>(tile.k[block + b]); });
  constexpr int kKeysPerLine = kLineBytes / (kBlockTokens * sizeof(Element));
  for (int d = 0; d < head_dim; ++d) {
    if (d % kKeysPerLine == 0) {
      static_for<B>([&](auto b) ARION_INLINE_LAMBDA {
        prefetch_ahead(k[b] + d * kBlockTokens, tile.ahead[block + b]);
      });
    }
    F32 key[B];
    static_for<B>([&](auto b) ARION_INLINE_LAMBDA { key[b] = Kv::load(k[b] + d * kBlockTokens); });
    static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
      const F32 query = F32::set1(q[r][d]);
      static_for<B>([&](auto b) ARION_INLINE_LAMBDA { acc[r][b] = fma(query, key[b], acc[r][b]); });
    });
  }
  static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
    static_for<B>([&](auto b) ARION_INLINE_LAMBDA {
      (F32::set1(scale) * acc[r][b]).store(rows[r].p + (block + b) * kBlockTokens);
    });
  });
}

// Scores of all blocks that hold one of `keys`, the union of the rows' visible keys.
template <typename Kv, int R>
void scores(QueryRow* rows, const TileBlocks& tile, Range keys, int head_dim, float scale) {
  constexpr int kBlocks = kAccumulators / R < 1 ? 1 : kAccumulators / R > 4 ? 4 : kAccumulators / R;
  int block = keys.begin / kBlockTokens;
  const int end = (keys.end + kBlockTokens - 1) / kBlockTokens;
  for (; block + kBlocks <= end; block += kBlocks) {
    score_blocks<Kv, R, kBlocks>(rows, tile, block, head_dim, scale);
  }
  for (; block < end; ++block) score_blocks<Kv, R, 1>(rows, tile, block, head_dim, scale);
}

alignas(64) inline constexpr int32_t kLaneIndex[kLanes] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                           8, 9, 10, 11, 12, 13, 14, 15};

// Scores to probabilities relative to the running maximum, which may grow: then what the split has
// gathered so far shrinks by alpha. Invisible keys get 0. The chains of R rows hide one another's
// latency.
template <int R>
ARION_INLINE void softmax(QueryRow* rows, int head_dim) {
  F32 s[R][kTileBlocks];
  float new_max[R], tile_sum[R];
  static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
    const QueryRow& row = rows[r];
    static_for<kTileBlocks>(
        [&](auto b) ARION_INLINE_LAMBDA { s[r][b] = F32::load(row.p + b * kBlockTokens); });
    if (row.keys.begin > 0 || row.keys.end < kTileKeys) {
      static_for<kTileBlocks>([&](auto b) ARION_INLINE_LAMBDA {
        const I32 key = I32::load(kLaneIndex) + I32::set1(b * kBlockTokens);
        const Mask visible =
            less(I32::set1(row.keys.begin - 1), key) & less(key, I32::set1(row.keys.end));
        s[r][b] = select(visible, s[r][b], F32::set1(kNegativeInfinity));
      });
    }
  });
  static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
    const float tile_max = reduce_max(max(max(s[r][0], s[r][1]), max(s[r][2], s[r][3])));
    new_max[r] = rows[r].split_max > tile_max ? rows[r].split_max : tile_max;
  });
  static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
    static_for<kTileBlocks>([&](auto b) ARION_INLINE_LAMBDA {
      s[r][b] = exp_nonpositive(s[r][b] - F32::set1(new_max[r]));
      s[r][b].store(rows[r].p + b * kBlockTokens);
    });
  });
  static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
    tile_sum[r] = reduce_add((s[r][0] + s[r][1]) + (s[r][2] + s[r][3]));
  });
  static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
    QueryRow& row = rows[r];
    if (row.split_is_empty) {
      row.split_sum = tile_sum[r];
    } else if (new_max[r] == row.split_max) {  // alpha = exp(0) = 1
      row.split_sum = row.split_sum + tile_sum[r];
    } else {
      alignas(64) float alpha[kLanes];
      const F32 factor = exp_nonpositive(F32::set1(row.split_max) - F32::set1(new_max[r]));
      factor.store(alpha);
      row.split_sum = row.split_sum * alpha[0] + tile_sum[r];
      for (int d = 0; d < head_dim; d += kLanes) {
        (F32::load(row.split_acc + d) * factor).store(row.split_acc + d);
      }
    }
    row.split_max = new_max[r];
    row.split_is_empty = false;
  });
}

// The same for any number of rows.
template <int R>
void softmax_rows(QueryRow* rows, int head_dim) {
  int r = 0;
  for (; r + kSoftmaxRows <= R; r += kSoftmaxRows) softmax<kSoftmaxRows>(rows + r, head_dim);
  if constexpr (R % kSoftmaxRows != 0) softmax<R % kSoftmaxRows>(rows + r, head_dim);
}

// split_acc[d] = fma(p[j], v[j][d], split_acc[d]) for j ascending in `keys`, C vectors of d.
// The tail is the last vector of a dimension that is no multiple of 16: V is read with a mask.
template <typename Kv, int R, int C, bool is_tail>
ARION_INLINE void add_columns(QueryRow* rows, const TileBlocks& tile, Range keys, int head_dim,
                              int d) {
  using Element = typename Kv::Element;
  F32 acc[R][C];
  const float* p[R];
  static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
    p[r] = rows[r].p;
    static_for<C>([&](auto c) ARION_INLINE_LAMBDA {
      acc[r][c] = F32::load(rows[r].split_acc + d + c * kLanes);
    });
  });
  for (int key = keys.begin; key < keys.end;) {
    const int block = key / kBlockTokens;
    const int block_end = (block + 1) * kBlockTokens;
    const int end = block_end < keys.end ? block_end : keys.end;
    const Element* v = static_cast<const Element*>(tile.v[block]) +
                       static_cast<ptrdiff_t>(key % kBlockTokens) * head_dim + d;
    for (; key < end; ++key, v += head_dim) {
      F32 value[C];
      static_for<C>([&](auto c) ARION_INLINE_LAMBDA {
        if constexpr (c * kLanes * sizeof(Element) % kLineBytes == 0) {
          prefetch_ahead(v + c * kLanes, tile.ahead[block]);
        }
        value[c] = is_tail ? Kv::load_first(v, head_dim - d) : Kv::load(v + c * kLanes);
      });
      static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
        const F32 weight = F32::set1(p[r][key]);
        static_for<C>([&](auto c)
                          ARION_INLINE_LAMBDA { acc[r][c] = fma(weight, value[c], acc[r][c]); });
      });
    }
  }
  static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
    static_for<C>([&](auto c)
                      ARION_INLINE_LAMBDA { acc[r][c].store(rows[r].split_acc + d + c * kLanes); });
  });
}

// Adds the values of `keys`, all of them visible to all R rows.
template <typename Kv, int R>
void add_values(QueryRow* rows, const TileBlocks& tile, Range keys, int head_dim) {
  constexpr int kColumns = kAccumulators / R < 1   ? 1
                           : kAccumulators / R > 4 ? 4
                                                   : kAccumulators / R;
  if (keys.begin >= keys.end) return;
  int d = 0;
  for (; d + kColumns * kLanes <= head_dim; d += kColumns * kLanes) {
    add_columns<Kv, R, kColumns, false>(rows, tile, keys, head_dim, d);
  }
  for (; d + kLanes <= head_dim; d += kLanes) {
    add_columns<Kv, R, 1, false>(rows, tile, keys, head_dim, d);
  }
  if (d < head_dim) add_columns<Kv, R, 1, true>(rows, tile, keys, head_dim, d);
}

// Makes the row ready for a new split.
inline void begin_split(QueryRow& row, int head_dim) {
  for (int d = 0; d < head_dim; d += kLanes) F32::zero().store(row.split_acc + d);
  row.split_max = kNegativeInfinity;
  row.split_sum = 0;
  row.split_is_empty = true;
}

// Folds the finished split into the result so far.
inline void fold_split(QueryRow& row, int head_dim) {
  if (row.split_is_empty) return;
  const float new_max = row.max > row.split_max ? row.max : row.split_max;
  const F32 old_factor = row.max == kNegativeInfinity
                             ? F32::zero()
                             : exp_nonpositive(F32::set1(row.max) - F32::set1(new_max));
  const F32 split_factor = exp_nonpositive(F32::set1(row.split_max) - F32::set1(new_max));
  alignas(64) float sum[kLanes];
  (F32::set1(row.sum) * old_factor + F32::set1(row.split_sum) * split_factor).store(sum);
  row.sum = sum[0];
  row.max = new_max;
  for (int d = 0; d < head_dim; d += kLanes) {
    const F32 split = F32::load(row.split_acc + d) * split_factor;
    (F32::load(row.acc + d) * old_factor + split).store(row.acc + d);
  }
}

}  // namespace
}  // namespace arion::cpu::ARION_ISA

// Head norm, rotation and KV write of one head: the stand-alone kernels and the epilogue of
// linear_head apply the same function, so that both give the same bits.
#pragma once
#include "backend/kernel.h"
#include "cpu/kernels/convert.h"
#include "cpu/kernels/rms.h"

namespace arion::cpu::ARION_ISA {
namespace {

// (x0, x1) turned by the angle whose cosine and sine are c and s.
ARION_INLINE void rotate(F32& x0, F32& x1, F32 c, F32 s) {
  const F32 first = fma(x0, c, negate(x1 * s));
  x1 = fma(x0, s, x1 * c);
  x0 = first;
}

// angles: cosines of all pairs, then sines of all pairs.
inline void rotate_half_split(float* x, const float* angles, int pairs) {
  for (int i = 0; i < pairs; i += kLanes) {
    const int n = lanes_left(i, pairs);
    F32 x0 = F32::load_first(x + i, n), x1 = F32::load_first(x + pairs + i, n);
    rotate(x0, x1, F32::load_first(angles + i, n), F32::load_first(angles + pairs + i, n));
    x0.store_first(x + i, n);
    x1.store_first(x + pairs + i, n);
  }
}

inline void rotate_adjacent(float* x, const float* angles, int pairs) {
  for (int i = 0; i < pairs; i += kLanes) {
    const int n = lanes_left(i, pairs);
    alignas(64) float even[kLanes] = {}, odd[kLanes] = {};
    for (int k = 0; k < n; ++k) {
      even[k] = x[2 * (i + k)];
      odd[k] = x[2 * (i + k) + 1];
    }
    F32 x0 = F32::load(even), x1 = F32::load(odd);
    rotate(x0, x1, F32::load_first(angles + i, n), F32::load_first(angles + pairs + i, n));
    x0.store(even);
    x1.store(odd);
    for (int k = 0; k < n; ++k) {
      x[2 * (i + k)] = even[k];
      x[2 * (i + k) + 1] = odd[k];
    }
  }
}

// Stores a key [head_dim] into its token's lane of a K block [head_dim][16].
inline void write_key(const float* x, const KvView& kv, std::byte* block, int token) {
  for (int d = 0; d < kv.head_dim; d += kLanes) {
    const int n = lanes_left(d, kv.head_dim);
    if (kv.type == DType::f32) {
      float* to = reinterpret_cast<float*>(block) + d * kBlockTokens + token;
      for (int i = 0; i < n; ++i) to[i * kBlockTokens] = x[d + i];
      continue;
    }
    alignas(32) uint16_t rounded[kLanes];
    const F32 v = F32::load_first(x + d, n);
    kv.type == DType::f16 ? store_f16(rounded, v) : store_bf16(rounded, v);
    uint16_t* to = reinterpret_cast<uint16_t*>(block) + d * kBlockTokens + token;
    for (int i = 0; i < n; ++i) to[i * kBlockTokens] = rounded[i];
  }
}

// Stores a value [head_dim] into its token's row of a V block [16][head_dim].
inline void write_value(const float* x, const KvView& kv, std::byte* block, int token) {
  std::byte* row = block + static_cast<size_t>(token * kv.head_dim) * dtype_bytes(kv.type);
  for (int d = 0; d < kv.head_dim; d += kLanes) {
    const int n = lanes_left(d, kv.head_dim);
    const F32 v = F32::load_first(x + d, n);
    switch (kv.type) {
      case DType::f32:
        v.store_first(reinterpret_cast<float*>(row) + d, n);
        break;
      case DType::f16:
        store_f16_first(reinterpret_cast<uint16_t*>(row) + d, v, n);
        break;
      case DType::bf16:
        store_bf16_first(reinterpret_cast<uint16_t*>(row) + d, v, n);
        break;
    }
  }
}

inline void write_kv(const float* x, const HeadArgs& args, const StepInput& input, int row,
                     int head) {
  const RowSet& rows = input.rows(args.rows);
  const int position = rows.position[row];
  const int32_t block = input.block_table(rows.run[row], args.kv_group)[position / kBlockTokens];
  const KvView& kv = input.kv[args.kv_group];
  const int token = position % kBlockTokens;
  if (args.role == HeadRole::key) {
    write_key(x, kv, kv.keys(args.kv_layer, block, head), token);
  } else {
    write_value(x, kv, kv.values(args.kv_layer, block, head), token);
  }
}

// Applies what `args` asks for to head `head` of row `row`.
//   x  [head_dim]  in: the head's values, out: normalised and rotated; may lie in args.out
inline void apply_head(float* x, const HeadArgs& args, const StepInput& input, int row, int head,
                       const Worker& worker) {
  const int dim = args.head_dim;
  if (args.gain != nullptr) scale_by_gain(x, inverse_rms(x, dim, args.eps), args.gain, dim);
  if (args.angles) {
    const float* angles = f32_row(args.angles, worker.index, 2 * args.pairs, row);
    args.pairing == RopePairing::adjacent ? rotate_adjacent(x, angles, args.pairs)
                                          : rotate_half_split(x, angles, args.pairs);
  }
  if (args.writes_kv) write_kv(x, args, input, row, head);
  if (args.out) {
    store_f32_columns(x, head * dim, dim, args.out.at<std::byte>(worker.index), args.heads * dim,
                      row);
  }
}

}  // namespace
}  // namespace arion::cpu::ARION_ISA

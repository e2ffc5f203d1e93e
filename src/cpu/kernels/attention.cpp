// Attention over the paged KV, one source for all levels.
//
// The result of a query row is a function of position -> (K, V): tiles of 64 positions and splits
// of 8 tiles, both absolute, are folded in order (kernel contract in attention_tile.h). Chunks
// differ only in which rows and heads share the loads of a tile, and in who computes which splits.
#include "cpu/kernels/attention_tile.h"
#include "cpu/kernels/attention_work.h"
#include "cpu/kernels/convert.h"

namespace arion::cpu::ARION_ISA {
namespace {

constexpr int kMaxHeadDim = 512;
constexpr int kChunksPerWorker = 6;  // enough for even loads

int chunks(const void* args, const StepInput& input, int workers) {
  const auto& a = *static_cast<const AttentionArgs*>(args);
  constexpr float kNsPerElement = 0.1f;  // one key element and one value element of one query
  const float ns =
      kNsPerElement * Work(a, input).keys() * static_cast<float>(a.attributes.head_dim);
  const float wanted = ns * 1e-4f;
  const int most = kChunksPerWorker * workers;
  return wanted > static_cast<float>(most)      ? most
         : wanted < static_cast<float>(workers) ? workers
                                                : static_cast<int>(wanted);
}

// Scratch of one unit: per query p and two accumulators.
static_assert(kMaxQueries * (kTileKeys + 2 * kMaxHeadDim) * sizeof(float) <= kScratchBytes);

// What all query rows of a unit have in common.
struct Unit {
  const AttentionArgs* args;
  const StepInput* input;
  const KvView* kv;
  const int32_t* blocks;  // of the run
  int kv_head;
  QueryRow* queries;
  int count;

  const std::byte* keys(int block) const {
    return kv->keys(args->attributes.kv_layer, blocks[block], kv_head);
  }
};

// The smallest range with all keys of a tile that some row sees; empty when there is none.
Range seen_keys(const QueryRow* rows, int count) {
  Range seen;
  for (int i = 0; i < count; ++i) {
    const Range keys = rows[i].keys;
    if (keys.begin >= keys.end) continue;
    if (seen.begin == seen.end) seen = keys;
    seen.begin = keys.begin < seen.begin ? keys.begin : seen.begin;
    seen.end = keys.end > seen.end ? keys.end : seen.end;
  }
  return seen;
}

// Finds the blocks that hold `keys` of a tile, and those of the next one up to block `last`.
TileBlocks find_blocks(const Unit& unit, int tile, Range keys, int last) {
  TileBlocks found{};
  for (int b = keys.begin / kBlockTokens; b * kBlockTokens < keys.end; ++b) {
    const int block = tile * kTileBlocks + b, next = block + kTileBlocks;
    found.k[b] = unit.keys(block);
    found.v[b] = unit.keys(block) + unit.kv->half_bytes();
    found.ahead[b] = next <= last ? unit.keys(next) - unit.keys(block) : 0;
  }
  return found;
}

// One tile for R rows that all see some of it. They may see different keys: what all of them see
// is done together, what comes before and after row by row, so that each row adds in order.
template <typename Kv, int R>
void attend_rows(QueryRow* rows, const TileBlocks& tile, const AttentionAttributes& a) {
  Range all = rows[0].keys;
  for (int r = 1; r < R; ++r) {
    const Range keys = rows[r].keys;
    all = {keys.begin > all.begin ? keys.begin : all.begin,
           keys.end < all.end ? keys.end : all.end};
  }
  scores<Kv, R>(rows, tile, seen_keys(rows, R), a.head_dim, a.scale);
  softmax_rows<R>(rows, a.head_dim);
  if (R == 1 || all.begin >= all.end) {
    for (int r = 0; r < R; ++r) add_values<Kv, 1>(rows + r, tile, rows[r].keys, a.head_dim);
    return;
  }
  for (int r = 0; r < R; ++r) {
    add_values<Kv, 1>(rows + r, tile, {rows[r].keys.begin, all.begin}, a.head_dim);
  }
  add_values<Kv, R>(rows, tile, all, a.head_dim);
  for (int r = 0; r < R; ++r) {
    add_values<Kv, 1>(rows + r, tile, {all.end, rows[r].keys.end}, a.head_dim);
  }
}

// The same for `count` rows, 1 to R.
template <typename Kv, int R = kPassRows>
void attend_some(QueryRow* rows, int count, const TileBlocks& tile, const AttentionAttributes& a) {
  if constexpr (R > 1) {
    if (count < R) return attend_some<Kv, R - 1>(rows, count, tile, a);
  }
  attend_rows<Kv, R>(rows, tile, a);
}

template <typename Kv>
void attend_tile(const Unit& unit, const TileBlocks& tile) {
  for (int i = 0; i < unit.count;) {
    QueryRow* rows = unit.queries + i;
    int n = 0;  // rows of this pass: neighbours that see some of the tile
    while (n < kPassRows && i + n < unit.count && rows[n].keys.begin < rows[n].keys.end) ++n;
    if (n > 0) attend_some<Kv>(rows, n, tile, unit.args->attributes);
    i += n > 0 ? n : 1;
  }
}

// Computes the tiles of a split; its state is in the query rows afterwards.
template <typename Kv>
void attend_split(const Unit& unit, int split) {
  const int first = unit.queries[0].first_visible / kTileKeys;
  const int last = unit.queries[unit.count - 1].position;
  const int end = (split + 1) * kSplitTiles;
  for (int tile = first > split * kSplitTiles ? first : split * kSplitTiles;
       tile < end && tile <= last / kTileKeys; ++tile) {
    const int start = tile * kTileKeys;
    for (int i = 0; i < unit.count; ++i) {
      QueryRow& query = unit.queries[i];
      const int begin = query.first_visible - start, end = query.position + 1 - start;
      query.keys = {begin < 0 ? 0 : begin, end > kTileKeys ? kTileKeys : end};
    }
    const Range keys = seen_keys(unit.queries, unit.count);
    // Empty where rows have gaps between their windows.
    if (keys.begin < keys.end) {
      attend_tile<Kv>(unit, find_blocks(unit, tile, keys, last / kBlockTokens));
    }
  }
}

void attend_split(const Unit& unit, int split) {
  switch (unit.kv->type) {
    case DType::f32:
      return attend_split<KvF32>(unit, split);
    case DType::f16:
      return attend_split<KvF16>(unit, split);
    case DType::bf16:
      return attend_split<KvBf16>(unit, split);
  }
}

void init_query(QueryRow& query, const Unit& unit, int index, float* scratch) {
  const AttentionAttributes& a = unit.args->attributes;
  const int dim = round_up(a.head_dim, kLanes);
  query.p = scratch + static_cast<size_t>(index) * (kTileKeys + 2 * dim);
  query.split_acc = query.p + kTileKeys;
  query.acc = query.split_acc + dim;
  for (int d = 0; d < dim; d += kLanes) F32::zero().store(query.acc + d);
  query.max = kNegativeInfinity;
  query.sum = 0;
  query.position = unit.input->rows(unit.args->rows).position[query.row];
  query.first_visible = first_visible(query.position, a.window);
}

void finish_query(const QueryRow& query, const AttentionArgs& args, int worker) {
  const int dim = args.attributes.head_dim;
  for (int d = 0; d < dim; d += kLanes) {
    (F32::load(query.acc + d) / F32::set1(query.sum)).store(query.acc + d);
  }
  store_outputs(args.out, worker, query.acc, query.head * dim, dim, args.attributes.heads * dim,
                query.row);
}

// Computes the splits of a share one after the other and folds each.
void fold_splits(const Unit& unit, Range splits) {
  const int head_dim = unit.args->attributes.head_dim;
  for (int i = 0; i < unit.count; ++i) begin_split(unit.queries[i], head_dim);
  for (int split = splits.begin; split < splits.end; ++split) {
    attend_split(unit, split);
    for (int i = 0; i < unit.count; ++i) {
      fold_split(unit.queries[i], head_dim);
      begin_split(unit.queries[i], head_dim);
    }
  }
}

// The memory of a pair: the states of all its splits, query row by query row.
class PairMemory {
 public:
  PairMemory(std::byte* begin, const Unit& unit, Range all_splits)
      : begin_(begin),
        state_bytes_(SplitState::bytes(unit.args->attributes.head_dim)),
        first_(all_splits.begin),
        queries_(unit.count) {}

  SplitState& state(int split, int query) const {
    const auto index = static_cast<size_t>((split - first_) * queries_ + query);
    return *reinterpret_cast<SplitState*>(begin_ + index * state_bytes_);
  }

 private:
  std::byte* begin_;
  size_t state_bytes_;
  int first_, queries_;
};

// Computes the splits of a share into the memory of the pair.
void leave_splits(const Unit& unit, Range splits, const PairMemory& memory) {
  QueryRow* const end = unit.queries + unit.count;
  for (int split = splits.begin; split < splits.end; ++split) {
    int next = 0;
    for (QueryRow* query = unit.queries; query != end; ++query) {
      query->split_acc = memory.state(split, next++).acc();
      begin_split(*query, unit.args->attributes.head_dim);
    }
    attend_split(unit, split);
    next = 0;
    for (const QueryRow* query = unit.queries; query != end; ++query) {
      SplitState& state = memory.state(split, next++);
      state.max = query->split_max;
      state.sum = query->split_sum;
      state.is_empty = query->split_is_empty;
    }
  }
}

// Folds what all chunks left in the memory of the pair.
void fold_left(const Unit& unit, Range splits, const PairMemory& memory) {
  for (int i = 0; i < unit.count; ++i) {
    QueryRow& query = unit.queries[i];
    for (int split = splits.begin; split < splits.end; ++split) {
      SplitState& state = memory.state(split, i);
      query.split_acc = state.acc();
      query.split_max = state.max;
      query.split_sum = state.sum;
      query.split_is_empty = state.is_empty;
      fold_split(query, unit.args->attributes.head_dim);
    }
  }
}

// True for the last of `sharers` chunks, which then sees what the others wrote.
bool is_last_to_arrive(SharedScratch& shared, int pair, int sharers) {
  std::atomic<int>& arrived = shared.counters[pair].arrived;
  if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < sharers) return false;
  arrived.store(0, std::memory_order_relaxed);  // for the next step, behind a barrier
  return true;
}

void run_share(const AttentionArgs& args, const StepInput& input, const Share& share,
               size_t pair_bytes, const Worker& worker) {
  const AttentionAttributes& a = args.attributes;
  QueryRow queries[kMaxQueries];
  float* scratch = reinterpret_cast<float*>(worker.scratch);
  const KvView& kv = input.kv[a.kv_group];
  Unit unit{.args = &args,
            .input = &input,
            .kv = &kv,
            .blocks = input.block_table(input.rows(args.rows).run[share.rows.begin], a.kv_group),
            .kv_head = share.kv_head,
            .queries = queries,
            .count = 0};
  const int group_heads = a.heads / a.kv_heads;
  for (int i = share.queries.begin; i < share.queries.end; ++i) {
    QueryRow& query = queries[unit.count];
    query.row = share.rows.begin + i / group_heads;
    query.head = share.kv_head * group_heads + i % group_heads;
    query.q =
        f32_row(args.q, worker.index, a.heads * a.head_dim, query.row) + query.head * a.head_dim;
    init_query(query, unit, unit.count++, scratch);
  }
  if (share.sharers == 1) {
    fold_splits(unit, share.splits);
  } else {
    const PairMemory memory(worker.shared->bytes + static_cast<size_t>(share.pair) * pair_bytes,
                            unit, share.all_splits);
    leave_splits(unit, share.splits, memory);
    if (!is_last_to_arrive(*worker.shared, share.pair, share.sharers)) return;
    fold_left(unit, share.all_splits, memory);
  }
  for (int i = 0; i < unit.count; ++i) finish_query(queries[i], args, worker.index);
}

void run(const void* args, const StepInput& input, int chunk, int chunks, const Worker& worker) {
  const auto& a = *static_cast<const AttentionArgs*>(args);
  const Work work(a, input);
  work.for_shares(chunk, chunks, worker, [&](const Share& share) {
    run_share(a, input, share, work.pair_bytes(), worker);
  });
}

}  // namespace

namespace attention {

void register_kernels(KernelRegistry& registry) {
  registry.add({.name = ARION_KERNEL_NAME("attention"),
                .arithmetic = "attention.f32",
                .rank = kIsaRank,
                .supports = supports_kinds<OpKind::attention>,
                .chunks = chunks,
                .run = run});
}

}  // namespace attention
}  // namespace arion::cpu::ARION_ISA

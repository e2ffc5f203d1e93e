// Attention over the paged KV, one source for all levels.
//
// The result of a query row is a function of position -> (K, V): tiles of 64 positions and splits
// of 8 tiles, both absolute, are folded in order (kernel contract in attention_tile.h). Chunks
// differ only in which rows and heads share the loads of a tile.
#include "cpu/kernels/attention_tile.h"
#include "cpu/kernels/convert.h"

namespace arion::cpu::ARION_ISA {
namespace {

// Query rows that share a tile: enough for all but the first pass to find it in the L1 cache.
constexpr int kMaxQueries = 32;
constexpr int kMaxHeadDim = 512;
constexpr int kChunksPerWorker = 6;  // enough for even loads

// Rows of one run that are worked on together, from `begin` on.
Range next_group(const RowSet& rows, int begin, int most) {
  int end = begin + 1;
  while (end < rows.count && end - begin < most && rows.run[end] == rows.run[begin]) ++end;
  return {begin, end};
}

// The work of a step in order: groups of rows, kv heads, parts of the query rows of a pair of both.
// One such part is a unit; it belongs to the chunk that its middle lies in.
class Work {
 public:
  Work(const AttentionArgs& args, const StepInput& input)
      : attributes_(args.attributes),
        rows_(input.rows(args.rows)),
        group_heads_(attributes_.heads / attributes_.kv_heads) {
    for_groups([&](Range group) {
      total_ += static_cast<float>(attributes_.kv_heads) * pair_keys(group);
      pairs_ += attributes_.kv_heads;
    });
  }

  // Keys that all query rows look at.
  float keys() const { return total_; }

  // Calls use(rows, kv head, query rows among those of the pair) for the units of a chunk.
  template <typename Use>
  void for_units(int chunk, int chunks, int workers, const Use& use) const {
    const float size = total_ / static_cast<float>(chunks);
    const auto chunk_of = [&](float keys) {
      const int owner = static_cast<int>(keys / size);
      return owner < chunks ? owner : chunks - 1;
    };
    float start = 0;
    for_groups([&](Range group) {
      const float keys = pair_keys(group);
      const int queries = (group.end - group.begin) * group_heads_;
      const int parts = parts_of_pair(queries, keys / size, workers);
      const float unit = keys / static_cast<float>(parts);
      for (int head = 0; head < attributes_.kv_heads; ++head, start += keys) {
        if (chunk_of(start) > chunk) return;
        if (chunk_of(start + keys) < chunk) continue;
        for (int part = 0; part < parts; ++part) {
          const float middle = start + (static_cast<float>(part) + 0.5f) * unit;
          if (chunk_of(middle) == chunk) use(group, head, part_of(queries, part, parts));
        }
      }
    });
  }

 private:
  template <typename Use>
  void for_groups(const Use& use) const {
    const int most = kMaxQueries / group_heads_ < 1 ? 1 : kMaxQueries / group_heads_;
    for (int begin = 0; begin < rows_.count;) {
      const Range group = next_group(rows_, begin, most);
      use(group);
      begin = group.end;
    }
  }

  // Keys that the query rows of a group look at in one kv head, by what its last row sees.
  float pair_keys(Range group) const {
    const int position = rows_.position[group.end - 1];
    const int seen = position + 1 - first_visible(position, attributes_.window);
    return static_cast<float>(seen) * static_cast<float>((group.end - group.begin) * group_heads_);
  }

  // As many as are of the size of a chunk, if each fills a pass over K and V; more only where some
  // worker would have none.
  int parts_of_pair(int queries, float chunks_of_pair, int workers) const {
    const int least = (queries + kMaxQueries - 1) / kMaxQueries;
    const int full = queries / kPassRows;
    const int needed = (workers + pairs_ - 1) / pairs_;
    int most = full > needed ? full : needed;
    most = most < queries ? most : queries;
    const int parts = static_cast<int>(chunks_of_pair + 0.5f);
    return parts < least ? least : parts < most ? parts : most > least ? most : least;
  }

  const AttentionAttributes& attributes_;
  const RowSet& rows_;
  int group_heads_;
  int pairs_ = 0;
  float total_ = 0;
};

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
  for (int r = 0; r < R; ++r) softmax(rows[r], a.head_dim);
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

template <typename Kv>
void attend(const Unit& unit) {
  const int head_dim = unit.args->attributes.head_dim;
  const int first = unit.queries[0].first_visible;
  const int last = unit.queries[unit.count - 1].position;
  for (int tile = first / kTileKeys; tile <= last / kTileKeys; ++tile) {
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
    if ((tile + 1) % kSplitTiles == 0 || tile == last / kTileKeys) {
      for (int i = 0; i < unit.count; ++i) fold_split(unit.queries[i], head_dim);
    }
  }
}

void init_query(QueryRow& query, const Unit& unit, int index, float* scratch) {
  const AttentionAttributes& a = unit.args->attributes;
  const int dim = round_up(a.head_dim, kLanes);
  query.p = scratch + static_cast<size_t>(index) * (kTileKeys + 2 * dim);
  query.split_acc = query.p + kTileKeys;
  query.acc = query.split_acc + dim;
  for (int d = 0; d < 2 * dim; d += kLanes) F32::zero().store(query.split_acc + d);
  query.split_max = query.max = kNegativeInfinity;
  query.split_sum = query.sum = 0;
  query.split_is_empty = true;
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

// Some of the query rows of a group of rows that read one kv head: row by row, its heads.
void run_unit(const AttentionArgs& args, const StepInput& input, Range group, int kv_head,
              Range part, const Worker& worker) {
  const AttentionAttributes& a = args.attributes;
  QueryRow queries[kMaxQueries];
  float* scratch = reinterpret_cast<float*>(worker.scratch);
  const KvView& kv = input.kv[a.kv_group];
  Unit unit{.args = &args,
            .input = &input,
            .kv = &kv,
            .blocks = input.block_table(input.rows(args.rows).run[group.begin], a.kv_group),
            .kv_head = kv_head,
            .queries = queries,
            .count = 0};
  const int group_heads = a.heads / a.kv_heads;
  for (int i = part.begin; i < part.end; ++i) {
    QueryRow& query = queries[unit.count];
    query.row = group.begin + i / group_heads;
    query.head = kv_head * group_heads + i % group_heads;
    query.q =
        f32_row(args.q, worker.index, a.heads * a.head_dim, query.row) + query.head * a.head_dim;
    init_query(query, unit, unit.count++, scratch);
  }
  switch (kv.type) {
    case DType::f32:
      attend<KvF32>(unit);
      break;
    case DType::f16:
      attend<KvF16>(unit);
      break;
    case DType::bf16:
      attend<KvBf16>(unit);
      break;
  }
  for (int i = 0; i < unit.count; ++i) finish_query(queries[i], args, worker.index);
}

void run(const void* args, const StepInput& input, int chunk, int chunks, const Worker& worker) {
  const auto& a = *static_cast<const AttentionArgs*>(args);
  Work(a, input).for_units(chunk, chunks, worker.count, [&](Range group, int kv_head, Range part) {
    run_unit(a, input, group, kv_head, part, worker);
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

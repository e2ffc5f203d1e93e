// Attention over the paged KV, one source for all levels.
//
// The result of a query row is a function of position -> (K, V): tiles of 64 positions and splits
// of 8 tiles, both absolute, are folded in order (kernel contract in attention_tile.h). Chunks
// differ only in which rows and heads share the loads of a tile.
#include "cpu/kernels/attention_tile.h"
#include "cpu/kernels/convert.h"

namespace arion::cpu::ARION_ISA {
namespace {

// Query rows that share a tile: bounded by scratch, and enough to hide the conversion of K and V.
constexpr int kMaxQueries = 32;
// Rows per pass: above that, K and V of 2 bytes are converted once per tile instead of per pass.
constexpr int kPassRows = 4;
constexpr int kMaxHeadDim = 512;

int rows_per_group(const AttentionAttributes& a) {
  const int rows = kMaxQueries / (a.heads / a.kv_heads);
  return rows < 1 ? 1 : rows;
}

// Rows of one run that are worked on together, from `begin` on.
Range next_group(const RowSet& rows, int begin, int most) {
  int end = begin + 1;
  while (end < rows.count && end - begin < most && rows.run[end] == rows.run[begin]) ++end;
  return {begin, end};
}

int count_groups(const RowSet& rows, int most) {
  int groups = 0;
  for (int begin = 0; begin < rows.count; ++groups) begin = next_group(rows, begin, most).end;
  return groups;
}

// Parts of at most kMaxQueries query heads that read one kv head.
int least_head_parts(const AttentionAttributes& a) {
  return (a.heads / a.kv_heads + kMaxQueries - 1) / kMaxQueries;
}

// Into how many parts the query heads of a kv head are split: more than needed when there are too
// few (row group, kv head) pairs for the workers. A unit costs one pass over K and V and one more
// per query head.
int head_parts(const AttentionAttributes& a, int pairs, int workers) {
  const int group_heads = a.heads / a.kv_heads;
  int best = 0, best_cost = 0;
  for (int parts = least_head_parts(a); parts <= group_heads; ++parts) {
    const int rounds = (pairs * parts + workers - 1) / workers;
    const int cost = rounds * (1 + (group_heads + parts - 1) / parts);
    if (best == 0 || cost < best_cost) {
      best = parts;
      best_cost = cost;
    }
  }
  return best;
}

int chunks(const void* args, const StepInput& input, int workers) {
  const auto& a = *static_cast<const AttentionArgs*>(args);
  const AttentionAttributes& attributes = a.attributes;
  const RowSet& rows = input.rows(a.rows);
  if (rows.count == 0) return 1;
  float visible = 0;
  for (int row = 0; row < rows.count; ++row) {
    const int position = rows.position[row];
    visible += static_cast<float>(position + 1 - first_visible(position, attributes.window));
  }
  constexpr float kNsPerElement = 0.1f;  // one key element and one value element of one query
  const float ns = kNsPerElement * visible * static_cast<float>(attributes.heads) *
                   static_cast<float>(attributes.head_dim);
  const int pairs = count_groups(rows, rows_per_group(attributes)) * attributes.kv_heads;
  const int units = pairs * head_parts(attributes, pairs, workers);
  const float wanted = ns * 1e-4f;
  if (wanted >= static_cast<float>(units)) return units;
  const int some = wanted < static_cast<float>(workers) ? workers : static_cast<int>(wanted);
  return some < units ? some : units;
}

// Scratch of one unit, in this order: tile K and V as floats, then per query p and accumulators.
struct Scratch {
  float* k;
  float* v;
  float* queries;
  int padded_dim;
};
static_assert((2 * kTileKeys * kMaxHeadDim + kMaxQueries * (kTileKeys + 2 * kMaxHeadDim)) *
                  sizeof(float) <=
              kScratchBytes);

// What all query rows of a unit have in common.
struct Unit {
  const AttentionArgs* args;
  const StepInput* input;
  const KvView* kv;
  const int32_t* blocks;  // of the run
  int kv_head;
  QueryRow* queries;
  int count;
  Scratch scratch;
};

template <typename Kv>
void widen(const void* from, float* to, int count) {
  const auto* elements = static_cast<const typename Kv::Element*>(from);
  for (int i = 0; i < count; i += kLanes) Kv::load(elements + i).store(to + i);
}

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

// Finds the blocks that hold `keys` of a tile; converts them to f32 when asked.
template <typename Kv, bool widens>
TileBlocks find_blocks(const Unit& unit, int tile, Range keys) {
  TileBlocks found{};
  const int elements = unit.kv->head_dim * kBlockTokens;
  for (int b = keys.begin / kBlockTokens; b * kBlockTokens < keys.end; ++b) {
    const int32_t block = unit.blocks[tile * kTileBlocks + b];
    found.k[b] = unit.kv->keys(unit.args->attributes.kv_layer, block, unit.kv_head);
    found.v[b] = unit.kv->values(unit.args->attributes.kv_layer, block, unit.kv_head);
    if constexpr (widens) {
      float* k = unit.scratch.k + b * elements;
      float* v = unit.scratch.v + b * elements;
      widen<Kv>(found.k[b], k, elements);
      widen<Kv>(found.v[b], v, elements);
      found.k[b] = k;
      found.v[b] = v;
    }
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

template <typename Kv>
void attend_tile(const Unit& unit, const TileBlocks& tile) {
  const AttentionAttributes& a = unit.args->attributes;
  for (int i = 0; i < unit.count;) {
    QueryRow* rows = unit.queries + i;
    int n = 0;  // rows of this pass: neighbours that see some of the tile
    while (n < kPassRows && i + n < unit.count && rows[n].keys.begin < rows[n].keys.end) ++n;
    switch (n) {
      case 0:
        n = 1;
        break;
      case 1:
        attend_rows<Kv, 1>(rows, tile, a);
        break;
      case 2:
        attend_rows<Kv, 2>(rows, tile, a);
        break;
      case 3:
        attend_rows<Kv, 3>(rows, tile, a);
        break;
      default:
        attend_rows<Kv, kPassRows>(rows, tile, a);
        break;
    }
    i += n;
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
    if (keys.begin == keys.end) {
      // Rows with gaps between their windows.
    } else if (unit.count <= kPassRows || unit.kv->type == DType::f32) {
      attend_tile<Kv>(unit, find_blocks<Kv, false>(unit, tile, keys));
    } else {
      attend_tile<KvF32>(unit, find_blocks<Kv, true>(unit, tile, keys));
    }
    if ((tile + 1) % kSplitTiles == 0 || tile == last / kTileKeys) {
      for (int i = 0; i < unit.count; ++i) fold_split(unit.queries[i], head_dim);
    }
  }
}

void init_query(QueryRow& query, const Unit& unit, int index) {
  const AttentionAttributes& a = unit.args->attributes;
  const int dim = unit.scratch.padded_dim;
  query.p = unit.scratch.queries + static_cast<size_t>(index) * (kTileKeys + 2 * dim);
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

// Heads [heads.begin, heads.end) of the rows of a group; all read the same kv head.
void run_unit(const AttentionArgs& args, const StepInput& input, Range group, Range heads,
              const Worker& worker) {
  const AttentionAttributes& a = args.attributes;
  QueryRow queries[kMaxQueries];
  float* scratch = reinterpret_cast<float*>(worker.scratch);
  const KvView& kv = input.kv[a.kv_group];
  const size_t tile_elements = static_cast<size_t>(kTileKeys) * static_cast<size_t>(a.head_dim);
  Unit unit{.args = &args,
            .input = &input,
            .kv = &kv,
            .blocks = input.block_table(input.rows(args.rows).run[group.begin], a.kv_group),
            .kv_head = heads.begin / (a.heads / a.kv_heads),
            .queries = queries,
            .count = 0,
            .scratch = {.k = scratch,
                        .v = scratch + tile_elements,
                        .queries = scratch + 2 * tile_elements,
                        .padded_dim = round_up(a.head_dim, kLanes)}};
  for (int row = group.begin; row < group.end; ++row) {
    const float* q = f32_row(args.q, worker.index, a.heads * a.head_dim, row);
    for (int head = heads.begin; head < heads.end; ++head) {
      QueryRow& query = queries[unit.count];
      query.q = q + head * a.head_dim;
      query.row = row;
      query.head = head;
      init_query(query, unit, unit.count++);
    }
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

// Units are (row group, kv head, part of its query heads), the last index fastest.
void run(const void* args, const StepInput& input, int chunk, int chunks, const Worker& worker) {
  const auto& a = *static_cast<const AttentionArgs*>(args);
  const AttentionAttributes& attributes = a.attributes;
  const RowSet& rows = input.rows(a.rows);
  const int group_rows = rows_per_group(attributes);
  const int pairs = count_groups(rows, group_rows) * attributes.kv_heads;
  if (pairs == 0) return;
  const int group_heads = attributes.heads / attributes.kv_heads;
  const int least = least_head_parts(attributes), fitting = chunks / pairs;
  const int parts = fitting < least ? least : fitting < group_heads ? fitting : group_heads;
  const Range units = part_of(pairs * parts, chunk, chunks);
  const int units_per_group = attributes.kv_heads * parts;
  int first_unit = 0;
  for (int begin = 0; begin < rows.count && first_unit < units.end; first_unit += units_per_group) {
    const Range group = next_group(rows, begin, group_rows);
    begin = group.end;
    for (int i = 0; i < units_per_group; ++i) {
      if (first_unit + i < units.begin || first_unit + i >= units.end) continue;
      const Range part = part_of(group_heads, i % parts, parts);
      const int first_head = i / parts * group_heads;
      run_unit(a, input, group, {first_head + part.begin, first_head + part.end}, worker);
    }
  }
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

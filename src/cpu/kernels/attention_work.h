// How the attention of a step is cut: into query rows that read one kv head, and where there are
// few of these, into splits of the context.
#pragma once
#include "cpu/kernels/attention_tile.h"

namespace arion::cpu::ARION_ISA {
namespace {

// Query rows that share a tile: enough for all but the first pass to find it in the L1 cache.
inline constexpr int kMaxQueries = 32;
inline constexpr int kSplitKeys = kSplitTiles * kTileKeys;

// One split of one query row, as it lies in the memory all workers share.
struct SplitState {
  alignas(64) float max;
  float sum;
  bool is_empty;

  // [head_dim, rounded up to 16]
  float* acc() { return reinterpret_cast<float*>(this + 1); }
  static size_t bytes(int head_dim) {
    return sizeof(SplitState) + static_cast<size_t>(round_up(head_dim, kLanes)) * sizeof(float);
  }
};

// What one chunk does of a pair: a group of rows and the kv head they read.
struct Share {
  Range rows;
  int kv_head;
  Range queries;     // among those of the pair: row by row, its heads
  Range splits;      // of the context, those of this share
  Range all_splits;  // that the query rows see
  // Chunks that have a share of these queries. If they are several, each leaves its splits in the
  // memory of the pair, and the last one to be done folds them all.
  int sharers = 1;
  int pair = 0;
};

// The work of a step in order: groups of rows, kv heads, parts of the query rows of a pair of both
// or splits of what they see. Such a part belongs to the chunk that its middle lies in.
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

  // Bytes of the shared memory that belong to each pair.
  size_t pair_bytes() const {
    return SharedScratch::kBytes / static_cast<size_t>(pairs_) / alignof(SplitState) *
           alignof(SplitState);
  }

  // Calls use(share) for the shares of a chunk.
  template <typename Use>
  void for_shares(int chunk, int chunks, const Worker& worker, const Use& use) const {
    const Chunks cut{chunks, total_ / static_cast<float>(chunks)};
    float start = 0;
    int pair = 0;
    for_groups([&](Range group) {
      const float keys = pair_keys(group);
      const int queries = (group.end - group.begin) * group_heads_;
      const bool is_split = is_cut_into_splits(group, keys / cut.size, worker);
      const int parts = parts_of_pair(queries, keys / cut.size, worker.count);
      const float unit = keys / static_cast<float>(parts);
      for (int head = 0; head < attributes_.kv_heads; ++head, ++pair, start += keys) {
        if (cut.of(start) > chunk) return;
        if (cut.of(start + keys) < chunk) continue;
        Share share{.rows = group, .kv_head = head, .queries = {0, queries}, .pair = pair};
        share.splits = share.all_splits = splits_of(group);
        if (is_split) {
          share_splits(share, chunk, cut, start);
          if (share.splits.begin < share.splits.end) use(share);
          continue;
        }
        for (int part = 0; part < parts; ++part) {
          const float middle = start + (static_cast<float>(part) + 0.5f) * unit;
          share.queries = part_of(queries, part, parts);
          if (cut.of(middle) == chunk) use(share);
        }
      }
    });
  }

 private:
  // The work [0, count * size) in chunks.
  struct Chunks {
    int count;
    float size;
    int of(float keys) const {
      const int owner = static_cast<int>(keys / size);
      return owner < count ? owner : count - 1;
    }
  };

  template <typename Use>
  void for_groups(const Use& use) const {
    const int most = kMaxQueries / group_heads_ < 1 ? 1 : kMaxQueries / group_heads_;
    for (int begin = 0; begin < rows_.count;) {
      const Range group = next_group(begin, most);
      use(group);
      begin = group.end;
    }
  }

  // Rows of one run that are worked on together, from `begin` on.
  Range next_group(int begin, int most) const {
    int end = begin + 1;
    while (end < rows_.count && end - begin < most && rows_.run[end] == rows_.run[begin]) ++end;
    return {begin, end};
  }

  // What the last row of a group sees stands for all of them.
  Range seen_keys_of(Range group) const {
    const int position = rows_.position[group.end - 1];
    return {first_visible(position, attributes_.window), position + 1};
  }

  // Keys that the query rows of a group look at in one kv head.
  float pair_keys(Range group) const {
    const Range seen = seen_keys_of(group);
    return static_cast<float>(seen.end - seen.begin) *
           static_cast<float>((group.end - group.begin) * group_heads_);
  }

  Range splits_of(Range group) const {
    const int first = first_visible(rows_.position[group.begin], attributes_.window);
    return {first / kSplitKeys, rows_.position[group.end - 1] / kSplitKeys + 1};
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

  // True for the few query rows of a long context. Where pairs are fewer than workers, even loads
  // take four splits; until then its query rows are cut.
  bool is_cut_into_splits(Range group, float chunks_of_pair, const Worker& worker) const {
    const int queries = (group.end - group.begin) * group_heads_;
    if (worker.count == 1 || !worker.shared || pairs_ > SharedScratch::kCounters) return false;
    if (queries >= 2 * kPassRows || chunks_of_pair < 0.125f) return false;
    const Range splits = splits_of(group);
    const int count = splits.end - splits.begin;
    return count >= (pairs_ < worker.count ? 4 : 2) &&
           static_cast<size_t>(queries) * static_cast<size_t>(count) *
                   SplitState::bytes(attributes_.head_dim) <=
               pair_bytes();
  }

  // Narrows a share whose pair begins at `start` to the splits of `chunk`.
  void share_splits(Share& share, int chunk, const Chunks& cut, float start) const {
    const Range seen = seen_keys_of(share.rows);
    const Range all = share.all_splits;
    share.splits = {};
    share.sharers = 0;
    for (int split = all.begin, previous = -1; split < all.end; ++split) {
      const int begin = split * kSplitKeys > seen.begin ? split * kSplitKeys : seen.begin;
      const int end = (split + 1) * kSplitKeys < seen.end ? (split + 1) * kSplitKeys : seen.end;
      const float middle = 0.5f * static_cast<float>(begin + end) - static_cast<float>(seen.begin);
      const float before = middle > 0 ? middle * static_cast<float>(share.queries.end) : 0;
      const int owner = cut.of(start + before);
      share.sharers += owner != previous ? 1 : 0;
      previous = owner;
      if (owner != chunk) continue;
      if (share.splits.end == 0) share.splits.begin = split;
      share.splits.end = split + 1;
    }
  }

  const AttentionAttributes& attributes_;
  const RowSet& rows_;
  int group_heads_;
  int pairs_ = 0;
  float total_ = 0;
};

}  // namespace
}  // namespace arion::cpu::ARION_ISA

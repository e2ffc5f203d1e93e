// How attention is cut: every split of every query row once, and even loads.
#define ARION_ISA generic
#define ARION_ISA_generic 1
#include "cpu/kernels/attention_work.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "op/step.h"

namespace arion::test {
namespace {

using cpu::generic::Share;
using cpu::generic::Work;

struct Case {
  int heads, kv_heads;
  int window = 0;
  std::vector<TestRun> runs;
};

// A step as the kernel sees it.
struct Cut {
  explicit Cut(const Case& c)
      : step(c.runs),
        args{.attributes = {
                 .heads = c.heads, .kv_heads = c.kv_heads, .head_dim = 64, .window = c.window}} {}

  std::vector<Share> shares(int chunk, int chunks, int workers) const {
    const auto shared = std::make_unique<SharedScratch>();
    std::vector<Share> all;
    Work(args, step.input())
        .for_shares(chunk, chunks, {.count = workers, .shared = shared.get()},
                    [&](const Share& share) { all.push_back(share); });
    return all;
  }

  // Keys the query rows of a share look at.
  int keys(const Share& share) const {
    const int seen = step.input().all.position[share.rows.end - 1] + 1;
    const int end = std::min(share.splits.end * 512, seen);
    return (end - share.splits.begin * 512) * (share.queries.end - share.queries.begin);
  }

  Step step;
  AttentionArgs args;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {9, 3, 0, {{4096, 1}}},
      {4, 1, 0, {{2500, 1}}},
      {4, 1, 512, {{2500, 1}}},
      {9, 3, 700, {{1000, 1}, {5000, 2}, {3, 1}}},
      {40, 1, 0, {{3000, 2}}},
      {32, 8, 0, {{8191, 1}, {10, 1}, {100, 1}}},
      {9, 3, 0, {{600, 40}, {1500, 3}}},
  };
  return all;
}

TEST(CpuAttentionWork, EverySplitOfEveryQueryRowBelongsToOneChunk) {
  for (const Case& c : cases()) {
    const Cut cut(c);
    for (const int workers : {1, 2, 3}) {
      for (const int chunks : {1, 2, 3, 7, 12, 40}) {
        std::map<std::tuple<int, int, int>, int> owners;  // of (row, head, split)
        std::map<int, std::pair<int, int>> sharers;       // of a pair: told, counted
        for (int chunk = 0; chunk < chunks; ++chunk) {
          for (const Share& share : cut.shares(chunk, chunks, workers)) {
            const int group_heads = c.heads / c.kv_heads;
            for (int i = share.queries.begin; i < share.queries.end; ++i) {
              for (int split = share.splits.begin; split < share.splits.end; ++split) {
                ++owners[{share.rows.begin + i / group_heads,
                          share.kv_head * group_heads + i % group_heads, split}];
              }
            }
            if (share.sharers == 1) {
              EXPECT_EQ(share.splits.begin, share.all_splits.begin);
              EXPECT_EQ(share.splits.end, share.all_splits.end);
              continue;
            }
            EXPECT_EQ(share.queries.begin, 0);
            sharers[share.pair].first = share.sharers;
            ++sharers[share.pair].second;
          }
        }
        size_t wanted = 0;
        for (int row = 0; row < cut.step.rows(); ++row) {
          const int position = cut.step.input().all.position[row];
          const int first = c.window == 0 ? 0 : std::max(0, position - c.window + 1);
          for (int split = first / 512; split <= position / 512; ++split) {
            for (int head = 0; head < c.heads; ++head) {
              EXPECT_EQ((owners[{row, head, split}]), 1) << row << " " << head << " " << split;
              ++wanted;
            }
          }
        }
        EXPECT_GE(owners.size(), wanted);
        for (const auto& [pair, count] : sharers) EXPECT_EQ(count.first, count.second) << pair;
      }
    }
  }
}

TEST(CpuAttentionWork, TwoWorkersShareOneRowOfAnyNumberOfKvHeadsEvenly) {
  for (const int kv_heads : {1, 3, 5}) {
    const Cut cut({kv_heads * 3, kv_heads, 0, {{4096, 1}}});
    int keys[2] = {};
    for (const int chunk : {0, 1}) {
      for (const Share& share : cut.shares(chunk, 2, 2)) keys[chunk] += cut.keys(share);
    }
    EXPECT_NEAR(keys[0], keys[1], 0.15 * keys[0]) << kv_heads;
  }
}

TEST(CpuAttentionWork, OneWorkerNeverSharesAPair) {
  for (const Case& c : cases()) {
    for (int chunk = 0; chunk < 12; ++chunk) {
      for (const Share& share : Cut(c).shares(chunk, 12, 1)) EXPECT_EQ(share.sharers, 1);
    }
  }
}

// What all chunks leave must fit into the memory of the pair.
TEST(CpuAttentionWork, ContextsThatTheSharedMemoryCannotHoldAreNotCut) {
  const Cut cut({32, 32, 0, std::vector<TestRun>(2, {300'000, 1})});
  for (int chunk = 0; chunk < 200; ++chunk) {
    for (const Share& share : cut.shares(chunk, 200, 2)) EXPECT_EQ(share.sharers, 1);
  }
}

}  // namespace
}  // namespace arion::test

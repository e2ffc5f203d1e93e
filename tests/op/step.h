// Steps for kernel tests: runs of rows with positions, block tables and poisoned KV pools.
#pragma once
#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "base/half.h"
#include "op/step_input.h"
#include "tensor/memory.h"

namespace arion::test {

// One run: `rows` rows at positions first, first + 1, ...
struct TestRun {
  int first = 0, rows = 0;
};

struct GroupShape {
  DType type = DType::f32;
  int kv_heads = 1, head_dim = 8, layers = 1;
};

// Owns what a StepInput points to. Block ids are a shuffle by `seed`; there are more blocks than
// needed, and every element of every pool starts as NaN. All rows are output rows until
// `select` says otherwise.
class Step {
 public:
  explicit Step(std::vector<TestRun> runs, std::vector<GroupShape> groups = {}, uint32_t seed = 1) {
    for (size_t run = 0; run < runs.size(); ++run) {
      for (int i = 0; i < runs[run].rows; ++i) {
        position_.push_back(runs[run].first + i);
        run_.push_back(static_cast<int>(run));
      }
    }
    const int count = static_cast<int>(position_.size());
    tokens_.resize(count);
    output_index_.resize(count);
    std::iota(output_index_.begin(), output_index_.end(), 0);
    input_.all = {count, position_.data(), run_.data()};
    input_.output = input_.all;
    input_.tokens = tokens_.data();
    input_.output_index = output_index_.data();
    for (const GroupShape& group : groups) add_group(runs, group, seed++);
    input_.groups = static_cast<int>(groups.size());
    input_.kv = views_.data();
    // add_group stored tables by group; kernels want them by run, then group.
    for (size_t run = 0; run < runs.size(); ++run) {
      for (size_t group = 0; group < groups.size(); ++group) {
        table_pointers_.push_back(tables_[group * runs.size() + run].data());
      }
    }
    input_.block_tables = table_pointers_.data();
  }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  const StepInput& input() const { return input_; }
  std::vector<int32_t>& tokens() { return tokens_; }
  int rows() const { return input_.all.count; }

  void select(std::vector<int32_t> rows) {
    output_index_ = std::move(rows);
    output_position_.clear();
    output_run_.clear();
    for (const int32_t row : output_index_) {
      output_position_.push_back(position_[row]);
      output_run_.push_back(run_[row]);
    }
    input_.output_index = output_index_.data();
    input_.output = {static_cast<int>(output_index_.size()), output_position_.data(),
                     output_run_.data()};
  }

  // Address of element d of the key or value of one token.
  std::byte* element(int group, int layer, int run, int position, int head, bool is_key, int d) {
    const KvView& view = views_[group];
    const int32_t block = input_.block_table(run, group)[position / kBlockTokens];
    const int token = position % kBlockTokens;
    const int index = is_key ? d * kBlockTokens + token : token * view.head_dim + d;
    return (is_key ? view.keys(layer, block, head) : view.values(layer, block, head)) +
           static_cast<size_t>(index) * dtype_bytes(view.type);
  }

  void set_element(std::byte* at, DType type, float value) {
    const uint16_t half = type == DType::f16 ? float_to_half(value) : float_to_bfloat16(value);
    type == DType::f32 ? std::memcpy(at, &value, 4) : std::memcpy(at, &half, 2);
  }

  std::span<const std::byte> pool(int group) const {
    return {pools_[group].data(), pools_[group].size()};
  }

 private:
  void add_group(const std::vector<TestRun>& runs, const GroupShape& shape, uint32_t seed) {
    int blocks = 3;  // some that nobody uses
    for (const TestRun& run : runs) blocks += table_size(run);
    std::vector<int32_t> ids(blocks);
    std::iota(ids.begin(), ids.end(), 0);
    std::shuffle(ids.begin(), ids.end(), std::mt19937(seed));
    auto next = ids.begin();
    for (const TestRun& run : runs) {
      tables_.emplace_back(next, next + table_size(run));
      next += table_size(run);
    }
    KvView view{.base = nullptr,
                .type = shape.type,
                .kv_heads = shape.kv_heads,
                .head_dim = shape.head_dim,
                .blocks = static_cast<size_t>(blocks)};
    pools_.emplace_back(view.layer_bytes() * static_cast<size_t>(shape.layers));
    view.base = pools_.back().data();
    std::memset(view.base, 0xff, pools_.back().size());
    views_.push_back(view);
  }
  static int table_size(const TestRun& run) {
    return (run.first + run.rows + kBlockTokens - 1) / kBlockTokens;
  }

  StepInput input_;
  std::vector<int32_t> position_, run_, tokens_, output_index_, output_position_, output_run_;
  std::vector<Memory> pools_;
  std::vector<KvView> views_;
  std::vector<std::vector<int32_t>> tables_;
  std::vector<const int32_t*> table_pointers_;
};

}  // namespace arion::test

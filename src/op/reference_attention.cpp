// Reference of head operations and of attention over the paged KV.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/half.h"
#include "base/real_math.h"
#include "op/reference.h"
#include "op/reference_matrix.h"

namespace arion {
namespace {

double load_element(const std::byte* base, DType type, size_t index) {
  if (type == DType::f32) return reinterpret_cast<const float*>(base)[index];
  const uint16_t bits = reinterpret_cast<const uint16_t*>(base)[index];
  return type == DType::f16 ? half_to_float(bits) : bfloat16_to_float(bits);
}

// f16 saturates: an infinite key would turn a whole row into NaN.
void store_element(std::byte* base, DType type, size_t index, float value) {
  constexpr float kLargestHalf = 65504.0f;
  if (type == DType::f32) {
    reinterpret_cast<float*>(base)[index] = value;
  } else if (type == DType::f16) {
    if (!std::isnan(value)) value = std::clamp(value, -kLargestHalf, kLargestHalf);
    reinterpret_cast<uint16_t*>(base)[index] = float_to_half(value);
  } else {
    reinterpret_cast<uint16_t*>(base)[index] = float_to_bfloat16(value);
  }
}

// One token's place in the KV of a layer.
struct Slot {
  const KvView* kv;
  int layer;
  int32_t block;
  size_t token;  // within the block

  std::byte* keys(int head) const { return kv->keys(layer, block, head); }
  std::byte* values(int head) const { return kv->values(layer, block, head); }
  size_t key_index(size_t d) const { return d * kBlockTokens + token; }
  size_t value_index(size_t d) const { return token * static_cast<size_t>(kv->head_dim) + d; }
};

struct KvLayer {
  int group = 0, layer = 0;
};

Slot find_slot(const StepInput& input, KvLayer of, int run, int position) {
  const int32_t* table = input.block_table(run, of.group);
  return {&input.kv[of.group], of.layer, table[position / kBlockTokens],
          static_cast<size_t>(position % kBlockTokens)};
}

void rotate(std::span<double> values, const HeadArgs& args, int row) {
  const std::span<const float> angles = reference_f32_row(args.angles, row, 2 * args.pairs);
  for (int pair = 0; pair < args.pairs; ++pair) {
    const bool adjacent = args.pairing == RopePairing::adjacent;
    double& x0 = values[adjacent ? 2 * pair : pair];
    double& x1 = values[adjacent ? 2 * pair + 1 : pair + args.pairs];
    const double c = angles[pair], s = angles[args.pairs + pair];
    const double rotated = x0 * c - x1 * s;
    x1 = x0 * s + x1 * c;
    x0 = rotated;
  }
}

}  // namespace

void reference_apply_head(std::span<double> values, const HeadArgs& args, const StepInput& input,
                          int row, int head) {
  if (args.gain != nullptr) {
    double squares = 0;
    for (const double v : values) squares += v * v;
    const double inverse = 1 / std::sqrt(squares / args.head_dim + args.eps);
    for (int d = 0; d < args.head_dim; ++d) values[d] *= inverse * args.gain[d];
  }
  if (args.angles) rotate(values, args, row);
  if (!args.writes_kv) return;
  const RowSet& rows = input.rows(args.rows);
  const Slot slot =
      find_slot(input, {args.kv_group, args.kv_layer}, rows.run[row], rows.position[row]);
  for (int d = 0; d < args.head_dim; ++d) {
    const auto value = static_cast<float>(values[d]);
    if (args.role == HeadRole::key) {
      store_element(slot.keys(head), slot.kv->type, slot.key_index(d), value);
    } else {
      store_element(slot.values(head), slot.kv->type, slot.value_index(d), value);
    }
  }
}

void reference_attention(const AttentionArgs& args, const StepInput& input) {
  const AttentionAttributes& a = args.attributes;
  const RowSet& rows = input.rows(args.rows);
  const int queries_per_kv_head = a.heads / a.kv_heads;
  for (int i = 0; i < rows.count; ++i) {
    const std::span<const float> q = reference_f32_row(args.q, i, a.heads * a.head_dim);
    std::vector<double> out(a.heads * a.head_dim);
    const int last = rows.position[i];
    const int first = a.window == 0 ? 0 : std::max(0, last - a.window + 1);
    for (int head = 0; head < a.heads; ++head) {
      const int kv_head = head / queries_per_kv_head;
      std::vector<double> weight(last - first + 1);
      double largest = -std::numeric_limits<double>::infinity();
      for (int j = first; j <= last; ++j) {
        const Slot slot = find_slot(input, {a.kv_group, a.kv_layer}, rows.run[i], j);
        double dot = 0;
        for (int d = 0; d < a.head_dim; ++d) {
          dot += q[head * a.head_dim + d] *
                 load_element(slot.keys(kv_head), slot.kv->type, slot.key_index(d));
        }
        weight[j - first] = dot * a.scale;
        largest = std::max(largest, weight[j - first]);
      }
      double total = 0;
      for (double& w : weight) total += w = real::exp(w - largest);
      for (int j = first; j <= last; ++j) {
        const Slot slot = find_slot(input, {a.kv_group, a.kv_layer}, rows.run[i], j);
        for (int d = 0; d < a.head_dim; ++d) {
          out[head * a.head_dim + d] +=
              weight[j - first] / total *
              load_element(slot.values(kv_head), slot.kv->type, slot.value_index(d));
        }
      }
    }
    reference_store(args.out, i, out);
  }
}

}  // namespace arion

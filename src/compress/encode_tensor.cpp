// Rows are decoded, checked and encoded one at a time.
#include "compress/encode_tensor.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "base/error.h"
#include "io/ggml_types.h"
#include "quant/weight_format.h"

namespace arion {
namespace {

// Rows whose magnitudes stay below this have scales that f16 holds, in every format.
constexpr float kSafeMagnitude = 32768.0f;

constexpr uint64_t kChunkValues = 1 << 16;

constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

// The lowest index that any worker complains about.
class FirstIndex {
 public:
  void offer(uint64_t index) {
    uint64_t known = index_.load();
    while (index < known && !index_.compare_exchange_weak(known, index)) {
    }
  }
  uint64_t get() const { return index_.load(); }

 private:
  std::atomic<uint64_t> index_{kNone};
};

// Magnitudes compare as their bits; NaN and infinity are the largest.
uint32_t largest_bits(std::span<const float> row) {
  uint32_t largest = 0;
  for (const float x : row) largest = std::max(largest, std::bit_cast<uint32_t>(x) & 0x7fffffffu);
  return largest;
}

uint64_t index_of_magnitude(std::span<const float> row, float magnitude) {
  const auto found = std::ranges::find_if(row, [&](float x) { return std::fabs(x) == magnitude; });
  return static_cast<uint64_t>(found - row.begin());
}

uint64_t first_not_finite(std::span<const float> row) {
  const auto bad = std::ranges::find_if(row, [](float x) { return !std::isfinite(x); });
  return static_cast<uint64_t>(bad - row.begin());
}

}  // namespace

std::vector<std::byte> TensorEncoder::encode(const TensorPlan& plan) {
  const GgufTensor& source = *plan.source;
  const WeightFormat* const from = find_weight_format(source.type);
  if (from == nullptr) return {source.data.begin(), source.data.end()};  // integers and the like

  const WeightFormat& to = *find_weight_format(plan.type);
  const uint64_t cols = source.cols(), rows = source.rows();
  const size_t from_bytes = from->row_bytes(static_cast<int>(cols));
  const size_t to_bytes = to.row_bytes(static_cast<int>(cols));
  std::optional<std::vector<float>> weights;
  if (plan.importance != nullptr) weights = column_weights(*plan.importance);

  std::vector<std::byte> out(rows * to_bytes);
  for (std::vector<float>& row : scratch_) row.resize(cols);
  FirstIndex not_finite, too_large;
  const uint64_t chunk_rows = std::max<uint64_t>(1, kChunkValues / cols);
  const uint64_t chunks = (rows + chunk_rows - 1) / chunk_rows;
  std::atomic<uint64_t> next{0};
  pool_.run([&](int worker) {
    const std::span<float> row = scratch_[static_cast<size_t>(worker)];
    for (uint64_t chunk = next++; chunk < chunks; chunk = next++) {
      const uint64_t end = std::min(rows, (chunk + 1) * chunk_rows);
      for (uint64_t r = chunk * chunk_rows; r < end; ++r) {
        const uint64_t at = rows > 1 ? plan.source_row(r) : r;
        const auto encoded = source.data.subspan(at * from_bytes, from_bytes);
        from->decode_row(encoded, row);
        const auto largest = std::bit_cast<float>(largest_bits(row));
        if (!std::isfinite(largest)) {
          not_finite.offer(at * cols + first_not_finite(row));
          break;
        }
        const std::span<std::byte> target = std::span(out).subspan(r * to_bytes, to_bytes);
        if (rows == 1 && plan.interleaved_rows > 0) {
          const std::vector<float> elements(row.begin(), row.end());
          for (uint64_t i = 0; i < cols; ++i) row[i] = elements[plan.source_row(i)];
        } else if (from == &to) {
          std::ranges::copy(encoded, target.begin());
          continue;
        }
        std::span<const float> importance;
        const uint64_t matrix = r / source.ne[1];  // of a stack
        if (weights) importance = std::span(*weights).subspan(matrix * cols, cols);
        to.encode_row(row, importance, target);
        if (largest < kSafeMagnitude) continue;
        const uint64_t extreme = index_of_magnitude(row, largest);
        to.decode_row(target, row);
        // Sums of squares that overflow can leave a block at nothing.
        const uint64_t bad = row[extreme] == 0 ? extreme : first_not_finite(row);
        if (bad < cols) too_large.offer(at * cols + bad);
      }
    }
  });
  if (not_finite.get() != kNone) {
    fail(ErrorCode::bad_input,
         "tensor {} has a weight that is NaN or infinite at index {}; the model is damaged, get "
         "it again",
         printable(source.name), not_finite.get());
  }
  if (too_large.get() != kNone) {
    fail(ErrorCode::bad_input,
         "tensor {} has a weight at index {} that is too large for {}; keep the tensor with --keep "
         "'{}=source', or choose BF16",
         printable(source.name), too_large.get(), to.name(), printable(source.name));
  }
  return out;
}

}  // namespace arion

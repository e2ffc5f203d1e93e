// One pass for the maximum of each block; then only blocks that matter are looked at.
#include "sample/candidates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "base/error.h"

namespace arion {
namespace {

constexpr float kLowest = std::numeric_limits<float>::lowest();
constexpr size_t kBlock = ScannedRow::kBlock;
constexpr size_t kScanLanes = 16;  // the loops over lanes compile to vector code

// By lane, whether all logits seen so far are usable: no NaN, no +infinity.
using ValidLanes = std::array<int, kScanLanes>;

float block_maximum(const float* logits, ValidLanes& valid) {
  std::array<float, kScanLanes> largest;
  largest.fill(-kInfinity);
  for (size_t first = 0; first < kBlock; first += kScanLanes) {
    for (size_t i = 0; i < kScanLanes; ++i) {
      const float logit = logits[first + i];
      valid[i] &= logit < kInfinity ? -1 : 0;  // false for NaN as well
      largest[i] = largest[i] < logit ? logit : largest[i];
    }
  }
  for (size_t half = kScanLanes / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) {
      largest[i] = largest[i] < largest[i + half] ? largest[i + half] : largest[i];
    }
  }
  return largest[0];
}

[[noreturn]] void refuse(std::span<const float> logits) {
  for (size_t id = 0; id < logits.size(); ++id) {
    if (!(logits[id] < kInfinity)) {
      fail(ErrorCode::bad_input,
           "the model computed a logit that is not a number ({}) for token {}; the weights may be "
           "damaged, compare the file's checksum, or try --act fp32",
           logits[id], id);
    }
  }
  fail(ErrorCode::bad_input, "no token is allowed: all {} logits are -infinity", logits.size());
}

// Calls use(id, logit) for every logit >= threshold(), by ascending id. `use` may raise the
// threshold.
template <typename Threshold, typename Use>
void visit_at_least(const ScannedRow& row, const Threshold& threshold, const Use& use) {
  const std::span<const float> logits = row.logits(), maxima = row.block_maxima();
  for (size_t block = 0; block < maxima.size(); ++block) {
    if (maxima[block] < threshold()) continue;
    const size_t end = std::min((block + 1) * kBlock, logits.size());
    for (size_t id = block * kBlock; id < end; ++id) {
      if (logits[id] >= threshold()) use(static_cast<TokenId>(id), logits[id]);
    }
  }
}

// A logit that at least k of the row reach, or the lowest of all numbers.
float reached_by(const ScannedRow& row, size_t k, std::vector<float>& scratch) {
  if (row.block_maxima().size() < k) return kLowest;
  scratch.assign(row.block_maxima().begin(), row.block_maxima().end());
  const auto kth = scratch.begin() + static_cast<ptrdiff_t>(k) - 1;
  std::nth_element(scratch.begin(), kth, scratch.end(), std::greater<>());
  return std::max(*kth, kLowest);
}

}  // namespace

void ScannedRow::scan(std::span<const float> logits) {
  if (logits.empty()) fail(ErrorCode::bad_input, "there are no logits to sample from");
  logits_ = logits;
  const size_t whole = logits.size() / kBlock;
  maxima_.resize((logits.size() + kBlock - 1) / kBlock);
  ValidLanes valid;
  valid.fill(-1);
  for (size_t b = 0; b < whole; ++b) {
    maxima_[b] = block_maximum(&logits[b * kBlock], valid);
  }
  if (whole < maxima_.size()) {
    std::array<float, kBlock> rest;
    rest.fill(-kInfinity);
    std::copy(logits.begin() + static_cast<ptrdiff_t>(whole * kBlock), logits.end(), rest.begin());
    maxima_[whole] = block_maximum(rest.data(), valid);
  }
  const auto block = std::max_element(maxima_.begin(), maxima_.end());
  const bool is_valid = std::ranges::all_of(valid, [](int lane) { return lane != 0; });
  if (!is_valid || *block == -kInfinity) refuse(logits);
  const auto from = logits.begin() + (block - maxima_.begin()) * static_cast<ptrdiff_t>(kBlock);
  const auto first = std::find(from, logits.end(), *block);
  best_ = {.id = static_cast<TokenId>(first - logits.begin()), .logit = *first};
}

void select_top(const ScannedRow& row, size_t k, std::vector<Candidate>& out) {
  out.clear();
  const size_t wanted = std::min(k, row.logits().size());
  if (wanted == 0) return;
  if (wanted == 1) return out.push_back(row.best());
  std::vector<float> scratch;
  float threshold = reached_by(row, wanted, scratch);
  // Collects up to twice the wanted number, then keeps the better half; what is worse than the
  // last kept one can never come back.
  const size_t full = std::max<size_t>(2 * wanted, 256);
  const auto shrink = [&] {
    std::nth_element(out.begin(), out.begin() + static_cast<ptrdiff_t>(wanted) - 1, out.end(),
                     ranks_before);
    out.resize(wanted);
    // Later ids lose ties, so only a strictly larger logit is of interest from now on.
    threshold = std::nextafter(out[wanted - 1].logit, kInfinity);
  };
  visit_at_least(
      row, [&] { return threshold; },
      [&](TokenId id, float logit) {
        out.push_back({id, logit});
        if (out.size() == full) shrink();
      });
  if (out.size() > wanted) shrink();
  std::sort(out.begin(), out.end(), ranks_before);
}

void select_at_least(const ScannedRow& row, float threshold, std::vector<Candidate>& out) {
  out.clear();
  const float lowest = std::max(threshold, kLowest);
  visit_at_least(
      row, [&] { return lowest; },
      [&](TokenId id, float logit) {
        out.push_back({id, logit});
      });
}

}  // namespace arion

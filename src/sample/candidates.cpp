// One pass for the maximum of each block; then only blocks that matter are looked at.
#include "sample/candidates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>

#include "base/error.h"
#include "base/quad.h"

namespace arion {
namespace {

constexpr size_t kBlock = ScannedRow::kBlock;

// Four chains of four lanes hide the latency of their instructions on any processor.
constexpr size_t kChains = 4;
static_assert(kBlock % (kQuadLanes * kChains) == 0);

// Largest of a block; lanes of `valid` become 0 where one is NaN or +infinity.
float block_maximum(const float* logits, QuadMask& valid) {
  std::array<Quad, kChains> largest;
  std::array<QuadMask, kChains> is_number;
  largest.fill(Quad{} - kInfinity);
  is_number.fill(valid);
  for (size_t at = 0; at < kBlock;) {
    for (size_t chain = 0; chain < kChains; ++chain, at += kQuadLanes) {
      Quad x;
      std::memcpy(&x, logits + at, sizeof x);
      is_number[chain] &= x < kInfinity;  // false for NaN as well
      largest[chain] = select(largest[chain] < x, x, largest[chain]);
    }
  }
  valid = (is_number[0] & is_number[1]) & (is_number[2] & is_number[3]);
  const auto larger = [](Quad a, Quad b) { return select(a < b, b, a); };
  const Quad all = larger(larger(largest[0], largest[1]), larger(largest[2], largest[3]));
  return std::max(std::max(all[0], all[1]), std::max(all[2], all[3]));
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

}  // namespace

void ScannedRow::scan(std::span<const float> logits) {
  if (logits.empty()) fail(ErrorCode::bad_input, "there are no logits to sample from");
  logits_ = logits;
  const size_t whole = logits.size() / kBlock;
  maxima_.resize((logits.size() + kBlock - 1) / kBlock);
  QuadMask valid = QuadMask{} - 1;
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
  if (any(~valid) || *block == -kInfinity) refuse(logits);
  const auto from = logits.begin() + (block - maxima_.begin()) * static_cast<ptrdiff_t>(kBlock);
  const auto first = std::find(from, logits.end(), *block);
  best_ = {.id = static_cast<TokenId>(first - logits.begin()), .logit = *first};
}

float ScannedRow::reached_by(size_t k) const {
  if (maxima_.size() < k) return kLowest;
  scratch_ = maxima_;
  const auto kth = scratch_.begin() + static_cast<ptrdiff_t>(k) - 1;
  std::nth_element(scratch_.begin(), kth, scratch_.end(), std::greater<>());
  return std::max(*kth, kLowest);
}

void select_top(const ScannedRow& row, size_t k, std::vector<Candidate>& out) {
  out.clear();
  const size_t wanted = std::min(k, row.logits().size());
  if (wanted == 0) return;
  if (wanted == 1) return out.push_back(row.best());
  float threshold = row.reached_by(wanted);
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

size_t count_before(const ScannedRow& row, TokenId id) {
  const Candidate candidate{id, row.logits()[static_cast<size_t>(id)]};
  size_t before = 0;
  visit_at_least(
      row, [&] { return candidate.logit; },
      [&](TokenId other, float logit) {
        before += ranks_before({other, logit}, candidate) ? 1 : 0;
      });
  return before;
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

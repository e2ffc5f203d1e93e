// Scans for the peak, for the k largest and for all above a threshold, strip by strip.
#include "sample/candidates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/error.h"

namespace arion {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Ids are looked at in strips of this many; the loops over one strip compile to vector code.
constexpr size_t kStrip = 16;

bool any_at_least(const float* strip, float threshold) {
  unsigned any = 0;
  for (size_t i = 0; i < kStrip; ++i) any |= strip[i] >= threshold ? 1u : 0u;
  return any != 0;
}

// Calls use(id, logit) for every logit >= threshold(), by ascending id. `use` may raise the
// threshold.
template <typename Threshold, typename Use>
void scan_at_least(std::span<const float> logits, const Threshold& threshold, const Use& use) {
  size_t id = 0;
  for (; id + kStrip <= logits.size(); id += kStrip) {
    if (!any_at_least(&logits[id], threshold())) continue;
    for (size_t i = id; i < id + kStrip; ++i) {
      if (logits[i] >= threshold()) use(static_cast<TokenId>(i), logits[i]);
    }
  }
  for (; id < logits.size(); ++id) {
    if (logits[id] >= threshold()) use(static_cast<TokenId>(id), logits[id]);
  }
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

}  // namespace

Peak find_peak(std::span<const float> logits) {
  CHECK(!logits.empty());
  std::array<float, kStrip> largest;
  largest.fill(-kInfinity);
  unsigned invalid = 0;
  size_t id = 0;
  for (; id + kStrip <= logits.size(); id += kStrip) {
    for (size_t i = 0; i < kStrip; ++i) {
      const float logit = logits[id + i];
      invalid |= logit < kInfinity ? 0u : 1u;  // true for NaN as well
      largest[i] = largest[i] < logit ? logit : largest[i];
    }
  }
  for (; id < logits.size(); ++id) {
    invalid |= logits[id] < kInfinity ? 0u : 1u;
    largest[0] = largest[0] < logits[id] ? logits[id] : largest[0];
  }
  const float peak = *std::max_element(largest.begin(), largest.end());
  if (invalid != 0 || peak == -kInfinity) refuse(logits);
  const auto first = std::find(logits.begin(), logits.end(), peak);
  return {.id = static_cast<TokenId>(first - logits.begin()), .logit = *first};
}

void select_top(std::span<const float> logits, int k, std::vector<Candidate>& out) {
  CHECK(k > 0);
  out.clear();
  const size_t wanted = std::min(static_cast<size_t>(k), logits.size());
  // Collects up to twice the wanted number, then keeps the better half; what is worse than the
  // last kept one can never come back. Few rows need more than a handful of such rounds, because
  // the threshold rises quickly.
  const size_t full = std::max<size_t>(2 * wanted, 256);
  float threshold = -kInfinity;
  const auto shrink = [&] {
    std::nth_element(out.begin(), out.begin() + static_cast<ptrdiff_t>(wanted) - 1, out.end(),
                     ranks_before);
    out.resize(wanted);
    // Later ids lose ties, so only a strictly larger logit is of interest from now on.
    threshold = std::nextafter(out[wanted - 1].logit, kInfinity);
  };
  scan_at_least(
      logits, [&] { return threshold; },
      [&](TokenId id, float logit) {
        out.push_back({id, logit});
        if (out.size() == full && full > wanted) shrink();
      });
  if (out.size() > wanted) shrink();
  std::sort(out.begin(), out.end(), ranks_before);
}

void select_at_least(std::span<const float> logits, float threshold, std::vector<Candidate>& out) {
  out.clear();
  scan_at_least(
      logits, [&] { return threshold; },
      [&](TokenId id, float logit) {
        out.push_back({id, logit});
      });
}

}  // namespace arion

// Thresholds and sums on the row, prefixes on the list.
#include "sample/survivors.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/real_math.h"
#include "sample/mass_histogram.h"
#include "sample/softmax.h"

namespace arion {
namespace {

float round_up(double exact) {
  const float rounded = static_cast<float>(exact);
  return static_cast<double>(rounded) < exact ? std::nextafter(rounded, kInfinity) : rounded;
}

}  // namespace

double Moments::entropy() const {
  return std::max(0.0, real::log(mass) - weighted / mass);
}

void Survivors::start(const ScannedRow& row) {
  row_ = &row;
  peak_ = row.best().logit;
  temperature_ = 1;
  is_everything_ = true;
}

float Survivors::weight(float logit) const {
  return exp_nonpositive((logit - peak_) / temperature_);
}

float Survivors::logit_of_weight(double w) const {
  return round_up(static_cast<double>(peak_) + static_cast<double>(temperature_) * real::log(w));
}

Moments Survivors::moments() const {
  if (is_everything_) {
    const ExpMoments sums = sum_exp_moments(row_->logits(), peak_, temperature_);
    return {.count = sums.count, .mass = sums.sum, .weighted = sums.weighted};
  }
  Moments result{.count = list_.size()};
  for (const Candidate& c : list_) {
    const double w = static_cast<double>(weight(c.logit));
    result.mass += w;
    // Where the weight is zero x may be infinite.
    if (w > 0) result.weighted += w * static_cast<double>((c.logit - peak_) / temperature_);
  }
  return result;
}

std::span<const Candidate> Survivors::list() {
  if (is_everything_) {
    select_at_least(*row_, -kInfinity, list_);
    is_everything_ = is_sorted_ = false;
  }
  return list_;
}

std::span<const Candidate> Survivors::sorted() {
  list();
  if (!is_sorted_) std::sort(list_.begin(), list_.end(), ranks_before);
  is_sorted_ = true;
  return list_;
}

std::span<const Candidate> Survivors::best(size_t count) {
  if (!is_everything_) return sorted().first(std::min(count, list_.size()));
  select_top(*row_, count, best_);
  return best_;
}

void Survivors::keep_first(size_t count) {
  CHECK(count > 0);
  if (is_everything_) {
    if (count >= row_->logits().size()) return;
    select_top(*row_, count, list_);
    is_everything_ = false;
    is_sorted_ = true;
    return;
  }
  if (count >= list_.size()) return;
  if (!is_sorted_) {
    const auto end = list_.begin() + static_cast<ptrdiff_t>(count);
    std::nth_element(list_.begin(), end - 1, list_.end(), ranks_before);
    std::sort(list_.begin(), end, ranks_before);
    is_sorted_ = true;
  }
  list_.resize(count);
}

void Survivors::keep_at_least(float threshold) {
  threshold = std::min(threshold, peak_);
  if (is_everything_) {
    select_at_least(*row_, threshold, list_);
    is_everything_ = is_sorted_ = false;
  } else {
    std::erase_if(list_, [&](const Candidate& c) { return c.logit < threshold; });
  }
}

void Survivors::keep_mass(double share) {
  if (is_everything_) return keep_mass_of_row(share);
  sorted();
  keep_prefix(share * moments().mass);
}

// The shortest prefix of the list with this mass; false and no change if all of it has less.
bool Survivors::keep_prefix(double mass) {
  double sum = 0;
  for (size_t i = 0; i < list_.size(); ++i) {
    sum += static_cast<double>(weight(list_[i].logit));
    if (!(sum >= mass)) continue;
    list_.resize(i + 1);
    return true;
  }
  return false;
}

// A histogram tells about how deep the prefix goes; only that much is sorted.
void Survivors::keep_mass_of_row(double share) {
  const std::span<const float> logits = row_->logits();
  const double mass = share * sum_exp(logits, peak_, temperature_, weights_);
  MassHistogram histogram;
  for (size_t i = 0; i < logits.size(); ++i) {
    histogram.add((peak_ - logits[i]) / temperature_, static_cast<double>(weights_[i]));
  }
  for (float depth = histogram.bound(mass);; depth = kInfinity) {
    select_at_least(*row_, peak_ - depth * temperature_, list_);
    std::sort(list_.begin(), list_.end(), ranks_before);
    is_everything_ = false;
    is_sorted_ = true;
    // At last all of it, which by rounding may hold slightly less.
    if (keep_prefix(mass) || depth == kInfinity) return;
  }
}

void Survivors::replace(std::vector<Candidate>& list) {
  CHECK(!list.empty());
  list_.swap(list);
  is_everything_ = false;
  is_sorted_ = std::is_sorted(list_.begin(), list_.end(), ranks_before);
  peak_ = std::max_element(list_.begin(), list_.end(), [](const auto& a, const auto& b) {
            return a.logit < b.logit;
          })->logit;
}

}  // namespace arion

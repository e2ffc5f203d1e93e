#include "server/metrics/histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

namespace arion {

void Histogram::observe(double value, uint64_t times) {
  const auto bucket = std::ranges::lower_bound(bounds_, value) - bounds_.begin();
  counts_[static_cast<size_t>(bucket)] += times;
  sum_ += value * static_cast<double>(times);
}

uint64_t Histogram::count() const {
  return std::accumulate(counts_.begin(), counts_.end(), uint64_t{0});
}

double Histogram::mean() const {
  return count() > 0 ? sum_ / static_cast<double>(count()) : 0;
}

void Histogram::write(std::string& out, std::string_view name, std::string_view labels) const {
  const auto to = std::back_inserter(out);
  uint64_t sum = 0;
  for (size_t i = 0; i < bounds_.size(); ++i) {
    sum += counts_[i];
    // As Python writes floats: 1.0, not 1.
    fmt::format_to(to, "{}_bucket{{{},le=\"{:#}\"}} {}\n", name, labels, bounds_[i], sum);
  }
  fmt::format_to(to, "{}_bucket{{{},le=\"+Inf\"}} {}\n", name, labels, count());
  fmt::format_to(to, "{}_sum{{{}}} {}\n", name, labels, sum_);
  fmt::format_to(to, "{}_count{{{}}} {}\n", name, labels, count());
}

}  // namespace arion

// Percentiles of measured values.
#pragma once
#include <algorithm>
#include <vector>

namespace arion::app {

// Between the two values nearest to it. There is at least one.
inline double percentile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<size_t>(at);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

// Of values in any order.
inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return percentile(values, 0.5);
}

}  // namespace arion::app

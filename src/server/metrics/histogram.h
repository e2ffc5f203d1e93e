// A histogram as Prometheus counts it.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace arion {

// Not thread-safe.
class Histogram {
 public:
  // Upper bounds of the buckets, ascending; one without a bound follows.
  explicit Histogram(std::span<const double> bounds)
      : bounds_(bounds.begin(), bounds.end()), counts_(bounds.size() + 1) {}

  void observe(double value, uint64_t times = 1);
  uint64_t count() const;
  double mean() const;  // 0 of nothing

  // Lines NAME_bucket, NAME_sum and NAME_count; `labels` without braces.
  void write(std::string& out, std::string_view name, std::string_view labels) const;

 private:
  std::vector<double> bounds_;
  std::vector<uint64_t> counts_;  // per bucket, not cumulative
  double sum_ = 0;
};

}  // namespace arion

// How far to go along ascending keys until they hold a given mass, without sorting them.
#pragma once
#include <array>
#include <cstddef>
#include <limits>

namespace arion {

// Masses by intervals of 1/64 of their keys, as far as a key of 32.
class MassHistogram {
 public:
  void add(float key, double mass) {  // key >= 0
    const float at = key * kBinsPerUnit;
    if (at < static_cast<float>(kBins)) bins_[static_cast<size_t>(at)] += mass;
  }

  // A key up to which there is `mass`; infinity if that is beyond the last interval. Rounding may
  // leave slightly less mass up to it, which the caller must expect.
  float bound(double mass) const {
    double sum = 0;
    for (size_t i = 0; i < kBins; ++i) {
      sum += bins_[i];
      if (sum >= mass) return static_cast<float>(i + 1) / kBinsPerUnit;
    }
    return std::numeric_limits<float>::infinity();
  }

 private:
  static constexpr float kBinsPerUnit = 64;
  static constexpr size_t kBins = 2048;

  std::array<double, kBins> bins_{};
};

}  // namespace arion

// Kernels of every ISA level this machine can run, and how their results are compared.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "cpu/cpu_kernels.h"
#include "op/implementations.h"

namespace arion::test {

inline const std::vector<Implementation>& cpu_levels() {
  static const std::vector<Implementation> levels = [] {
    std::vector<Implementation> all;
    for (const IsaLevel level : supported_isa_levels()) {
      all.push_back({std::string(isa_name(level)), {}});
      register_cpu_kernels(all.back().registry, level);
    }
    return all;
  }();
  return levels;
}

inline constexpr double kEpsilon = 0x1p-24;  // half a unit in the last place of 1 in f32

// |got - want| <= relative * |want| + absolute, element by element. Rows that the reference leaves
// untouched must be untouched.
inline void expect_near(const Matrix& got, const Matrix& want, double relative, double absolute) {
  ASSERT_EQ(got.rows(), want.rows());
  for (int row = 0; row < want.rows(); ++row) {
    ASSERT_EQ(got.is_untouched(row), want.is_untouched(row)) << "row " << row;
    if (want.is_untouched(row)) continue;
    const std::vector<double> g = got.values(row), w = want.values(row);
    for (size_t c = 0; c < w.size(); ++c) {
      ASSERT_NEAR(g[c], w[c], relative * std::fabs(w[c]) + absolute)
          << "row " << row << ", column " << c;
    }
  }
}

// Calls run(implementation, workers) on the reference and on every level, with partitions for
// several numbers of workers. All levels and partitions must give equal bits; `check` compares
// them with the reference. Result needs operator==.
template <typename Result>
void on_every_level(const std::function<Result(const Implementation&, int workers)>& run,
                    const std::function<void(const Result& got, const Result& want)>& check) {
  const Result want = run(reference_implementation(), 1);
  const Result first = run(cpu_levels().front(), 1);
  check(first, want);
  if (testing::Test::HasFatalFailure()) return;
  for (const Implementation& level : cpu_levels()) {
    for (const int workers : {1, 2, 7}) {
      ASSERT_TRUE(run(level, workers) == first)
          << level.name << " for " << workers << " workers differs from " << cpu_levels()[0].name;
    }
  }
}

}  // namespace arion::test

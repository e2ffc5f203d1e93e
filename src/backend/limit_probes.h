// Loops that reach what the processor can do at most, to compare kernels with.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "tensor/activation.h"

namespace arion {

// Nothing but multiply-adds on registers.
struct PeakProbe {
  const char* instruction = "";  // "vpdpbusd zmm"
  int multiply_adds = 0;         // of one round
  void (*run)(int64_t rounds) = nullptr;
};

// Of one level. All functions are thread-safe and allocate nothing.
struct LimitProbes {
  // By activation form: the fastest arithmetic of the level that linear kernels may use for it.
  std::array<PeakProbe, 3> peaks;
  // Reads all of `bytes` as 1, 4 or 8 streams side by side; whole cache lines are read.
  void (*read)(const std::byte* data, size_t bytes, int streams) = nullptr;

  const PeakProbe& peak(ActivationForm form) const { return peaks[static_cast<size_t>(form)]; }
};

inline constexpr std::array<int, 3> kReadStreams = {1, 4, 8};

}  // namespace arion

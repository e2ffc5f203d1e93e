// Forces inlining: kernels of different ISA levels must never share an out-of-line copy.
#pragma once
#include <cstddef>
#include <cstdint>

#define ARION_INLINE inline __attribute__((always_inline))
// The same for lambdas: [&](auto i) ARION_INLINE_LAMBDA { ... }
#define ARION_INLINE_LAMBDA __attribute__((always_inline))

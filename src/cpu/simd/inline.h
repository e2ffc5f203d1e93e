// Forces inlining: kernels of different ISA levels must never share an out-of-line copy.
#pragma once
#include <cstddef>
#include <cstdint>

#define ARION_INLINE inline __attribute__((always_inline))
// The same for lambdas: [&](auto i) ARION_INLINE_LAMBDA { ... }
#define ARION_INLINE_LAMBDA __attribute__((always_inline))
// Keeps one copy where a large function would be inlined into many; internal linkage only.
#define ARION_NOINLINE __attribute__((noinline))

// A set of kernels as a test runs it: the scalar reference, or one level of the CPU.
#pragma once
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/reference_kernels.h"
#include "op/matrix.h"

namespace arion::test {

struct Implementation {
  std::string name;
  KernelRegistry registry;
};

inline Implementation reference_implementation() {
  Implementation reference{"reference", {}};
  register_reference_kernels(reference.registry);
  return reference;
}

// For one thread at a time; poisoned.
inline SharedScratch& poisoned_shared_scratch() {
  static const auto shared = std::make_unique<SharedScratch>();
  std::memset(shared->bytes, kPoison, size_t{256} << 10);  // more than the tests use
  return *shared;
}

// Runs all chunks of the best kernel for `op`, partitioned for `workers`, last chunk first. Scratch
// is poisoned before every chunk.
inline void run_op(const Implementation& implementation, const OpDesc& op, const void* args,
                   const StepInput& input, int workers = 2) {
  const Kernel& kernel = implementation.registry.best(op);
  static const Memory scratch(kScratchBytes);
  SharedScratch& shared = poisoned_shared_scratch();
  const int chunks = kernel.chunks(args, input, workers);
  for (int chunk = chunks; chunk-- > 0;) {
    std::memset(scratch.data(), kPoison, scratch.size());
    kernel.run(args, input, chunk, chunks,
               {.count = workers, .scratch = scratch.data(), .shared = &shared});
  }
}

}  // namespace arion::test

// Chooses among the kernels that support an operation, by rank.
#include "backend/kernel.h"
#include "base/error.h"

namespace arion {

void KernelRegistry::add(const Kernel& kernel) {
  kernels_.push_back(kernel);
}

const Kernel& KernelRegistry::best(const OpDesc& op) const {
  const Kernel* best = nullptr;
  for (const Kernel& kernel : kernels_) {
    if (kernel.supports(op) && (best == nullptr || kernel.rank > best->rank)) best = &kernel;
  }
  if (best == nullptr) {
    fail(ErrorCode::usage,
         "no kernel for {} with {} activations and {}/{} weights; another --act may work",
         op_name(op.kind), activation_form_name(op.form), codec_name(op.weights.codec),
         scale_mode_name(op.weights.mode));
  }
  return *best;
}

std::vector<const Kernel*> KernelRegistry::all(const OpDesc& op) const {
  std::vector<const Kernel*> found;
  for (const Kernel& kernel : kernels_) {
    if (kernel.supports(op)) found.push_back(&kernel);
  }
  return found;
}

}  // namespace arion

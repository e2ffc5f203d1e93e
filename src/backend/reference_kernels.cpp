// Wraps each function of op/reference.h into a kernel of one chunk and the lowest rank.
#include "backend/reference_kernels.h"

#include "op/reference.h"

namespace arion {
namespace {

template <OpKind... kinds>
bool supports(const OpDesc& op) {
  return ((op.kind == kinds) || ...);
}

template <typename Args, void (*reference)(const Args&, const StepInput&)>
void run(const void* args, const StepInput& input, int /*chunk*/, int /*chunks*/,
         const Worker& /*worker*/) {
  reference(*static_cast<const Args*>(args), input);
}

// `reference` is one operation's function; `kinds` are the operations it defines.
template <typename Args, void (*reference)(const Args&, const StepInput&), OpKind... kinds>
Kernel kernel(const char* name) {
  return {.name = name,
          .arithmetic = "reference.f64",
          .rank = 0,
          .supports = supports<kinds...>,
          .chunks = [](const void*, const StepInput&, int) { return 1; },
          .run = run<Args, reference>};
}

}  // namespace

void register_reference_kernels(KernelRegistry& registry) {
  using enum OpKind;
  registry.add(kernel<EmbedArgs, reference_embed, embed>("embed.reference"));
  registry.add(kernel<RopeAnglesArgs, reference_rope_angles, rope_angles>("rope_angles.reference"));
  registry.add(kernel<NormArgs, reference_norm, rms_norm, norm>("norm.reference"));
  registry.add(kernel<ConvertArgs, reference_convert, convert>("convert.reference"));
  registry.add(kernel<AddArgs, reference_add, add>("add.reference"));
  registry.add(kernel<GluArgs, reference_glu, glu>("glu.reference"));
  registry.add(kernel<SelectRowsArgs, reference_select_rows, select_rows>("select_rows.reference"));
  registry.add(kernel<HeadArgs, reference_head, head_norm, rope, kv_write>("head.reference"));
  registry.add(kernel<AttentionArgs, reference_attention, attention>("attention.reference"));
  registry.add(kernel<LinearArgs, reference_linear, linear, linear_add, linear_glu, linear_head>(
      "linear.reference"));
}

}  // namespace arion

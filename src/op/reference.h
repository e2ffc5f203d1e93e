// The scalar truth of every operation, in double precision and the plainest form.
//
// Sums, products and functions are computed in double; only what the contract says is rounded:
// values stored as f32, bf16, f16 or int8 codes. Kernels agree within bounds that grow with the
// number of terms. One call does the whole step; redundantly computed values use worker 0's copy.
#pragma once
#include <span>

#include "op/kernel_args.h"

namespace arion {

void reference_embed(const EmbedArgs& args, const StepInput& input);
void reference_rope_angles(const RopeAnglesArgs& args, const StepInput& input);
void reference_norm(const NormArgs& args, const StepInput& input);
void reference_convert(const ConvertArgs& args, const StepInput& input);
void reference_add(const AddArgs& args, const StepInput& input);
void reference_glu(const GluArgs& args, const StepInput& input);
void reference_select_rows(const SelectRowsArgs& args, const StepInput& input);
void reference_linear(const LinearArgs& args, const StepInput& input);  // all four linear kinds
void reference_head(const HeadArgs& args, const StepInput& input);
void reference_attention(const AttentionArgs& args, const StepInput& input);

// Applies a head operation to the `head_dim` values of one head of one row.
void reference_apply_head(std::span<double> values, const HeadArgs& args, const StepInput& input,
                          int row, int head);

double reference_activation(Activation activation, double x);

}  // namespace arion

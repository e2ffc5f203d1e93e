// 8-bit floating-point weights of safetensors files, expanded with their scales.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "io/safetensors.h"

namespace arion {

bool is_fp8(std::string_view dtype);

// One value of type F32, F16 or BF16 at any address.
float load_float_value(const std::byte* from, std::string_view dtype);

// weight * scale as f32, where the scale is `block_scale` (one per 128 x 128 block) or `scale` (one
// for all, or one per row); null: absent. E4M3 has bias 7 and no infinity, E5M2 is the upper half
// of an f16. Throws Error{bad_input} naming `file` when shapes disagree. Source: the fp8
// integrations of transformers (finegrained_fp8, fbgemm_fp8).
std::vector<float> expand_fp8(const SafetensorsTensor& weight, const SafetensorsTensor* block_scale,
                              const SafetensorsTensor* scale, const std::string& file);

}  // namespace arion

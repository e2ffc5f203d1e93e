// Classifier-free guidance: pushes an answer away from what another prompt would say.
//
//   l = scale * (log p - log n) + log n
// with p the probabilities after the prompt and n those after the negative prompt. At scale 1 the
// negative prompt has no effect; larger scales follow the prompt more closely.
// Source: Sanchez et al., "Stay on topic with classifier-free guidance", 2023.
#pragma once
#include <span>

namespace arion {

// Throws Error{bad_input}: scale 0 to 100.
void check_guidance_scale(float scale);

// Replaces `logits` [vocab] by the guided ones. Tokens that one side forbids (-infinity) are
// forbidden. Throws Error{bad_input} for rows without a usable maximum, see ScannedRow::scan.
void apply_guidance(std::span<float> logits, std::span<const float> negative, float scale);

}  // namespace arion

// Mirostat: keeps the surprise of an answer near tau bits per token.
//
// Version 2 keeps tokens with -log2 p <= mu. Version 1 estimates from the 100 best tokens the
// exponent s of a Zipf law and keeps the k best,
//   s = sum t_i b_i / sum t_i^2,  t_i = ln((i + 2) / (i + 1)),  b_i = ln(p_i / p_(i+1)),
//   k = ((e * 2^mu) / (1 - n^-e))^(1/s),  e = s - 1,  n the size of the vocabulary.
// Both keep the best token, version 2 its equals too. After the draw mu falls by eta * (-log2 p -
// tau), p the probability among the tokens kept. Source: Basu et al., "Mirostat: a neural text
// decoding algorithm that directly controls perplexity", 2020.
#pragma once
#include "sample/sampler_state.h"
#include "sample/survivors.h"

namespace arion {

// Throws Error{bad_input}: version 0 to 2, tau 0 to 100, eta 0 to 1.
void check_mirostat(const MirostatParams& params);

void apply_mirostat(Survivors& survivors, const MirostatParams& params, const SamplerState& state);

// `chosen` is the logit of the token drawn from what apply_mirostat left.
void update_mirostat(const Survivors& survivors, const MirostatParams& params, float chosen,
                     SamplerState& state);

}  // namespace arion

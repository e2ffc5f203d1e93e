// How a request wants its tokens chosen.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sequence/sequence.h"

namespace arion {

// Which distribution log probabilities describe.
enum class LogprobsOf : uint8_t {
  model,      // log-softmax of the model's logits, whatever happens to them below
  processed,  // log-softmax over what the stages left, temperature included
};

// Discourages tokens that occurred, see sample/penalties.h.
struct PenaltyParams {
  float repetition = 1.0f;     // logits of tokens seen are divided by it (multiplied if negative)
  float presence = 0.0f;       // subtracted once from tokens counted
  float frequency = 0.0f;      // subtracted per occurrence
  int last_n = -1;             // how many of the last tokens are looked at; -1 = all
  bool counts_prompt = false;  // presence and frequency count the prompt as well as the answer
};

// "Don't repeat yourself": discourages tokens that would go on with a repetition, see sample/dry.h.
struct DryParams {
  float multiplier = 0.0f;  // 0 = off
  float base = 1.75f;
  int allowed_length = 2;         // repetitions this long are still free
  int last_n = -1;                // how many of the last tokens are searched; -1 = all
  std::vector<TokenId> breakers;  // no repetition reaches across these
};

// Excludes top choices: sometimes removes all likely tokens but the least likely of them.
struct XtcParams {
  float probability = 0.0f;  // how often; 0 = off
  float threshold = 0.1f;    // tokens at least this probable are likely; above 0.5 = off
};

// Steers the surprise of an answer, see sample/mirostat.h.
struct MirostatParams {
  int version = 0;   // 1 or 2; 0 = off
  float tau = 5.0f;  // wanted surprise in bits
  float eta = 0.1f;  // how fast the limit follows
};

// Steers the probability of the tokens chosen, see sample/adaptive_p.h.
struct AdaptiveParams {
  float target = -1.0f;  // wanted probability; negative = off
  float decay = 0.9f;    // of the average over earlier tokens

  bool is_on() const { return target >= 0; }
};

struct TokenBias {
  TokenId token = 0;
  float bias = 0;  // added to the logit; -infinity forbids the token
};

// A neutral value switches its stage off. Ranges: sample/check_params.h. Everything together:
//   1. logits are changed:  logit_bias, penalties, dry, bad_words and tokens not allowed yet;
//   2. temperature below 1e-5 takes the best token; else the stages of `order` narrow the choice;
//   3. mirostat or adaptive, if on, narrow or reshape it once more;
//   4. the token is drawn by seed and position (sample/gumbel.h).
struct SamplingParams {
  int top_k = 0;                                // keep the k largest; 0 or -1 = all
  float top_p = 1.0f;                           // keep the smallest set with this mass; 1 = all
  float min_p = 0.0f;                           // keep p >= min_p * largest p; 0 = all
  float temperature = 1.0f;                     // logits are divided by it; 0 = greedy
  std::optional<uint64_t> seed = std::nullopt;  // absent: drawn from the system, and reported
  int logprobs = -1;  // -1: none; n >= 0: the chosen token's and the n largest
  LogprobsOf logprobs_of = LogprobsOf::model;

  float typical_p = 1.0f;          // keep the most typical set with this mass; 1 = all
  float top_n_sigma = 0.0f;        // keep logits within so many standard deviations of the largest
  float top_h = 0.0f;              // keep this share of the entropy of the 100 best; 0 = all
  float epsilon_cutoff = 0.0f;     // keep p >= epsilon; 0 = all
  float eta_cutoff = 0.0f;         // keep p >= min(eta, sqrt(eta) * e^-entropy); 0 = all
  float dynatemp_range = 0.0f;     // temperature within +- this by entropy; 0 = fixed
  float dynatemp_exponent = 1.0f;  // of the entropy relative to the largest possible
  XtcParams xtc;
  MirostatParams mirostat;
  AdaptiveParams adaptive;
  PenaltyParams penalties;
  DryParams dry;
  std::vector<TokenBias> logit_bias;
  std::vector<std::vector<TokenId>> bad_words;  // sequences that must not be completed
  // Names of stages in the order they apply, see sample/presets.h; empty: the preset "default".
  std::vector<std::string> order;
};

}  // namespace arion

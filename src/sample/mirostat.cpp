// The two limits, in fp64.
#include "sample/mirostat.h"

#include <algorithm>
#include <limits>

#include "base/real_math.h"
#include "sample/param_range.h"

namespace arion {
namespace {

constexpr double kNatsPerBit = 0x1.62e42fefa39efp-1;
constexpr size_t kZipfTokens = 100;
constexpr double kLeastExponent = 1e-6;  // of the Zipf law; 0 for equal probabilities

double zipf_exponent(std::span<const Candidate> best, double temperature) {
  double products = 0, squares = 0;
  for (size_t i = 0; i + 1 < best.size(); ++i) {
    const auto rank = static_cast<double>(i);
    const double t = real::log((rank + 2) / (rank + 1));
    const double b =
        (static_cast<double>(best[i].logit) - static_cast<double>(best[i + 1].logit)) / temperature;
    products += t * b;
    squares += t * t;
  }
  return squares > 0 ? std::max(products / squares, kLeastExponent) : kLeastExponent;
}

// The formula for k, in logarithms: they do not overflow where k would.
size_t zipf_limit(double exponent, double mu, size_t vocab) {
  const double log_vocab = real::log(static_cast<double>(vocab));
  const double e = exponent - 1;
  const double ratio = e == 0 ? 1 / log_vocab : e / (1 - real::exp(-e * log_vocab));
  const double log_k = (real::log(ratio) + mu * kNatsPerBit) / exponent;
  if (!(log_k < log_vocab)) return vocab;
  return std::max<size_t>(static_cast<size_t>(real::exp(log_k)), 1);
}

}  // namespace

void check_mirostat(const MirostatParams& params) {
  check_range("mirostat", params.version, 0, 2);
  check_range("mirostat_tau", params.tau, 0.0f, 100.0f);
  check_range("mirostat_eta", params.eta, 0.0f, 1.0f);
}

void apply_mirostat(Survivors& survivors, const MirostatParams& params, const SamplerState& state) {
  const auto mu = static_cast<double>(state.mirostat_mu);
  if (params.version == 2) {
    const double least = real::exp(-mu * kNatsPerBit) * survivors.moments().mass;
    survivors.keep_at_least(least > 0 ? survivors.logit_of_weight(least)
                                      : std::numeric_limits<float>::lowest());
    return;
  }
  const size_t vocab = survivors.row().logits().size();
  if (vocab < 2) return;
  const double exponent =
      zipf_exponent(survivors.best(kZipfTokens), static_cast<double>(survivors.temperature()));
  survivors.keep_first(zipf_limit(exponent, mu, vocab));
}

void update_mirostat(const Survivors& survivors, const MirostatParams& params, float chosen,
                     SamplerState& state) {
  const double p = static_cast<double>(survivors.weight(chosen)) / survivors.moments().mass;
  const double surprise = -real::log(p) / kNatsPerBit;
  const double mu = static_cast<double>(state.mirostat_mu) -
                    static_cast<double>(params.eta) * (surprise - static_cast<double>(params.tau));
  state.mirostat_mu = static_cast<float>(mu);
}

}  // namespace arion

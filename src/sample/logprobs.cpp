// Log-softmax of the chosen token and its rivals, before or after the stages.
#include "sample/logprobs.h"

#include <algorithm>
#include <limits>

#include "base/real_math.h"
#include "sample/check_params.h"
#include "sample/softmax.h"

namespace arion {
namespace {

// Log-softmax with a known sum: (l - peak) / T - ln sum.
class LogSoftmax {
 public:
  LogSoftmax(float peak, float temperature, double sum)
      : peak_(peak), temperature_(temperature), log_sum_(real::log(sum)) {}
  float operator()(float logit) const {
    const double scaled = (static_cast<double>(logit) - peak_) / temperature_;
    return static_cast<float>(std::min(scaled - log_sum_, 0.0));
  }

 private:
  double peak_, temperature_, log_sum_;
};

TokenLogprobs of_greedy(TokenId chosen, int count) {
  TokenLogprobs result;  // all the mass on one token
  if (count > 0) result.top.push_back({.id = chosen, .logprob = 0});
  return result;
}

TokenLogprobs of_row(std::span<const float> logits, const LogSoftmax& log_softmax, int count,
                     TokenId chosen) {
  TokenLogprobs result{.chosen = log_softmax(logits[static_cast<size_t>(chosen)]), .top = {}};
  if (count == 0) return result;
  std::vector<Candidate> top;
  select_top(logits, count, top);
  for (const Candidate& c : top) result.top.push_back({c.id, log_softmax(c.logit)});
  return result;
}

}  // namespace

TokenLogprobs compute_logprobs(std::span<const float> logits, const Peak& peak,
                               const Survivors& survivors, const SamplingParams& params,
                               TokenId chosen) {
  const int count = params.logprobs;
  const bool is_processed = params.logprobs_of == LogprobsOf::processed;
  if (is_processed && is_greedy(params)) return of_greedy(chosen, count);
  if (!is_processed || survivors.is_everything) {
    const float temperature = is_processed ? params.temperature : 1.0f;
    const double sum = sum_exp(logits, peak.logit, temperature);
    return of_row(logits, {peak.logit, temperature, sum}, count, chosen);
  }
  std::vector<Candidate> sorted = survivors.kept;
  std::sort(sorted.begin(), sorted.end(), ranks_before);
  double sum = 0;
  for (const Candidate& c : sorted) {
    sum += static_cast<double>(exp_nonpositive((c.logit - peak.logit) / params.temperature));
  }
  const LogSoftmax log_softmax(peak.logit, params.temperature, sum);
  TokenLogprobs result{.chosen = log_softmax(logits[static_cast<size_t>(chosen)]), .top = {}};
  const size_t shown = std::min(sorted.size(), static_cast<size_t>(count));
  for (size_t i = 0; i < shown; ++i) {
    result.top.push_back({sorted[i].id, log_softmax(sorted[i].logit)});
  }
  return result;
}

}  // namespace arion

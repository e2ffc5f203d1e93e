// Log-softmax of the chosen token and its rivals.
#include "sample/logprobs.h"

#include <algorithm>

#include "base/real_math.h"
#include "sample/softmax.h"

namespace arion {
namespace {

// The logarithm of e^((l - peak) / T) / sum.
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

void add_top(TokenLogprobs& result, std::span<const Candidate> best,
             const LogSoftmax& log_softmax) {
  for (const Candidate& c : best) result.top.push_back({c.id, log_softmax(c.logit)});
}

}  // namespace

TokenLogprobs model_logprobs(const ScannedRow& row, int count, TokenId chosen) {
  const float peak = row.best().logit;
  const LogSoftmax log_softmax(peak, 1.0f, sum_exp(row.logits(), peak, 1.0f));
  TokenLogprobs result{.chosen = log_softmax(row.logits()[static_cast<size_t>(chosen)]),
                       .rank = static_cast<int>(count_before(row, chosen)) + 1};
  std::vector<Candidate> best;
  select_top(row, static_cast<size_t>(count), best);
  add_top(result, best, log_softmax);
  return result;
}

TokenLogprobs survivor_logprobs(Survivors& survivors, int count, TokenId chosen) {
  const LogSoftmax log_softmax(survivors.peak(), survivors.temperature(), survivors.moments().mass);
  TokenLogprobs result;
  if (survivors.is_everything()) {
    const ScannedRow& row = survivors.row();
    result.chosen = log_softmax(row.logits()[static_cast<size_t>(chosen)]);
    result.rank = static_cast<int>(count_before(row, chosen)) + 1;
  } else {
    const std::span<const Candidate> list = survivors.list();
    const auto found =
        std::find_if(list.begin(), list.end(), [&](const Candidate& c) { return c.id == chosen; });
    result.chosen = log_softmax(found->logit);
    const auto before =
        std::ranges::count_if(list, [&](const Candidate& c) { return ranks_before(c, *found); });
    result.rank = static_cast<int>(before) + 1;
  }
  add_top(result, survivors.best(static_cast<size_t>(count)), log_softmax);
  return result;
}

}  // namespace arion

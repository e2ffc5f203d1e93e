// What eight-bit activations cost, for every weight format.
#include <gtest/gtest.h>

#include <cmath>

#include "model/tiny_model.h"
#include "runtime/model_fixture.h"

namespace arion {
namespace {

// Mean Kullback-Leibler divergence of the distributions of each position, in nats.
double mean_kl(const test::Logits& exact, const test::Logits& rounded, int vocab) {
  double sum = 0;
  const int positions = static_cast<int>(exact.size()) / vocab;
  for (int p = 0; p < positions; ++p) {
    const float* a = exact.data() + static_cast<size_t>(p) * vocab;
    const float* b = rounded.data() + static_cast<size_t>(p) * vocab;
    double total_a = 0, total_b = 0;
    for (int i = 0; i < vocab; ++i) {
      total_a += std::exp(double{a[i]});
      total_b += std::exp(double{b[i]});
    }
    for (int i = 0; i < vocab; ++i) {
      const double log_a = a[i] - std::log(total_a), log_b = b[i] - std::log(total_b);
      sum += std::exp(log_a) * (log_a - log_b);
    }
  }
  return sum / positions;
}

class FormatNumerics : public testing::TestWithParam<const WeightFormat*> {};

TEST_P(FormatNumerics, TheDefaultProfileStaysCloseToExactActivations) {
  const WeightFormat& format = *GetParam();
  test::TinyModel tiny = test::tiny_shape("qwen2", format.block_values());
  tiny.format = test::all_in(std::string(format.name()));
  const std::string bytes = test::write_tiny_model(tiny);
  std::vector<TokenId> tokens;
  for (int i = 0; i < 32; ++i) tokens.push_back(i * 29 % tiny.vocab);
  test::Setup exact;
  exact.model.activations = ActivationForm::f32;
  const test::Logits want = test::LoadedModel(bytes, exact).logits(tokens, 32);
  const test::Logits got = test::LoadedModel(bytes, {}).logits(tokens, 32);
  double spread = 0;  // the model must have something to say
  for (const float logit : want) spread = std::max(spread, std::fabs(double{logit}));
  EXPECT_GT(spread, 1);
  const double kl = mean_kl(want, got, tiny.vocab);
  EXPECT_LT(kl, 3e-3);
  RecordProperty("mean_kl", std::to_string(kl));
}

INSTANTIATE_TEST_SUITE_P(Formats, FormatNumerics,
                         testing::ValuesIn(weight_formats().begin(), weight_formats().end()),
                         [](const auto& info) { return std::string(info.param->name()); });

}  // namespace
}  // namespace arion

// Logits of tiny models against another implementation.
#include "runtime/graph_runner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "runtime/model_fixture.h"
#include "test_data.h"

namespace arion {
namespace {

using test::LoadedModel;
using test::Logits;

class TinyModel : public testing::TestWithParam<const char*> {
 protected:
  std::filesystem::path base() const { return test::source_dir() / "tests/golden/model"; }
  // A GGUF file or a Hugging Face folder.
  std::filesystem::path path() const {
    const auto folder = base() / GetParam();
    return is_directory(folder) ? folder : base() / (std::string(GetParam()) + ".gguf");
  }
  nlohmann::json golden() const {
    return nlohmann::json::parse(test::read_file(base() / (std::string(GetParam()) + ".json")));
  }
  std::vector<float> golden_logits() const {
    return test::read_npy(base() / (std::string(GetParam()) + ".npy"));
  }
  std::vector<TokenId> tokens() const { return golden()["tokens"].get<std::vector<TokenId>>(); }
};

void expect_close(const Logits& got, const std::vector<float>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  double worst = 0, largest = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    worst = std::max(worst, std::fabs(static_cast<double>(got[i]) - expected[i]));
    largest = std::max(largest, std::fabs(static_cast<double>(expected[i])));
  }
  EXPECT_LE(worst, 2e-3 + 1e-4 * largest);
}

// Exact weights and activations: what transformers computes, up to the order of sums.
test::Setup exact(std::string isa = "", int workers = 2) {
  test::Setup setup;
  setup.model.activations = ActivationForm::f32;
  setup.isa = std::move(isa);
  setup.workers = workers;
  return setup;
}

TEST_P(TinyModel, LogitsOfTheReferenceMatchTransformers) {
  LoadedModel model(path(), exact("reference", 1));
  expect_close(model.logits(tokens(), 512), golden_logits());
}

TEST_P(TinyModel, LogitsMatchTransformers) {
  LoadedModel model(path(), exact());
  expect_close(model.logits(tokens(), 512), golden_logits());
}

INSTANTIATE_TEST_SUITE_P(Architectures, TinyModel,
                         testing::Values("llama", "qwen2", "qwen3", "gemma3", "hf/llama",
                                         "hf/qwen2", "hf/qwen3", "hf/gemma3"));

}  // namespace
}  // namespace arion

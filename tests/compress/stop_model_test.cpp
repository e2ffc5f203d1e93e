// Every mixture leaves a model whose answer is known able to give it.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "compress/quantize.h"
#include "io/tiny_gguf.h"
#include "runtime/model_fixture.h"
#include "temp_dir.h"

namespace arion {
namespace {

using namespace test;

// Answers "A" with "BCDEFGHIJK" in eight tokens. Its rows have 320 and 32 columns, so that no type
// with blocks of 256 fits.
const TinyModel& stop_model() {
  static const TinyModel model = tiny_stop_model();
  return model;
}

class StopModel : public testing::Test {
 protected:
  void SetUp() override { path_ = folder_.write("stop.gguf", tiny_gguf(stop_model())); }

  GgufFile quantized(const Mixture& mixture, const ImportanceMatrix* importance) {
    const GgufFile file = GgufFile::open(path_);
    const QuantizePlan plan = plan_quantization(
        file, {.mixture = mixture, .has_importance = importance != nullptr}, importance);
    WorkerPool pool(1);
    return GgufFile::open(
        write_quantized(plan, {folder_.path() / "q.gguf"}, pool, [](uint64_t) {}).front());
  }

  // The tokens that follow "A" greedily.
  static std::string answer(GgufFile file) {
    LoadedModel model(std::move(file), {.workers = 1, .step_tokens = 16, .context = 32});
    const TinyVocabulary& vocabulary = stop_model().vocabulary;
    std::vector<TokenId> tokens = {vocabulary.id("A")};
    std::string text;
    for (int i = 0; i < 8; ++i) {
      const Logits logits = model.logits(tokens, 16);
      const float* last = logits.data() + logits.size() - kTinyHidden;
      tokens.push_back(static_cast<TokenId>(std::max_element(last, last + kTinyHidden) - last));
      if (tokens.back() == kTinyEos) break;
      text += vocabulary.tokens[static_cast<size_t>(tokens.back())];
    }
    return text;
  }

  // The same importance for every matrix.
  ImportanceMatrix importance_of(const std::function<float(size_t column)>& value) const {
    const GgufFile file = GgufFile::open(path_);
    ImportanceMatrix importance;
    for (const GgufTensor& tensor : file.tensors()) {
      std::vector<float> sums(tensor.cols());
      for (size_t c = 0; c < sums.size(); ++c) sums[c] = value(c);
      importance.tensors[std::string(tensor.name)] = {sums, {1}};
    }
    return importance;
  }

  TempDir folder_;
  std::filesystem::path path_;
};

TEST_F(StopModel, AnswersInEveryMixture) {
  const ImportanceMatrix even = importance_of([](size_t) { return 1.0f; });
  for (const Mixture& mixture : mixtures()) {
    GgufFile file = quantized(mixture, &even);
    for (const GgufTensor& tensor : file.tensors()) {
      EXPECT_EQ(tensor.cols() % file.weight_format(tensor).block_values(), 0u) << mixture.name;
    }
    EXPECT_EQ(answer(std::move(file)), "BCDEFGHIJK") << mixture.name;
  }
}

TEST_F(StopModel, OddImportanceMakesNoNumbersThatAreNotFinite) {
  const std::function<float(size_t)> patterns[] = {
      [](size_t column) { return column < 256 ? 0.0f : 1.0f; }, [](size_t) { return 0.0f; },
      [](size_t) { return 1e38f; }};
  for (const auto& pattern : patterns) {
    const ImportanceMatrix importance = importance_of(pattern);
    for (const char* name : {"Q4_0", "Q5_1", "IQ4_NL"}) {
      GgufFile file = quantized(require_mixture(name), &importance);
      for (const GgufTensor& tensor : file.tensors()) {
        const WeightFormat& format = file.weight_format(tensor);
        std::vector<float> values(tensor.values());
        format.decode_row(tensor.data, values);
        EXPECT_TRUE(std::ranges::all_of(values, [](float v) { return std::isfinite(v); })) << name;
      }
      EXPECT_EQ(answer(std::move(file)), "BCDEFGHIJK") << name;
    }
  }
  for (const float bad : {std::nanf(""), -1.0f}) {
    importance_of([&](size_t column) {
      return column == 5 ? bad : 1.0f;
    }).save(folder_.path() / "bad");
    EXPECT_THROW(ImportanceMatrix::load(folder_.path() / "bad"), Error);
  }
}

}  // namespace
}  // namespace arion

// Sums of squares against values computed here, for every form of activations.
#include "runtime/input_squares.h"

#include <gtest/gtest.h>

#include <map>

#include "model/tiny_model.h"
#include "runtime/model_fixture.h"

namespace arion {
namespace {

using test::LoadedModel;

constexpr int kVocab = 64;

std::vector<TokenId> some_tokens(int count) {
  std::vector<TokenId> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back((i * 37 + 5) % kVocab);
  return tokens;
}

test::Setup setup(std::string_view passes, int workers = 2) {
  return {.model = {.passes = std::string(passes)}, .workers = workers};
}

// What observing a model over tokens gives, by weight.
std::map<std::string, LinearInput> observed(const std::string& bytes, int chunk, int workers = 2) {
  LoadedModel model(bytes, setup(InputSquares::kPasses, workers));
  InputSquares squares(model.runner().model().graph);
  model.runner().set_observer([&](const PlanStep& step, int index, const StepInput& input) {
    squares.observe(step, index, input);
  });
  model.logits(some_tokens(40), chunk);
  std::map<std::string, LinearInput> by_weight;
  for (const LinearInput& input : squares.inputs()) {
    for (const std::string& weight : input.weights) by_weight[weight] = input;
  }
  return by_weight;
}

std::string model_in(const std::string& format) {
  return test::write_tiny_model({.layers = 2, .vocab = kVocab, .format = test::all_in(format)});
}

std::vector<float> row_of(const GgufFile& file, std::string_view name, uint64_t row) {
  const GgufTensor& tensor = file.require_tensor(name);
  const WeightFormat& format = file.weight_format(tensor);
  const size_t bytes = format.row_bytes(static_cast<int>(tensor.cols()));
  std::vector<float> values(tensor.cols());
  format.decode_row(tensor.data.subspan(row * bytes, bytes), values);
  return values;
}

TEST(InputSquares, TheFirstLayerReadsNormedEmbeddings) {
  for (const char* format : {"F32", "BF16", "Q8_0"}) {
    const std::string bytes = model_in(format);
    const GgufFile file = GgufFile::parse(std::as_bytes(std::span(bytes)));
    const double epsilon = *file.metadata().get_float("llama.attention.layer_norm_rms_epsilon");
    const std::vector<float> gain = row_of(file, "blk.0.attn_norm.weight", 0);
    std::vector<double> expected(gain.size());
    for (const TokenId token : some_tokens(40)) {
      const std::vector<float> x = row_of(file, "token_embd.weight", static_cast<uint64_t>(token));
      double mean = 0;
      for (const float v : x) mean += static_cast<double>(v) * v / static_cast<double>(x.size());
      for (size_t c = 0; c < x.size(); ++c) {
        const double y = x[c] * gain[c];
        expected[c] += y * y / (mean + epsilon);
      }
    }
    const auto by_weight = observed(bytes, 16);
    for (const char* name : {"blk.0.attn_q.weight", "blk.0.attn_k.weight", "blk.0.attn_v.weight"}) {
      const LinearInput& input = by_weight.at(name);
      EXPECT_EQ(input.rows, 40u) << name;
      ASSERT_EQ(input.squares.size(), expected.size());
      for (size_t c = 0; c < expected.size(); ++c) {
        EXPECT_NEAR(input.squares[c], expected[c], 1e-5 * expected[c]) << format << name << c;
      }
    }
  }
}

TEST(InputSquares, EveryMatrixSeesEveryRow) {
  const auto by_weight = observed(model_in("Q8_0"), 40);
  EXPECT_EQ(by_weight.size(), 2u * 7 + 1);
  for (const auto& [name, input] : by_weight) {
    EXPECT_EQ(input.rows, 40u) << name;
    for (const double square : input.squares) EXPECT_GT(square, 0) << name;
  }
  EXPECT_EQ(by_weight.at("blk.1.ffn_down.weight").squares.size(), 96u);
}

TEST(InputSquares, DependOnNeitherThreadsNorChunks) {
  const std::string bytes = model_in("Q8_0");
  const auto one = observed(bytes, 40, 1);
  const auto many = observed(bytes, 7, 3);
  ASSERT_EQ(one.size(), many.size());
  for (const auto& [name, input] : one) EXPECT_EQ(input.squares, many.at(name).squares) << name;
}

TEST(InputSquares, WatchingChangesNoLogits) {
  const std::string bytes = model_in("Q8_0");
  const auto tokens = some_tokens(40);
  LoadedModel plain(bytes, setup("all"));
  LoadedModel watched(bytes, setup(InputSquares::kPasses));
  watched.runner().set_observer([](const PlanStep&, int, const StepInput&) {});
  EXPECT_TRUE(test::same_bits(plain.logits(tokens, 16), watched.logits(tokens, 16)));
}

}  // namespace
}  // namespace arion

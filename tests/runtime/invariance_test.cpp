// The contract of batch invariance: the logits of a token do not depend, by a single bit, on how
// the model is run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "model/tiny_model.h"
#include "runtime/model_fixture.h"
#include "test_data.h"

namespace arion {
namespace {

using test::LoadedModel;
using test::Logits;
using test::same_bits;
using ModelSetup = test::Setup;

constexpr int kPositions = 75;  // more than one key tile and several windows

std::vector<TokenId> some_tokens(int count, int vocab, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<TokenId> tokens;
  for (int i = 0; i < count; ++i)
    tokens.push_back(static_cast<TokenId>(random() % static_cast<unsigned>(vocab)));
  return tokens;
}

struct Case {
  std::string name;
  test::TinyModel model;
};

Case make_case(const std::string& arch, const WeightFormat& format) {
  const std::string name(format.name());
  Case c{arch + "_" + name, test::tiny_shape(arch, format.block_values())};
  c.model.format = test::all_in(name);
  return c;
}

Case mixed_case() {
  return {"gemma3_fallback_mix", test::fallback_mix_model()};
}

// Every format in llama and, in turn, in one more architecture.
std::vector<Case> formats() {
  std::vector<Case> all = {mixed_case()};
  constexpr const char* kOthers[] = {"qwen2", "qwen3", "gemma3"};
  size_t turn = 0;
  for (const WeightFormat* format : weight_formats()) {
    ++turn;
    if (test::kIsSanitized && turn % 4 != 0) continue;  // the kernels have tests of their own
    all.push_back(make_case("llama", *format));
    all.push_back(make_case(kOthers[turn % 3], *format));
  }
  return all;
}

// What passes and plans do depends on the architecture and the form of the activations only.
std::vector<Case> architectures() {
  std::vector<Case> all = {mixed_case()};
  for (const char* arch : {"llama", "qwen2", "qwen3", "gemma3"}) {
    for (const char* name : {"F32", "F16", "BF16", "Q4_0", "Q4_K"}) {
      all.push_back(make_case(arch, *find_weight_format(name)));
    }
  }
  return all;
}

class Invariance : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { bytes_ = test::write_tiny_model(GetParam().model); }

  // The default profile and exact activations; for unquantised weights these are often one.
  std::vector<std::optional<ActivationForm>> profiles() const {
    return {std::nullopt, ActivationForm::f32};
  }
  ModelSetup setup(std::optional<ActivationForm> activations, int workers = 2) const {
    ModelSetup s;
    s.model.activations = activations;
    s.workers = workers;
    s.context = 128;
    return s;
  }
  std::vector<TokenId> tokens(int count = kPositions) const {
    return some_tokens(count, GetParam().model.vocab, 1);
  }
  Logits expected(std::optional<ActivationForm> activations) const {
    const Logits logits = LoadedModel(bytes_, setup(activations, 1)).logits(tokens(), 512);
    EXPECT_FALSE(std::isnan(logits[0]));
    return logits;
  }

  // Steps of one token are slow: they get the first positions only.
  void expect_begin(LoadedModel& model, int chunk, const Logits& logits, const std::string& what) {
    const int count = chunk == 1 ? 20 : kPositions;
    const Logits begin(logits.begin(), logits.begin() + count * GetParam().model.vocab);
    EXPECT_TRUE(same_bits(model.logits(tokens(count), chunk), begin))
        << what << ", chunk " << chunk;
  }

  std::string bytes_;
};
class PassInvariance : public Invariance {};

TEST_P(Invariance, ChunksWorkersBlocksAndPoisonChangeNothing) {
  for (const auto activations : profiles()) {
    const Logits logits = expected(activations);
    for (int workers : {1, 2, 3}) {
      LoadedModel model(bytes_, setup(activations, workers));
      model.runner().set_poison();
      for (int chunk : {1, 7, 64, 512}) {
        expect_begin(model, chunk, logits, fmt::format("{} workers", workers));
        model.shuffle_blocks(static_cast<uint64_t>(chunk));
      }
    }
  }
}

TEST_P(Invariance, OtherSequencesInTheBatchChangeNothing) {
  ModelSetup batch = setup(std::nullopt);
  batch.sequences = 17;
  LoadedModel model(bytes_, batch);
  model.runner().set_poison();
  std::vector<std::vector<TokenId>> others;
  for (unsigned i = 0; i < 16; ++i)
    others.push_back(some_tokens(3 + 5 * static_cast<int>(i), GetParam().model.vocab, 2 + i));
  const Logits logits = expected(std::nullopt);
  for (int chunk : {1, 7, 64}) {
    EXPECT_TRUE(same_bits(model.logits(tokens(), chunk, others), logits)) << "chunk " << chunk;
  }
}

TEST_P(PassInvariance, PassesChangeNothing) {
  std::vector<std::string> selections = {"none"};
  for (const Pass& pass : all_passes()) {
    if (pass.is_optional) selections.push_back(std::string("-") + pass.name);
  }
  for (const auto activations : profiles()) {
    const Logits logits = expected(activations);
    for (const std::string& selection : selections) {
      ModelSetup s = setup(activations);
      s.model.passes = selection;
      LoadedModel model(bytes_, s);
      model.runner().set_poison();
      for (int chunk : {1, 64}) expect_begin(model, chunk, logits, "passes " + selection);
    }
  }
}

// bf16 arithmetic is the one that may differ between levels.
TEST_P(Invariance, LevelsOfTheInstructionSetChangeNothing) {
  if (supported_isa_levels().size() < 2) GTEST_SKIP() << "this processor has one level only";
  const auto prefix = some_tokens(20, GetParam().model.vocab, 1);  // the generic level is slow
  for (const auto activations : profiles()) {
    if (!activations && GetParam().model.format("attn_q") == "BF16") continue;
    const Logits logits = LoadedModel(bytes_, setup(activations)).logits(prefix, 20);
    for (IsaLevel level : supported_isa_levels()) {
      ModelSetup s = setup(activations);
      s.isa = isa_name(level);
      EXPECT_TRUE(same_bits(LoadedModel(bytes_, s).logits(prefix, 16), logits)) << s.isa;
    }
  }
}

TEST_P(PassInvariance, EveryOperationHasOneArithmeticForEveryNumberOfRows) {
  for (const auto activations : profiles()) {
    LoadedModel model(bytes_, setup(activations));
    ASSERT_EQ(model.runner().plans().size(), 3u);
    std::map<std::pair<std::string, size_t>, std::set<std::string>> tags;  // by scope and step
    for (const ExecutionPlan& plan : model.runner().plans()) {
      for (size_t s = 0; s < plan.steps.size(); ++s) {
        tags[{std::string(op_name(plan.steps[s].kind)), s}].insert(
            plan.steps[s].kernel->arithmetic);
      }
    }
    EXPECT_EQ(tags.size(), model.runner().plans()[0].steps.size());
    for (const auto& [op, of_op] : tags) EXPECT_EQ(of_op.size(), 1u) << op.first;
  }
}

const auto kCaseName = [](const testing::TestParamInfo<Case>& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(Formats, Invariance, testing::ValuesIn(formats()), kCaseName);
INSTANTIATE_TEST_SUITE_P(Architectures, PassInvariance, testing::ValuesIn(architectures()),
                         kCaseName);

// ---- long sequences --------------------------------------------------------------------------

class LongSequence : public testing::TestWithParam<const char*> {};

// 1,300 positions: two borders between splits of 512, and windows beyond a split.
TEST_P(LongSequence, CrossesTheBordersOfSplitsInAnyChunks) {
  constexpr int kLong = 1300;
  test::TinyModel tiny{.arch = GetParam(), .layers = 2, .hidden = 32, .feed_forward = 32};
  tiny.vocab = 32;
  if (tiny.arch == "gemma3") {
    tiny.window = 600;
    tiny.window_period = 2;
  }
  tiny.format = test::all_in("Q8_0");
  const std::string bytes = test::write_tiny_model(tiny);
  const auto tokens = some_tokens(kLong, tiny.vocab, 3);
  for (const auto activations : {std::optional<ActivationForm>(), {ActivationForm::f32}}) {
    ModelSetup s;
    s.model.activations = activations;
    s.workers = 1;
    const Logits logits = LoadedModel(bytes, s).logits(tokens, 512);
    for (IsaLevel level : supported_isa_levels()) {
      ModelSetup other = s;
      other.isa = isa_name(level);
      EXPECT_TRUE(same_bits(LoadedModel(bytes, other).logits(tokens, 256), logits)) << other.isa;
    }
    for (const char* passes : {"all", "none"}) {
      s.workers = 3;
      s.sequences = 17;
      s.model.passes = passes;
      LoadedModel model(bytes, s);
      model.runner().set_poison();
      for (int chunk : {1, 7, 64}) {
        model.shuffle_blocks(static_cast<uint64_t>(chunk));
        EXPECT_TRUE(same_bits(model.logits(tokens, chunk), logits)) << chunk << " " << passes;
      }
      std::vector<std::vector<TokenId>> others;
      for (unsigned i = 0; i < 16; ++i) others.push_back(some_tokens(90, tiny.vocab, i));
      EXPECT_TRUE(same_bits(model.logits(tokens, 64, others), logits)) << "batch " << passes;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, LongSequence, testing::Values("llama", "gemma3"));

}  // namespace
}  // namespace arion

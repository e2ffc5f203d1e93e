// Guidance by a negative prompt: the second sequence of a request, from prefill to the end.
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "engine/answers.h"
#include "runtime/model_fixture.h"
#include "test_data.h"

namespace arion {
namespace {

using test::Answer;
using test::ask;
using test::ask_all;
using test::bytes_of;
using test::collect;
using test::expected_tokens;
using test::FakeRunner;
using test::seeded;

Request guided(Request request, std::vector<TokenId> negative, float scale) {
  request.guidance = {.negative_tokens = std::move(negative), .scale = scale};
  request.ignores_end = true;
  return request;
}

// The answer, as far as the model and the sampler alone say what it must be.
void expect_answer(const Answer& answer, const Request& request, int window, int vocab) {
  const std::vector<TokenId> expected = expected_tokens(request, window, vocab);
  ASSERT_GE(answer.tokens.size(), expected.size());
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), answer.tokens.begin()));
  EXPECT_EQ(answer.last.finish, FinishReason::length);
}

TEST(Guidance, CombinesBothPromptsOfAnyLengths) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  FakeRunner runner({.step_tokens = 7});
  {
    Engine engine(runner, tokenizer);
    for (const int prompt : {1, 5, 40}) {
      for (const int negative : {1, 6, 50}) {
        const Request request =
            guided(seeded(bytes_of(std::string(static_cast<size_t>(prompt), 'p')), 3, 12),
                   bytes_of(std::string(static_cast<size_t>(negative), 'n')), 2);
        const Answer answer = ask(engine, request);
        expect_answer(answer, request, 0, tokenizer.size());
        EXPECT_EQ(answer.last.summary.prompt_tokens, prompt);
        EXPECT_EQ(answer.last.summary.output_tokens, 12);
      }
    }
  }
  EXPECT_EQ(runner.free_blocks(), runner.all_blocks());
}

TEST(Guidance, BothSidesShareEveryStepOnceTheirPromptsAreComputed) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  FakeRunner runner;
  int steps = 0, runs = 0;  // of the engine's thread
  runner.before_step = [&](const BatchPlan& plan) {
    ++steps;
    runs += static_cast<int>(plan.runs.size());
  };
  {
    Engine engine(runner, tokenizer);
    ask(engine, guided(seeded(bytes_of("prompt"), 1, 20), bytes_of("another"), 1.5f));
  }
  EXPECT_EQ(steps, 20);
  EXPECT_EQ(runs, 40);
}

// Corpus case 067 for pairs, and preemption: pools far too small for everyone at once.
TEST(Guidance, AnswersDoNotDependOnWhatElseRuns) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  for (const int window : {0, 24}) {
    FakeRunner runner({.step_tokens = 16, .blocks = 14, .window = window});
    std::vector<Request> requests;
    for (uint64_t i = 0; i < 24; ++i) {
      const std::vector<TokenId> prompt(3 + i * 5 % 40, static_cast<TokenId>('a' + i));
      const std::vector<TokenId> negative(1 + i * 11 % 50, static_cast<TokenId>('A' + i));
      Request request = seeded(prompt, i, static_cast<int>(10 + i * 7 % 50));
      request.ignores_end = true;
      if (i % 4 == 2) request.sampling.penalties = {.repetition = 1.5f, .presence = 0.5f};
      if (i % 4 == 3) request.sampling.mirostat.version = 2;
      if (i % 3 != 0) request = guided(request, negative, 0.5f + static_cast<float>(i) / 8);
      requests.push_back(std::move(request));
    }
    const std::vector<Answer> answers = ask_all(runner, tokenizer, {.max_sequences = 7}, requests);
    int preemptions = 0;
    for (size_t i = 0; i < requests.size(); ++i) {
      SCOPED_TRACE(i);
      const Answer& answer = answers[i];
      expect_answer(answer, requests[i], window, tokenizer.size());
      EXPECT_EQ(answer.ends, 1);
      preemptions += answer.last.summary.preemptions;
    }
    EXPECT_GT(preemptions, 0) << "the pool should run out";
    EXPECT_EQ(runner.free_blocks(), runner.all_blocks());
  }
}

TEST(Guidance, RunsInTheSmallestStepsAndPools) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  FakeRunner runner({.step_tokens = 1, .blocks = 4});
  Engine engine(runner, tokenizer, {.max_sequences = 1});
  EXPECT_EQ(engine.context_tokens(), 64);
  EXPECT_EQ(engine.guided_context_tokens(), 32);
  const Request request = guided(seeded(bytes_of("prompt"), 5, 1000), bytes_of("negative"), 3);
  const Answer answer = ask(engine, request);
  EXPECT_EQ(answer.tokens.size(), 24u) << "the longer side ends it";
  EXPECT_EQ(answer.last.finish, FinishReason::length);
}

TEST(Guidance, AtScaleOneTheNegativePromptIsNotComputed) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  FakeRunner runner;
  size_t most = 0;  // of the engine's thread
  runner.before_step = [&](const BatchPlan& plan) { most = std::max(most, plan.runs.size()); };
  {
    Engine engine(runner, tokenizer);
    Request request = seeded(bytes_of("prompt"), 4, 20);
    request.ignores_end = true;
    const Answer plain = ask(engine, request);
    EXPECT_EQ(ask(engine, guided(request, bytes_of("other"), 1)).tokens, plain.tokens);
  }
  EXPECT_EQ(most, 1u);
}

TEST(Guidance, AnInterruptedAnswerGoesOnAsIfItHadNot) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  FakeRunner runner;
  Engine engine(runner, tokenizer);
  const Request whole = guided(seeded(bytes_of("prompt"), 6, 30), bytes_of("other"), 2);
  const Answer expected = ask(engine, whole);
  Request rest = whole;
  rest.tokens.insert(rest.tokens.end(), expected.tokens.begin(), expected.tokens.begin() + 11);
  rest.resumed_tokens = 11;
  EXPECT_EQ(ask(engine, rest).tokens,
            std::vector<TokenId>(expected.tokens.begin() + 11, expected.tokens.end()));
}

TEST(Guidance, RefusesWhatCannotBeGuided) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  FakeRunner runner({.blocks = 4});
  Engine engine(runner, tokenizer);
  const auto says = [&](std::vector<TokenId> negative, float scale, const std::string& part) {
    try {
      engine.submit(guided(seeded({1}, 1, 5), std::move(negative), scale), [](TokenEvent) {});
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  says({}, 2, "guidance_scale is 2 and there is no negative prompt");
  says({1}, -1, "guidance_scale is -1, expected a number from 0 to 100");
  says({1}, std::nanf(""), "guidance_scale is nan");
  says({1, 261}, 2, "token 1 of the negative prompt is 261, expected 0 to 260");
  says(std::vector<TokenId>(32, 1), 2, "the negative prompt has 32 tokens and the context 32");
}

// Corpus case 136, on either side.
TEST(Guidance, ARowThatIsNotANumberEndsItsRequestOnly) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  FakeRunner runner({.model = [](std::span<const TokenId> visible, std::span<float> logits) {
    test::hash_model(visible, logits);
    if (visible.front() == 'x' && visible.size() > 5) logits[7] = std::nanf("");
  }});
  {
    Engine engine(runner, tokenizer);
    for (const auto& [prompt, negative] : {std::pair{'x', 'n'}, std::pair{'p', 'x'}}) {
      const Answer answer = ask(engine, guided(seeded({prompt}, 3, 20), {negative}, 2));
      EXPECT_EQ(answer.last.finish, FinishReason::error);
      EXPECT_NE(answer.last.error.find("token 7"), std::string::npos) << answer.last.error;
      EXPECT_EQ(answer.tokens.size(), 5u);
    }
  }
  EXPECT_EQ(runner.free_blocks(), runner.all_blocks());
}

TEST(Guidance, FailuresAndCancellingFreeBothSides) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  FakeRunner runner({.step_tokens = 16, .blocks = 20});
  int steps = 0;  // of the engine's thread
  runner.before_step = [&](const BatchPlan&) {
    if (++steps % 10 == 0) throw Error(ErrorCode::failed, "every tenth step fails");
  };
  {
    Engine engine(runner, tokenizer, {.max_sequences = 4});
    EventQueue queue;
    std::vector<RequestId> ids;
    for (uint64_t i = 0; i < 30; ++i) {
      const std::vector<TokenId> prompt(1 + i * 13 % 70, 'p'), negative(1 + i * 7 % 60, 'n');
      ids.push_back(engine.submit(guided(seeded(prompt, i, 40), negative, 2), queue.sink()));
      if (i % 3 == 0) engine.cancel(ids[i / 2]);
    }
    for (const auto& [id, answer] : collect(queue, ids.size())) EXPECT_EQ(answer.ends, 1);
  }
  EXPECT_EQ(runner.free_blocks(), runner.all_blocks());
}

// The same on a real, if tiny, model: logits of both sequences computed one after the other.
TEST(Guidance, ATinyModelAnswersAsItsTwoRowsSay) {
  const auto path = test::source_dir() / "tests/golden/model/llama.gguf";
  const Tokenizer tokenizer = test::byte_tokenizer();
  test::LoadedModel model(path, {.sequences = 2});
  const auto last_row = [&](const std::vector<TokenId>& tokens) {
    const test::Logits all = model.logits(tokens, static_cast<int>(tokens.size()));
    return std::vector<float>(all.end() - model.runner().vocab_size(), all.end());
  };
  const std::vector<TokenId> prompt = {1, 3, 4, 5}, other = {1, 9};
  std::vector<TokenId> positive = prompt, negative = other, expected;
  for (int i = 0; i < 16; ++i) {
    std::vector<float> row = last_row(positive);
    apply_guidance(row, last_row(negative), 3);
    const auto best = std::max_element(row.begin(), row.end()) - row.begin();
    expected.push_back(static_cast<TokenId>(best));
    positive.push_back(expected.back());
    negative.push_back(expected.back());
  }
  Engine engine(model.runner(), tokenizer);
  Request request{.tokens = prompt, .max_tokens = 16, .sampling = {.temperature = 0}};
  request.ignores_end = true;
  EXPECT_NE(ask(engine, request).tokens, expected) << "guidance should make a difference";
  EXPECT_EQ(ask(engine, guided(request, other, 3)).tokens, expected);
}

}  // namespace
}  // namespace arion

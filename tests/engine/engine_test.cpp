// The whole engine over a runner without a model: answers, ends, batching, several clients.
#include "engine/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "base/odd_numerics.h"
#include "engine/answers.h"

namespace arion {
namespace {

using test::Answer;
using test::ask;
using test::ask_all;
using test::bytes_of;
using test::expected_tokens;
using test::FakeRunner;
using test::greedy_a;
using test::seeded;
using test::stop_fixture;

TEST(Engine, AnswersAsModelAndSamplerSay) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  FakeRunner runner({.step_tokens = 7});
  Engine engine(runner, tokenizer);
  const Request request = seeded(bytes_of("a prompt of several steps"), 42, 30);
  const Answer answer = ask(engine, request);
  EXPECT_EQ(answer.tokens, expected_tokens(request, 0, tokenizer.size()));
  EXPECT_EQ(answer.last.summary.seed, 42u);
  EXPECT_EQ(answer.last.summary.prompt_tokens, 25);
  EXPECT_EQ(answer.last.summary.output_tokens, static_cast<int>(answer.tokens.size()));
  std::string text;
  for (const TokenId token : answer.tokens) {
    if (token < 256 || token > test::kEos) text += tokenizer.bytes(token);
  }
  EXPECT_EQ(answer.text, text);
}

// The engine's thread inherits the floating-point mode of the thread that starts it.
TEST(Engine, AnswersDoNotDependOnTheFloatingPointModeOfTheCaller) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  Request request = seeded(bytes_of("prompt"), 7, 100);
  request.ignores_end = true;
  request.sampling.logprobs = 3;
  const auto answer = [&] {
    FakeRunner runner;
    Engine engine(runner, tokenizer);
    return ask(engine, request);
  };
  const Answer expected = answer();
  const test::OddNumerics odd;
  const Answer got = answer();
  EXPECT_EQ(got.tokens, expected.tokens);
  ASSERT_EQ(got.logprobs.size(), 100u);
  for (size_t i = 0; i < got.logprobs.size(); ++i) {
    EXPECT_EQ(got.logprobs[i].chosen, expected.logprobs[i].chosen) << i;
  }
}

// Corpus case 032.
TEST(Engine, FinishesForLengthOrStop) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  FakeRunner runner(stop_fixture());
  Engine engine(runner, tokenizer);
  const auto reason = [&](int max_tokens, std::vector<std::string> stops = {}) {
    return ask(engine, greedy_a(max_tokens, std::move(stops))).last.finish;
  };
  EXPECT_EQ(reason(3), FinishReason::length);
  EXPECT_EQ(reason(64), FinishReason::stop);
  EXPECT_EQ(reason(64, {"I"}), FinishReason::stop);
  EXPECT_EQ(reason(7), FinishReason::length) << "the end token would be the eighth";
  EXPECT_EQ(reason(8), FinishReason::stop);
  EXPECT_EQ(reason(0), FinishReason::length);
  const Answer whole = ask(engine, greedy_a(64));
  EXPECT_EQ(whole.text, "BCDEFGHIJK");
  EXPECT_EQ(whole.tokens.back(), test::kEos);
  EXPECT_EQ(whole.last.summary.output_tokens, 8);
}

// Corpus case 024.
TEST(Engine, NoPartOfAStopStringLeaks) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  FakeRunner runner(stop_fixture());
  Engine engine(runner, tokenizer);
  for (const std::vector<std::string>& stops :
       {std::vector<std::string>{"DEFGHI"}, {"DE"}, {"GHIJKL", "DEF"}}) {
    const Answer answer = ask(engine, greedy_a(64, stops));
    EXPECT_EQ(answer.text, "BC");
    EXPECT_EQ(answer.last.finish, FinishReason::stop);
    EXPECT_EQ(answer.last.summary.stop_string, stops.size() - 1);
  }
  const Answer unfinished = ask(engine, greedy_a(4, {"DEFGHI"}));
  EXPECT_EQ(unfinished.text, "BCDEFGH") << "held back text is shown when nothing follows";
  const Answer tail = ask(engine, greedy_a(64, {"JKL"}));
  EXPECT_EQ(tail.text, "BCDEFGHIJK") << "the same before an end token";
}

TEST(Engine, StopIdsEndAndEndTokensCanBeIgnored) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  FakeRunner runner(stop_fixture());
  Engine engine(runner, tokenizer);
  Request request = greedy_a(20);
  request.stop_ids = {'J', 'I'};
  EXPECT_EQ(ask(engine, request).text, "BCDEFGH");
  Request endless = greedy_a(10);
  endless.ignores_end = true;
  const Answer answer = ask(engine, endless);
  EXPECT_EQ(answer.last.finish, FinishReason::length);
  EXPECT_EQ(answer.tokens.size(), 10u);
  EXPECT_EQ(answer.text, "BCDEFGHIJK??");
}

TEST(Engine, NoEndTokenAndNoStopIdComesBeforeMinTokens) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  FakeRunner runner(stop_fixture());
  Engine engine(runner, tokenizer);
  Request request = greedy_a(20);
  request.min_tokens = 12;
  const Answer answer = ask(engine, request);
  EXPECT_EQ(answer.text.substr(0, 10), "BCDEFGHIJK");
  EXPECT_EQ(std::count(answer.tokens.begin(), answer.tokens.begin() + 12, test::kEos), 0);
  request.stop_ids = {'I'};
  const Answer without = ask(engine, request);
  EXPECT_EQ(std::count(without.tokens.begin(), without.tokens.begin() + 12, 'I'), 0);
  EXPECT_GT(without.tokens.size(), 12u);
  request.min_tokens = 3;
  EXPECT_EQ(ask(engine, request).text, "BCDEFGH") << "the stop id comes later";
}

TEST(Engine, PenaltiesAndStateFollowTheAnswer) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  FakeRunner runner;
  Engine engine(runner, tokenizer);
  Request request = seeded(bytes_of("mirostat"), 11, 60);
  request.ignores_end = true;
  request.sampling.temperature = 0.4f;
  request.sampling.penalties = {.repetition = 1.3f, .frequency = 0.2f};
  request.sampling.mirostat = {.version = 2, .tau = 3};
  const Answer whole = ask(engine, request);
  std::vector<TokenId> expected = expected_tokens(request, 0, tokenizer.size());
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), whole.tokens.begin()));
  Request first = request;
  first.max_tokens = 25;
  const Answer before = ask(engine, first);
  Request rest = request;
  rest.tokens.insert(rest.tokens.end(), before.tokens.begin(), before.tokens.end());
  rest.resumed_tokens = 25;
  rest.sampler_state = before.last.summary.sampler_state;
  const Answer after = ask(engine, rest);
  EXPECT_TRUE(std::equal(after.tokens.begin(), after.tokens.end(), whole.tokens.begin() + 25));
  EXPECT_EQ(after.last.summary.sampler_state, whole.last.summary.sampler_state);
}

TEST(Engine, EndsAtTheEndOfTheContext) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  FakeRunner runner({.context = 30});
  Engine engine(runner, tokenizer);
  Request request = seeded(bytes_of("ten tokens"), 1, 1000);
  request.ignores_end = true;
  const Answer answer = ask(engine, request);
  EXPECT_EQ(answer.last.finish, FinishReason::length);
  EXPECT_EQ(answer.tokens.size(), 20u);
  FakeRunner small({.context = 1000, .blocks = 2});
  Engine limited(small, tokenizer);
  EXPECT_EQ(limited.context_tokens(), 32);
  EXPECT_EQ(ask(limited, request).tokens.size(), 22u);
}

// Corpus case 067, and preemption: pools far too small for everyone at once.
TEST(Engine, AnswersDoNotDependOnWhatElseRuns) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  WorkerPool workers(3);
  for (const int window : {0, 24}) {
    FakeRunner runner({.step_tokens = 24,
                       .blocks = 14,
                       .workers = window == 0 ? nullptr : &workers,
                       .window = window});
    std::vector<Request> requests;
    for (uint64_t i = 0; i < 24; ++i) {
      Request request = seeded(bytes_of(std::string(3 + i * 5 % 60, static_cast<char>('a' + i))),
                               i / 2, static_cast<int>(20 + i * 7 % 90));
      request.choice = static_cast<uint32_t>(i % 2);
      request.ignores_end = i % 3 == 0;
      if (i % 4 == 1) request.sampling.top_k = 5;
      if (i % 4 == 2) request.sampling.penalties = {.repetition = 1.5f, .presence = 0.5f};
      if (i % 4 == 3) request.sampling.mirostat.version = 2;
      requests.push_back(std::move(request));
    }
    const std::vector<Answer> answers = ask_all(runner, tokenizer, {.max_sequences = 10}, requests);
    int preemptions = 0;
    for (size_t i = 0; i < requests.size(); ++i) {
      const Answer& answer = answers[i];
      std::vector<TokenId> expected = expected_tokens(requests[i], window, tokenizer.size());
      if (requests[i].ignores_end) expected.resize(std::min(expected.size(), answer.tokens.size()));
      EXPECT_EQ(
          std::vector<TokenId>(answer.tokens.begin(),
                               answer.tokens.begin() + static_cast<ptrdiff_t>(expected.size())),
          expected)
          << "request " << i;
      EXPECT_EQ(answer.ends, 1);
      preemptions += answer.last.summary.preemptions;
    }
    EXPECT_GT(preemptions, 0) << "the pool should run out";
    EXPECT_EQ(runner.free_blocks(), runner.all_blocks());
  }
}

TEST(Engine, ContinuesAnInterruptedAnswerAtAnyToken) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  FakeRunner runner;
  Engine engine(runner, tokenizer);
  Request request = seeded(bytes_of("start"), 7, 40);
  request.ignores_end = true;
  const std::string probe = ask(engine, request).text;
  // Two stop strings: one that occurs, and one that nearly does at many places.
  request.stop_strings = {probe.substr(20, 3), probe.substr(5, 2) + "\x01never"};
  const Answer whole = ask(engine, request);
  ASSERT_EQ(whole.last.finish, FinishReason::stop);
  ASSERT_GT(whole.tokens.size(), 10u);
  for (size_t cut = 1; cut < whole.tokens.size(); ++cut) {
    Request first = request;
    first.max_tokens = static_cast<int>(cut);
    const Answer before = ask(engine, first);
    Request rest = request;
    rest.tokens.insert(rest.tokens.end(), before.tokens.begin(), before.tokens.end());
    rest.resumed_tokens = static_cast<int>(cut);
    const Answer after = ask(engine, rest);
    std::vector<TokenId> tokens = before.tokens;
    tokens.insert(tokens.end(), after.tokens.begin(), after.tokens.end());
    EXPECT_EQ(tokens, whole.tokens) << "cut at " << cut;
    EXPECT_EQ(after.last.finish, FinishReason::stop);
    EXPECT_EQ(after.last.summary.output_tokens, whole.last.summary.output_tokens);
    // Nothing is said twice. What the first part showed of a later stop string stays shown.
    const std::string joined = before.text + after.text;
    EXPECT_EQ(joined.substr(0, whole.text.size()), whole.text) << "cut at " << cut;
  }
}

TEST(Engine, AResumedAnswerThatWasCompleteEndsAtOnce) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  FakeRunner runner(stop_fixture());
  Engine engine(runner, tokenizer);
  Request request = greedy_a(64);
  request.tokens = {'A', 'B', test::kEos};
  request.resumed_tokens = 2;
  const Answer answer = ask(engine, request);
  EXPECT_EQ(answer.last.finish, FinishReason::stop);
  EXPECT_TRUE(answer.tokens.empty());
}

TEST(Engine, GivesLogprobsWithEveryToken) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  FakeRunner runner(stop_fixture());
  Engine engine(runner, tokenizer);
  Request request = greedy_a(5);
  request.sampling.logprobs = 2;
  const Answer answer = ask(engine, request);
  ASSERT_EQ(answer.logprobs.size(), answer.tokens.size());
  for (size_t i = 0; i < answer.tokens.size(); ++i) {
    EXPECT_EQ(answer.logprobs[i].top.size(), 2u);
    EXPECT_EQ(answer.logprobs[i].top[0].id, answer.tokens[i]);
    EXPECT_NEAR(answer.logprobs[i].chosen, 0, 1e-5);
  }
}

TEST(Engine, NeverSamplesARowOfLogitsThatIsNoToken) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  FakeRunner runner({.model = [](std::span<const TokenId>, std::span<float> logits) {
    std::fill(logits.begin(), logits.end(), 1.0f);
    logits.back() = 100;  // padding of the vocabulary
  }});
  Engine engine(runner, tokenizer);
  for (const TokenId token : ask(engine, seeded({'A'}, 1, 50)).tokens) {
    EXPECT_LT(token, tokenizer.size());
  }
}

TEST(Engine, ServesSeveralThreadsAtOnce) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  FakeRunner runner({.blocks = 30});
  Engine engine(runner, tokenizer, {.max_sequences = 6});
  std::vector<std::thread> clients;
  std::vector<int> right(4);
  for (size_t c = 0; c < right.size(); ++c) {
    clients.emplace_back([&, c] {
      for (uint64_t i = 0; i < 8; ++i) {
        const Request request = seeded(bytes_of(std::string(1 + c * 9 + i, 'c')), i, 25);
        if (i % 4 == 3) {
          engine.cancel(engine.submit(request, [](TokenEvent) {}));
        } else if (ask(engine, request).tokens == expected_tokens(request, 0, tokenizer.size())) {
          ++right[c];
        }
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(right, (std::vector<int>{6, 6, 6, 6}));
}

}  // namespace
}  // namespace arion

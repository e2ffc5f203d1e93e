// Prompts that others have computed, several answers to one prompt, log probabilities of prompts,
// and bounds of what waits: through the whole engine.
#include <gtest/gtest.h>

#include <random>

#include "engine/answers.h"

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

Request endless(Request request) {
  request.ignores_end = true;
  return request;
}

class Prefixes : public testing::Test {
 protected:
  const Tokenizer tokenizer = test::byte_tokenizer();

  // As far as the model alone says it: up to an end token.
  void expect_right(const Answer& answer, const Request& request, int window) {
    const std::vector<TokenId> expected = expected_tokens(request, window, tokenizer.size());
    ASSERT_LE(expected.size(), answer.tokens.size());
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), answer.tokens.begin()));
  }
};

TEST_F(Prefixes, ASecondRequestComputesOnlyWhatIsNew) {
  for (const int window : {0, 40}) {
    FakeRunner runner({.window = window});
    Engine engine(runner, tokenizer, {.checks_integrity = true});
    const std::string shared(500, 'x');
    const Request first = endless(seeded(bytes_of(shared + "abc"), 1, 5));
    const Request second = endless(seeded(bytes_of(shared + "and now"), 2, 5));
    expect_right(ask(engine, first), first, window);
    const int before = runner.computed_tokens();
    const Answer answer = ask(engine, second);
    expect_right(answer, second, window);
    EXPECT_EQ(answer.last.summary.cached_tokens, 500 + 1) << "the a of both is the same";
    EXPECT_EQ(runner.computed_tokens() - before, 6 + 4);
    const EngineStats stats = engine.stats();
    EXPECT_EQ(stats.prefix_asked_tokens, 503 + 507);
    EXPECT_EQ(stats.prefix_found_tokens, 501);
  }
}

TEST_F(Prefixes, TheNextTurnOfAChatFindsTheAnswerBeforeIt) {
  FakeRunner runner;
  Engine engine(runner, tokenizer, {.checks_integrity = true});
  Request turn = endless(seeded(bytes_of("what is that?"), 1, 50));
  const Answer first = ask(engine, turn);
  turn.tokens.insert(turn.tokens.end(), first.tokens.begin(), first.tokens.end());
  const std::vector<TokenId> question = bytes_of("and this?");
  turn.tokens.insert(turn.tokens.end(), question.begin(), question.end());
  const Answer second = ask(engine, turn);
  expect_right(second, turn, 0);
  EXPECT_EQ(second.last.summary.cached_tokens, 13 + 49) << "the last token was never computed";
}

TEST_F(Prefixes, SeveralAnswersComputeTheirPromptOnce) {
  for (const int window : {0, 40}) {
    FakeRunner runner({.step_tokens = 100, .window = window});
    std::vector<Request> choices;
    for (uint32_t choice = 0; choice < 8; ++choice) {
      choices.push_back(endless(seeded(bytes_of(std::string(405, 'p')), 7, 20)));
      choices.back().choice = choice;
    }
    const std::vector<Answer> answers =
        ask_all(runner, tokenizer, {.checks_integrity = true}, choices);
    for (size_t i = 0; i < choices.size(); ++i) expect_right(answers[i], choices[i], window);
    EXPECT_NE(answers[0].tokens, answers[1].tokens);
    EXPECT_EQ(runner.computed_tokens(), 405 + 7 + 8 * 19) << "one token each for its logits";
    EXPECT_EQ(runner.free_blocks(), runner.all_blocks());
  }
}

TEST_F(Prefixes, SaltsKeepClientsApart) {
  FakeRunner runner;
  Engine engine(runner, tokenizer);
  Request request = endless(seeded(bytes_of(std::string(100, 's')), 1, 5));
  request.cache_salt = "mine";
  ask(engine, request);
  EXPECT_EQ(ask(engine, request).last.summary.cached_tokens, 99);
  request.cache_salt = "yours";
  EXPECT_EQ(ask(engine, request).last.summary.cached_tokens, 0);
}

TEST_F(Prefixes, CanBeSwitchedOff) {
  FakeRunner runner;
  Engine engine(runner, tokenizer, {.reuses_prefixes = false});
  const Request request = endless(seeded(bytes_of(std::string(100, 's')), 1, 5));
  const Answer first = ask(engine, request), second = ask(engine, request);
  EXPECT_EQ(first.tokens, second.tokens);
  EXPECT_EQ(second.last.summary.cached_tokens, 0);
}

// Under random arrivals, chunks, preemption, prefix hits and cancels.
TEST_F(Prefixes, AnswersAreWhatEachIsAlone) {
  int64_t found = 0, preemptions = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const auto below = [&](uint32_t n) { return static_cast<int>(random() % n); };
    const int window = below(2) == 0 ? 0 : 20 + below(40);
    FakeRunner runner({.step_tokens = 5 + below(60), .blocks = 14 + below(8), .window = window});
    const EngineOptions options{.max_sequences = 1 + below(8),
                                .policy = static_cast<QueuePolicy>(below(3)),
                                .checks_integrity = true};
    EventQueue queue;
    std::map<RequestId, Request> asked;
    std::vector<RequestId> cancelled;
    Engine engine(runner, tokenizer, options);
    for (int i = 0; i < 24; ++i) {
      std::vector<TokenId> prompt(static_cast<size_t>(1 + below(90)), 'a' + below(2));
      for (int n = below(20); n > 0; --n) prompt.push_back('a' + below(26));
      Request request = seeded(prompt, static_cast<uint64_t>(below(3)), 1 + below(80));
      request.client = std::string(1, static_cast<char>('a' + below(3)));
      request.priority = below(3);
      const int choices = below(4) == 0 ? 3 : 1;
      for (int c = 0; c < choices; ++c) {
        request.choice = static_cast<uint32_t>(c);
        const RequestId id = engine.submit(request, queue.sink());
        asked.emplace(id, request);
        if (below(8) == 0) cancelled.push_back(id);
      }
      if (!cancelled.empty() && below(3) == 0) engine.cancel(cancelled.back());
    }
    for (auto& [id, answer] : collect(queue, asked.size())) {
      const Request& request = asked.at(id);
      std::vector<TokenId> expected = expected_tokens(request, window, tokenizer.size());
      if (answer.last.finish == FinishReason::cancelled) expected.resize(answer.tokens.size());
      EXPECT_EQ(answer.tokens, expected);
    }
    found += engine.stats().prefix_found_tokens;
    preemptions += engine.stats().preemptions;
  }
  EXPECT_GT(found, 10000);
  EXPECT_GT(preemptions, 50);
}

TEST_F(Prefixes, LogprobsOfThePromptDoNotDependOnChunks) {
  std::vector<Answer> answers;
  for (const int step_tokens : {3, 16, 200}) {
    FakeRunner runner({.step_tokens = step_tokens});
    Engine engine(runner, tokenizer);
    Request request = endless(seeded(bytes_of("a prompt of some length, really"), 1, 3));
    request.prompt_logprobs = 2;
    ask(engine, request);
    EventQueue queue;
    engine.submit(request, queue.sink());
    TokenEvent event = queue.pop();
    ASSERT_EQ(event.prompt_logprobs.size(), request.tokens.size() - 1);
    for (const TokenLogprobs& entry : event.prompt_logprobs) {
      ASSERT_EQ(entry.top.size(), 2u);
      EXPECT_LE(entry.chosen, entry.top[0].logprob);
    }
    answers.push_back({.logprobs = event.prompt_logprobs});
    while (event.finish == FinishReason::none) event = queue.pop();
  }
  for (size_t i = 0; i < answers[0].logprobs.size(); ++i) {
    for (const Answer& answer : answers) {
      EXPECT_EQ(answer.logprobs[i].chosen, answers[0].logprobs[i].chosen);
      EXPECT_EQ(answer.logprobs[i].top, answers[0].logprobs[i].top);
    }
  }
}

TEST_F(Prefixes, LogprobsOfThePromptNeedNoAnswer) {
  FakeRunner runner({.context = 6});
  Engine engine(runner, tokenizer);
  Request request = seeded(bytes_of("prompt"), 1, 0);
  request.prompt_logprobs = 0;
  EventQueue queue;
  engine.submit(request, queue.sink());
  const TokenEvent event = queue.pop();
  EXPECT_EQ(event.finish, FinishReason::length);
  EXPECT_EQ(event.prompt_logprobs.size(), 5u);
  EXPECT_TRUE(event.tokens.empty());
  request.prompt_logprobs = -2;
  EXPECT_THROW(engine.submit(request, queue.sink()), Error);
}

TEST_F(Prefixes, RefusesWhatExceedsTheQueueAndTakesItLater) {
  FakeRunner runner;
  std::atomic<bool> may_go = false;
  runner.before_step = [&](const BatchPlan&) { may_go.wait(false); };
  EventQueue queue;
  Engine engine(runner, tokenizer, {.queue = {.requests = 3, .tokens = 40}});
  const Request request = endless(seeded(bytes_of("ten tokens"), 1, 2));
  engine.submit(request, queue.sink());
  while (engine.stats().steps == 0 && queue.pop(std::chrono::milliseconds(1))) {
  }
  const auto submit_until_full = [&] {
    int taken = 0;
    for (int i = 0; i < 5; ++i) {
      try {
        engine.submit(request, queue.sink());
        ++taken;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::overloaded);
        return taken;
      }
    }
    return taken;
  };
  const int taken = submit_until_full();
  EXPECT_GE(taken, 2) << "the first may still be waiting";
  EXPECT_LE(taken, 3);
  may_go = true;
  may_go.notify_all();
  collect(queue, static_cast<size_t>(taken) + 1);
  EXPECT_GE(submit_until_full(), 2);
}

TEST_F(Prefixes, ADeadlineEndsARequestThatRunsOrWaits) {
  FakeRunner runner;
  // So that the context is not full before.
  runner.before_step = [](const BatchPlan&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  EventQueue queue;
  Engine engine(runner, tokenizer, {.max_sequences = 1});
  Request request = endless(seeded(bytes_of("x"), 1, 100000));
  request.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  engine.submit(request, queue.sink());
  engine.submit(request, queue.sink());
  for (const auto& [id, answer] : collect(queue, 2)) {
    EXPECT_EQ(answer.last.finish, FinishReason::cancelled);
    EXPECT_NE(answer.last.error.find("deadline"), std::string::npos);
  }
}

}  // namespace
}  // namespace arion

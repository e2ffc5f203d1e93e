// What the engine refuses, and how requests end that cannot go on: failures, cancelling, shutdown.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <stdexcept>

#include "base/error.h"
#include "engine/answers.h"

namespace arion {
namespace {

using test::Answer;
using test::ask;
using test::bytes_of;
using test::collect;
using test::FakeRunner;
using test::seeded;

TEST(Engine, RefusesBadRequestsByName) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  FakeRunner runner;
  Engine engine(runner, tokenizer);
  const auto message = [&](const Request& request) -> std::string {
    try {
      engine.submit(request, [](TokenEvent) {});
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  const auto says = [&](const Request& request, const std::string& part) {
    EXPECT_NE(message(request).find(part), std::string::npos) << message(request);
  };
  says({}, "at least one token");
  says({.tokens = {1, 999}}, "token 1 of the prompt is 999, expected 0 to 260");
  says({.tokens = {1, -1}}, "is -1");
  says({.tokens = std::vector<TokenId>(1000, 1)}, "no room for an answer");
  says({.tokens = {1}, .resumed_tokens = 1}, "at least one token");
  says({.tokens = {1}, .max_tokens = -1}, "max_tokens");
  says({.tokens = {1}, .max_tokens = 3, .min_tokens = 4}, "min_tokens is 4, expected 0 to");
  says({.tokens = {1}, .sampling = {.logit_bias = {{261, 1}}}}, "token 261, expected 0 to 260");
  says({.tokens = {1}, .sampling = {.temperature = -1}}, "temperature");
  says({.tokens = {1}, .stop_strings = {""}}, "stop string");
  says({.tokens = {1}, .stop_ids = {5, 261}}, "stop id 261 is outside the vocabulary");
  says({.tokens = {1}, .stop_ids = {-1}}, "stop id -1");
}

TEST(Engine, ARowThatIsNotANumberEndsItsRequestOnly) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  FakeRunner runner({.model = [](std::span<const TokenId> visible, std::span<float> logits) {
    test::hash_model(visible, logits);
    if (visible.front() == 'x' && visible.size() > 5) logits[7] = std::nanf("");
  }});
  Engine engine(runner, tokenizer);
  EventQueue queue;
  Request good = seeded({'a'}, 3, 20);
  Request bad = seeded({'x'}, 3, 20);
  good.ignores_end = bad.ignores_end = true;
  const RequestId good_id = engine.submit(good, queue.sink());
  const RequestId bad_id = engine.submit(bad, queue.sink());
  const auto answers = collect(queue, 2);
  EXPECT_EQ(answers.at(good_id).last.finish, FinishReason::length);
  EXPECT_EQ(answers.at(bad_id).last.finish, FinishReason::error);
  EXPECT_NE(answers.at(bad_id).last.error.find("token 7"), std::string::npos);
}

TEST(Engine, AStepThatFailsEndsItsRequestsAndTheEngineGoesOn) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  FakeRunner runner;
  int steps = 0;  // of the engine's thread
  runner.before_step = [&](const BatchPlan&) {
    if (++steps == 4) throw Error(ErrorCode::failed, "the fourth step fails");
  };
  {
    Engine engine(runner, tokenizer);
    Request request = seeded({'a'}, 3, 20);
    request.ignores_end = true;
    const Answer failed = ask(engine, request);
    EXPECT_EQ(failed.last.finish, FinishReason::error);
    EXPECT_EQ(failed.last.error, "the fourth step fails");
    EXPECT_EQ(failed.tokens.size(), 3u);
    EXPECT_EQ(ask(engine, request).last.finish, FinishReason::length);
  }
  EXPECT_EQ(runner.free_blocks(), runner.all_blocks());
}

TEST(Engine, ASinkThatThrowsEndsItsOwnRequest) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  FakeRunner runner;
  int calls = 0;  // of the engine's thread
  {
    Engine engine(runner, tokenizer);
    Request request = seeded({'a'}, 3, 20);
    request.ignores_end = true;
    engine.submit(request, [&](TokenEvent) {
      ++calls;
      throw std::runtime_error("the client went away");
    });
    EXPECT_EQ(ask(engine, request).tokens.size(), 20u);
  }
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(runner.free_blocks(), runner.all_blocks());
}

TEST(Engine, CancelledRequestsHearOneEndAndGiveTheirBlocksBack) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  FakeRunner runner({.step_tokens = 16, .blocks = 20});
  {
    Engine engine(runner, tokenizer, {.max_sequences = 4});
    EventQueue queue;
    std::mt19937 random(5);
    std::vector<RequestId> ids;
    for (uint64_t i = 0; i < 40; ++i) {
      Request request = seeded(bytes_of(std::string(1 + random() % 100, 'p')), i, 80);
      request.ignores_end = true;
      ids.push_back(engine.submit(std::move(request), queue.sink()));
      if (random() % 2 == 0) engine.cancel(ids[random() % ids.size()]);
    }
    for (size_t i = 0; i < ids.size(); i += 3) engine.cancel(ids[i]);
    engine.cancel(999999);
    for (const auto& [id, answer] : collect(queue, ids.size())) {
      EXPECT_EQ(answer.ends, 1);
      EXPECT_TRUE(answer.last.finish == FinishReason::cancelled ||
                  answer.last.finish == FinishReason::length);
    }
  }
  EXPECT_EQ(runner.free_blocks(), runner.all_blocks());
}

TEST(Engine, ShuttingDownEndsEveryRequest) {
  const Tokenizer tokenizer = test::byte_tokenizer();
  FakeRunner runner({.blocks = 20});
  EventQueue queue;
  {
    Engine engine(runner, tokenizer, {.max_sequences = 3});
    for (uint64_t i = 0; i < 12; ++i) {
      Request request = seeded(bytes_of("never done"), i, 100000);
      request.ignores_end = true;
      engine.submit(std::move(request), queue.sink());
    }
    queue.pop();  // it is at work
  }
  std::map<RequestId, Answer> answers;
  while (auto event = queue.pop(std::chrono::milliseconds(0))) {
    answers[event->request].add(std::move(*event));
  }
  int cancelled = 0;
  for (const auto& [id, answer] : answers) {
    EXPECT_EQ(answer.ends, 1);
    cancelled += answer.last.finish == FinishReason::cancelled ? 1 : 0;
  }
  EXPECT_EQ(answers.size(), 12u);
  EXPECT_GT(cancelled, 0);
  EXPECT_EQ(runner.free_blocks(), runner.all_blocks());
}

}  // namespace
}  // namespace arion

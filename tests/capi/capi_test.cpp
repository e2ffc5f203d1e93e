// The C interface: statuses instead of crashes, and the answers of the engine.
#include <array>
#include <atomic>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>

#include "assembly/answering_engine.h"
#include "capi/c_client.h"
#include "capi/client_models.h"
#include "capi/engine_options.h"
#include "engine/event_queue.h"

namespace arion::test {
namespace {

using client::Engine;
using nlohmann::json;

// A handle for tests that call the functions themselves.
class Handle {
 public:
  explicit Handle(const std::string& model, int sequences = 4) {
    arion_engine_options options{.size = sizeof options};
    options.threads = 1;
    options.max_sequences = sequences;
    EXPECT_EQ(arion_engine_open(model.c_str(), &options, &handle_), ARION_OK) << arion_last_error();
  }
  ~Handle() { close(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  operator arion_engine*() const { return handle_; }
  void close() { arion_engine_close(std::exchange(handle_, nullptr)); }
  arion_request* start(const std::string& json, int kind = ARION_COMPLETION) const {
    arion_request* request = nullptr;
    EXPECT_EQ(arion_request_start(handle_, kind, json.data(), json.size(), &request), ARION_OK)
        << arion_last_error();
    return request;
  }

 private:
  arion_engine* handle_ = nullptr;
};

// The finish of the last event.
int read_to_end(arion_request* request) {
  const arion_event* event = nullptr;
  int finish = ARION_FINISH_NONE;
  while (arion_request_next(request, -1, &event) == ARION_OK) finish = event->finish;
  EXPECT_EQ(arion_request_next(request, -1, &event), ARION_ENDED);
  EXPECT_EQ(event, nullptr);
  return finish;
}

TEST(CApi, IsUsedByAProgramInC) {
  const ModelFile model;
  std::array<char, 1024> answer{};
  const char* json = R"({"prompt":"ab","max_tokens":9,"temperature":0,"ignore_eos":true})";
  ASSERT_EQ(c_client_answer(model.path().c_str(), json, answer.data(), answer.size()), ARION_OK)
      << answer.data();
  client::SamplingParams params = seeded_params(9);
  params.temperature = 0;
  Engine engine(model.path(), quick_engine());
  EXPECT_EQ(answer.data(), engine.generate("ab", params).front().text);
  EXPECT_EQ(c_client_answer("no-such-model", json, answer.data(), answer.size()), ARION_USAGE);
  EXPECT_NE(std::string(answer.data()).find("no-such-model"), std::string::npos);
}

TEST(CApi, RefusesNullsInsteadOfCrashing) {
  const ModelFile model;
  const Handle engine(model.path());
  arion_engine* opened = nullptr;
  char* text = nullptr;
  int32_t* tokens = nullptr;
  const int32_t* borrowed = nullptr;
  size_t count = 0;
  arion_request* request = nullptr;
  const arion_event* event = nullptr;
  const int32_t token = 5;
  EXPECT_EQ(arion_engine_open(nullptr, nullptr, &opened), ARION_USAGE);
  EXPECT_STREQ(arion_last_error(), "model is NULL");
  EXPECT_EQ(arion_engine_open(model.path().c_str(), nullptr, nullptr), ARION_USAGE);
  EXPECT_EQ(arion_engine_info(nullptr, &text, &count), ARION_USAGE);
  EXPECT_EQ(arion_engine_info(engine, nullptr, &count), ARION_USAGE);
  EXPECT_EQ(arion_engine_stats(engine, &text, nullptr), ARION_USAGE);
  EXPECT_EQ(arion_tokenize(nullptr, "a", 1, 0, &tokens, &count), ARION_USAGE);
  EXPECT_EQ(arion_tokenize(engine, nullptr, 1, 0, &tokens, &count), ARION_USAGE);
  EXPECT_EQ(arion_tokenize(engine, "a", 1, 0, nullptr, &count), ARION_USAGE);
  EXPECT_EQ(arion_tokenize(engine, "a", 1, 64, &tokens, &count), ARION_USAGE);
  EXPECT_EQ(arion_detokenize(engine, nullptr, 1, 0, &text, &count), ARION_USAGE);
  EXPECT_EQ(arion_detokenize(engine, &token, 1, 0, &text, nullptr), ARION_USAGE);
  EXPECT_EQ(arion_render_chat(engine, "{}", 2, nullptr, nullptr, nullptr, nullptr), ARION_USAGE);
  EXPECT_EQ(arion_request_start(nullptr, ARION_CHAT, "{}", 2, &request), ARION_USAGE);
  EXPECT_EQ(arion_request_start(engine, ARION_CHAT, nullptr, 2, &request), ARION_USAGE);
  EXPECT_EQ(arion_request_start(engine, ARION_CHAT, "{}", 2, nullptr), ARION_USAGE);
  EXPECT_EQ(arion_request_start(engine, 7, "{}", 2, &request), ARION_USAGE);
  EXPECT_EQ(arion_request_next(nullptr, 0, &event), ARION_USAGE);
  EXPECT_EQ(arion_request_prompt(nullptr, 0, &borrowed, &count), ARION_USAGE);
  EXPECT_EQ(arion_request_size(nullptr, &count, &count), ARION_USAGE);
  EXPECT_EQ(arion_request_cancel(nullptr), ARION_USAGE);
  EXPECT_EQ(request, nullptr);
  EXPECT_EQ(opened, nullptr);
  arion_request* running = engine.start(R"({"prompt":"a"})");
  EXPECT_EQ(arion_request_next(running, 0, nullptr), ARION_USAGE);
  EXPECT_EQ(arion_request_prompt(running, 1, &borrowed, &count), ARION_USAGE);
  EXPECT_EQ(arion_request_free(running), ARION_OK);
  EXPECT_EQ(arion_request_free(nullptr), ARION_OK);
  EXPECT_EQ(arion_engine_close(nullptr), ARION_OK);
  EXPECT_EQ(arion_free(nullptr), ARION_OK);
}

TEST(CApi, ReadsOptionsOfOlderAndNewerPrograms) {
  const ModelFile model;
  struct Newer {
    arion_engine_options known{};
    int64_t added = 0;
  } newer;
  newer.known.size = sizeof newer;
  const auto open = [&] {
    arion_engine* engine = nullptr;
    const int status = arion_engine_open(model.path().c_str(), &newer.known, &engine);
    arion_engine_close(engine);
    return status;
  };
  EXPECT_EQ(open(), ARION_OK);
  newer.added = 1;
  EXPECT_EQ(open(), ARION_USAGE);
  newer.known.threads = -5;
  newer.known.size = offsetof(arion_engine_options, threads);  // not to be read
  EXPECT_EQ(open(), ARION_OK);
  newer.known.size = offsetof(arion_engine_options, context);
  EXPECT_EQ(open(), ARION_USAGE);
  for (const size_t size : {size_t{0}, size_t{4}, size_t{1} << 40}) {
    newer.known.size = size;
    EXPECT_EQ(open(), ARION_USAGE) << size;
  }
}

TEST(CApi, NamesWhatIsWrongWithOptions) {
  const ModelFile model;
  const auto message = [&](auto change) {
    arion_engine_options options{.size = sizeof options};
    change(options);
    arion_engine* engine = nullptr;
    EXPECT_EQ(arion_engine_open(model.path().c_str(), &options, &engine), ARION_USAGE);
    arion_engine_close(engine);
    return std::string(arion_last_error());
  };
  using Options = arion_engine_options;
  EXPECT_NE(message([](Options& o) { o.isa = "z80"; }).find("z80"), std::string::npos);
  EXPECT_NE(message([](Options& o) { o.kv = "int3"; }).find("int3"), std::string::npos);
  EXPECT_NE(message([](Options& o) { o.activations = "x"; }).find("int8"), std::string::npos);
  EXPECT_NE(message([](Options& o) { o.scheduling = "lifo"; }).find("fcfs"), std::string::npos);
  EXPECT_NE(message([](Options& o) { o.max_sequences = -1; }).find("max_sequences"),
            std::string::npos);
  EXPECT_NE(message([](Options& o) { o.context = 1 << 30; }).find("context"), std::string::npos);
  for (const double value : {-1.0, 1001.0, std::nan(""), -HUGE_VAL}) {
    EXPECT_NE(message([&](Options& o) { o.decode_slowdown = value; }).find("decode_slowdown"),
              std::string::npos);
  }
}

TEST(CApi, LimitsTheStepsThatDecodingWaitsFor) {
  const auto read = [](double slowdown, int64_t target_us) {
    arion_engine_options options{.size = sizeof options};
    options.decode_slowdown = slowdown;
    options.target_step_us = target_us;
    const EngineOptions out = read_engine_options("m", &options).engine;
    return std::pair(out.decode_slowdown, out.target_step_us);
  };
  constexpr int64_t kNone = 0;
  EXPECT_EQ(read(0, 0), std::pair(EngineOptions{}.decode_slowdown, kNone));
  EXPECT_EQ(read(0, 5000), std::pair(0.0, int64_t{5000}));
  EXPECT_EQ(read(3.5, 0), std::pair(3.5, kNone));
  EXPECT_EQ(read(3.5, 5000), std::pair(3.5, int64_t{5000}));
  EXPECT_EQ(read(HUGE_VAL, 0), std::pair(0.0, kNone));
}

// What a program built before the last members were added passes.
TEST(CApi, TakesOptionsWithoutTheLastMembers) {
  const ModelFile model;
  arion_engine_options options{.size = offsetof(arion_engine_options, decode_slowdown)};
  options.decode_slowdown = -1;  // not to be read
  options.compiled = "no-such-file";
  arion_engine* engine = nullptr;
  EXPECT_EQ(arion_engine_open(model.path().c_str(), &options, &engine), ARION_OK)
      << arion_last_error();
  arion_engine_close(engine);
  options.size = sizeof options;
  options.decode_slowdown = 0;
  EXPECT_NE(arion_engine_open(model.path().c_str(), &options, &engine), ARION_OK);
  EXPECT_NE(std::string(arion_last_error()).find("no-such-file"), std::string::npos);
}

TEST(CApi, EndsLoadingWhenProgressSaysSo) {
  const ModelFile model;
  arion_engine_options options{.size = sizeof options};
  options.progress = [](void*, uint64_t, uint64_t) { return 1; };
  arion_engine* engine = nullptr;
  EXPECT_EQ(arion_engine_open(model.path().c_str(), &options, &engine), ARION_FAILED);
  EXPECT_EQ(engine, nullptr);
}

TEST(CApi, RefusesHostileJson) {
  const ModelFile model;
  const Handle engine(model.path());
  const std::string requests[] = {
      "",
      "{",
      "[]",
      "null",
      "{}",
      R"({"prompt":)",
      R"({"prompt":[]})",
      R"({"prompt":[-1]})",
      R"({"prompt":[99999999]})",
      R"({"prompt":[1e300]})",
      R"({"prompt":{"a":1}})",
      R"({"prompt":"a","n":1000000})",
      R"({"prompt":"a","n":0})",
      R"({"prompt":"a","max_tokens":1e99})",
      R"({"prompt":"a","temperature":"hot"})",
      R"({"prompt":"a","stop":[""]})",
      R"({"prompt":"a","prompt_logprobs":1000})",
      R"({"prompt":"a","logit_bias":{"x":1}})",
      R"({"prompt":"a","model":"other"})",
      "{\"prompt\":\"\xff\"}",
      std::string("{\"prompt\":\"a\0b\"}", 15),
      std::string(100'000, '['),
      R"({"prompt":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}",
      R"({"prompt":")" + std::string(600, 'a') + R"("})",  // longer than the context
  };
  for (const std::string& request : requests) {
    for (const int kind : {ARION_COMPLETION, ARION_CHAT}) {
      arion_request* started = nullptr;
      EXPECT_EQ(arion_request_start(engine, kind, request.data(), request.size(), &started),
                ARION_BAD_INPUT)
          << request.substr(0, 40);
      EXPECT_EQ(started, nullptr);
      EXPECT_STRNE(arion_last_error(), "");
    }
    char* text = nullptr;
    size_t size = 0;
    EXPECT_EQ(
        arion_render_chat(engine, request.data(), request.size(), &text, &size, nullptr, nullptr),
        ARION_BAD_INPUT);
  }
}

TEST(CApi, TimesOutWithoutAnEventAndGoesOn) {
  const ModelFile model;
  const Handle engine(model.path());
  arion_request* request = engine.start(R"({"prompt":"a","max_tokens":20,"ignore_eos":true})");
  const arion_event* event = nullptr;
  size_t tokens = 0;
  int status = ARION_OK;
  while ((status = arion_request_next(request, 0, &event)) != ARION_ENDED) {
    ASSERT_TRUE(status == ARION_OK || status == ARION_TIMED_OUT);
    ASSERT_EQ(event == nullptr, status == ARION_TIMED_OUT);
    tokens += event == nullptr ? 0 : event->token_count;
  }
  EXPECT_EQ(tokens, 20u);
  arion_request_free(request);
}

TEST(CApi, AnswersOfSeveralThreadsAreThoseOfOneAndShareSteps) {
  constexpr int kThreads = 4, kTokens = 200;
  const ModelFile model;
  Engine engine(model.path(), quick_engine());
  std::array<std::string, kThreads> alone, together;
  const auto ask = [&](int i) {
    return engine.generate(std::string(1, static_cast<char>('a' + i)), seeded_params(kTokens))
        .front()
        .text;
  };
  for (int i = 0; i < kThreads; ++i) alone[static_cast<size_t>(i)] = ask(i);
  const auto steps = [&] { return json::parse(engine.stats())["steps"].get<int>(); };
  const int before = steps();
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] { together[static_cast<size_t>(i)] = ask(i); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(alone, together);
  EXPECT_NE(alone[0], alone[1]);
  EXPECT_LT(steps() - before, kThreads * kTokens);
}

TEST(CApi, CancelsFromAnotherThread) {
  const ModelFile model(kLongModel);
  const Handle engine(model.path(), 1);
  arion_request* request = engine.start(kLongRequest);
  std::atomic<bool> has_begun = false;
  std::thread canceller([&] {
    has_begun.wait(false);
    EXPECT_EQ(arion_request_cancel(request), ARION_OK);
  });
  const arion_event* event = nullptr;
  EXPECT_EQ(arion_request_next(request, -1, &event), ARION_OK);
  has_begun = true;
  has_begun.notify_one();
  EXPECT_EQ(read_to_end(request), ARION_FINISH_CANCELLED);
  canceller.join();
  EXPECT_EQ(arion_request_cancel(request), ARION_OK);
  arion_request_free(request);
}

// The only place is free again at once.
TEST(CApi, FreeingARequestCancelsIt) {
  const ModelFile model(kLongModel);
  const Handle engine(model.path(), 1);
  for (int i = 0; i < 5; ++i) arion_request_free(engine.start(kLongRequest));
  arion_request* request = engine.start(R"({"prompt":"a","max_tokens":3,"ignore_eos":true})");
  EXPECT_EQ(read_to_end(request), ARION_FINISH_LENGTH);
  arion_request_free(request);
}

TEST(CApi, ClosesWithRequestsInFlight) {
  const ModelFile model(kLongModel);
  Handle engine(model.path(), 1);
  arion_request* read = engine.start(kLongRequest);
  arion_request* waiting = engine.start(kLongRequest);
  arion_request* ignored = engine.start(kLongRequest);
  std::thread reader([&] { EXPECT_EQ(read_to_end(read), ARION_FINISH_CANCELLED); });
  engine.close();
  reader.join();
  EXPECT_EQ(read_to_end(waiting), ARION_FINISH_CANCELLED);
  for (arion_request* request : {read, waiting, ignored}) {
    EXPECT_EQ(arion_request_free(request), ARION_OK);
  }
}

TEST(CApi, StopsAtStringsAndTokens) {
  const ModelFile model;
  const Handle engine(model.path());
  Engine reference(model.path(), quick_engine());
  client::SamplingParams params = seeded_params(40);
  const client::Answer whole = reference.generate("ab", params).front();
  ASSERT_GT(whole.text.size(), 12u);
  params.stop = {"never", whole.text.substr(10, 2)};
  const client::Answer stopped = reference.generate("ab", params).front();
  EXPECT_EQ(stopped.text, whole.text.substr(0, whole.text.find(params.stop[1])));
  EXPECT_EQ(stopped.finish, client::Finish::stop);
  EXPECT_EQ(stopped.stop_string, params.stop[1]);
  params.include_stop_str_in_output = true;
  EXPECT_EQ(reference.generate("ab", params).front().text, stopped.text + params.stop[1]);
  params.stop.clear();
  params.stop_token_ids = {whole.tokens[5]};
  const client::Answer by_token = reference.generate("ab", params).front();
  EXPECT_EQ(by_token.stop_token, whole.tokens[5]);
  EXPECT_EQ(by_token.tokens.back(), whole.tokens[5]);
  EXPECT_EQ(by_token.stop_string, std::nullopt);
}

TEST(CApi, GivesEveryChoiceOfEveryPromptItsEvents) {
  const ModelFile model;
  Engine engine(model.path(), quick_engine());
  client::Request request = engine.start_json(
      ARION_COMPLETION,
      R"({"prompt":["a","bc"],"n":2,"max_tokens":6,"seed":7,"temperature":1,"ignore_eos":true})");
  EXPECT_EQ(request.choices(), 4u);
  EXPECT_EQ(request.prompt_tokens(1), engine.tokenize("bc"));
  const std::vector<client::Answer> answers = request.finish();
  ASSERT_EQ(answers.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(answers[i].choice, i);
    EXPECT_EQ(answers[i].tokens.size(), 6u);
    EXPECT_EQ(answers[i].seed, 7u);
    EXPECT_EQ(answers[i].completion_tokens, 6);
    EXPECT_EQ(answers[i].prompt_tokens,
              static_cast<int64_t>(engine.tokenize(i < 2 ? "a" : "bc").size()));
  }
  EXPECT_NE(answers[0].text, answers[1].text);
  EXPECT_EQ(answers[2].text, engine.generate("bc", seeded_params(6)).front().text);
}

TEST(CApi, LogprobsAreThoseOfTheEngine) {
  const ModelFile model;
  AnsweringOptions options;
  options.load.model = model.path();
  options.load.threads = 1;
  options.engine.max_sequences = 4;
  AnsweringEngine reference(options);
  Request request{.tokens = reference.model().tokenizer.encode("abc"), .max_tokens = 8};
  request.sampling = reference.model().sampling;
  request.sampling.temperature = 1;
  request.sampling.seed = 7;
  request.sampling.logprobs = 3;
  request.prompt_logprobs = 2;
  request.ignores_end = true;
  EventQueue queue;
  reference.engine().submit(request, queue.sink());
  TokenEvent right;
  for (TokenEvent event; right.finish == FinishReason::none;) {
    event = queue.pop();
    right.finish = event.finish;
    right.tokens.insert(right.tokens.end(), event.tokens.begin(), event.tokens.end());
    for (auto& entry : event.logprobs) right.logprobs.push_back(entry);
    for (auto& entry : event.prompt_logprobs) right.prompt_logprobs.push_back(entry);
  }

  Engine engine(model.path(), quick_engine());
  client::SamplingParams params = seeded_params(8);
  params.logprobs = 3;
  params.prompt_logprobs = 2;
  const client::Answer answer = engine.generate("abc", params).front();
  const auto expect_same = [](const std::vector<client::Logprobs>& given,
                              const std::vector<TokenLogprobs>& wanted,
                              std::span<const TokenId> tokens) {
    ASSERT_EQ(given.size(), wanted.size());
    for (size_t i = 0; i < given.size(); ++i) {
      EXPECT_EQ(given[i].chosen.token, tokens[i]);
      EXPECT_EQ(given[i].chosen.logprob, wanted[i].chosen);
      EXPECT_EQ(given[i].rank, wanted[i].rank);
      ASSERT_EQ(given[i].top.size(), wanted[i].top.size());
      for (size_t j = 0; j < given[i].top.size(); ++j) {
        EXPECT_EQ(given[i].top[j].token, wanted[i].top[j].id);
        EXPECT_EQ(given[i].top[j].logprob, wanted[i].top[j].logprob);
        EXPECT_EQ(given[i].top[j].token == tokens[i], given[i].rank == static_cast<int>(j) + 1);
      }
    }
  };
  EXPECT_EQ(answer.tokens, right.tokens);
  expect_same(answer.logprobs, right.logprobs, right.tokens);
  expect_same(answer.prompt_logprobs, right.prompt_logprobs, std::span(request.tokens).subspan(1));
}

TEST(CApi, RendersChatsAsTheyAreAnswered) {
  const ModelFile model;
  const Handle engine(model.path());
  const std::string body =
      R"({"messages":[{"role":"user","content":"a<|im_end|>b"}],"max_tokens":1})";
  char* text = nullptr;
  int32_t* tokens = nullptr;
  size_t size = 0, count = 0;
  ASSERT_EQ(arion_render_chat(engine, body.data(), body.size(), &text, &size, &tokens, &count),
            ARION_OK)
      << arion_last_error();
  EXPECT_EQ(std::string(text, size),
            "<|im_start|>user\na<|im_end|>b<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(text[size], '\0');
  EXPECT_EQ(std::count(tokens, tokens + count, 61), 1);  // what the user wrote is text
  arion_request* request = engine.start(body, ARION_CHAT);
  const int32_t* asked = nullptr;
  size_t asked_count = 0;
  ASSERT_EQ(arion_request_prompt(request, 0, &asked, &asked_count), ARION_OK);
  EXPECT_EQ(std::vector<int32_t>(asked, asked + asked_count),
            std::vector<int32_t>(tokens, tokens + count));
  arion_free(text);
  arion_free(tokens);
  arion_request_free(request);
}

TEST(CApi, TurnsTextIntoTokensAndBack) {
  const ModelFile model;
  const Engine engine(model.path(), quick_engine());
  EXPECT_EQ(engine.detokenize(engine.tokenize("hello")), "hello");
  EXPECT_EQ(engine.tokenize("", ARION_NO_SPECIAL), std::vector<int32_t>());
  EXPECT_EQ(engine.detokenize({}), "");
  EXPECT_EQ(engine.tokenize("<|im_end|>", ARION_NO_SPECIAL | ARION_PLAIN_TEXT).front() == 61,
            false);
  EXPECT_EQ(engine.detokenize({61}, ARION_SHOW_CONTROL), "<|im_end|>");
  EXPECT_EQ(engine.detokenize({61}), "");
  EXPECT_NO_THROW(engine.tokenize(std::string("a\0\xff", 3)));
  for (const int32_t token : {-1, 1 << 20}) {
    try {
      engine.detokenize({token});
      FAIL() << token;
    } catch (const client::Error& error) {
      EXPECT_EQ(error.status(), ARION_BAD_INPUT);
    }
  }
}

TEST(CApi, DescribesModelAndEngine) {
  const ModelFile model;
  Engine engine(model.path(), quick_engine());
  const json info = json::parse(engine.info());
  EXPECT_EQ(info["name"], "tiny");
  EXPECT_EQ(info["path"], model.path());
  EXPECT_EQ(info["context_tokens"], 512);
  EXPECT_EQ(info["threads"], 1);
  EXPECT_EQ(info["has_chat_template"], true);
  EXPECT_FALSE(info["eos_token_ids"].empty());
  EXPECT_NE(info["profile"].get<std::string>().find("kv"), std::string::npos);
  engine.generate("a", seeded_params(5));  // all of its steps but the last are known by then
  const json stats = json::parse(engine.stats());
  EXPECT_EQ(stats["waiting"], 0);
  EXPECT_GT(stats["kv_blocks"], 0);
  EXPECT_STREQ(arion_version(), "0.1.0");
}

}  // namespace
}  // namespace arion::test

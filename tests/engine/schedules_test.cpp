// Real, if tiny, models under random schedules: every request gets, to the bit, what it gets alone.
// ARION_TEST_SCHEDULES sets how many, ARION_TEST_MODEL and ARION_TEST_CONTEXT (tokens) another
// model.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "engine/answers.h"
#include "runtime/model_fixture.h"
#include "test_data.h"

namespace arion {
namespace {

using test::Answer;
using test::ask;
using test::collect;

int setting(const char* name, int otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::atoi(value) : otherwise;
}

class Schedules : public testing::TestWithParam<std::string> {
 protected:
  Schedules() {
    const char* other = std::getenv("ARION_TEST_MODEL");
    path_ = other != nullptr ? other
                             : test::source_dir() / "tests/golden/model" / (GetParam() + ".gguf");
  }

  // Few beginnings, so that prefixes are shared; from a few tokens to more than a window.
  std::vector<Request> make_requests(std::mt19937& random, int count, int context) {
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    std::vector<Request> requests;
    while (static_cast<int>(requests.size()) < count) {
      std::vector<TokenId> tokens;
      const int shared = below(context / 2), own = 1 + below(context / 8);
      const int beginning = below(3);
      for (int i = 0; i < shared; ++i) tokens.push_back(3 + (i * (beginning + 5)) % 60);
      for (int i = 0; i < own; ++i) tokens.push_back(below(64));
      Request request{.tokens = tokens, .max_tokens = 1 + below(context / 3)};
      request.sampling.temperature = below(3) == 0 ? 0 : 1.2f;
      request.sampling.seed = static_cast<uint64_t>(below(5));
      request.sampling.logprobs = below(3) - 1;
      request.sampling.penalties.presence = below(4) == 0 ? 0.5f : 0;
      if (below(3) == 0) request.stop_strings = {std::string(1, static_cast<char>(3 + below(60)))};
      if (below(6) == 0) request.prompt_logprobs = 1;
      request.ignores_end = below(2) == 0;
      request.client = std::to_string(below(3));
      request.priority = below(3);
      const int choices = below(5) == 0 ? 3 : 1;
      for (int choice = 0; choice < choices; ++choice) {
        request.choice = static_cast<uint32_t>(choice);
        requests.push_back(request);
      }
    }
    return requests;
  }

  std::filesystem::path path_;
  const Tokenizer tokenizer_ = test::byte_tokenizer();
};

void expect_same(const std::vector<TokenLogprobs>& a, const std::vector<TokenLogprobs>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].chosen, b[i].chosen);
    EXPECT_EQ(a[i].top, b[i].top);
  }
}

TEST_P(Schedules, ChangeNoAnswer) {
  const int schedules = setting("ARION_TEST_SCHEDULES", test::kIsSanitized ? 2 : 6);
  int64_t found = 0, preemptions = 0;
  for (int schedule = 0; schedule < schedules; ++schedule) {
    SCOPED_TRACE(testing::Message() << "schedule " << schedule);
    std::mt19937 random(static_cast<uint32_t>(schedule));
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const int context = setting("ARION_TEST_CONTEXT", 96 + below(32));
    test::LoadedModel alone(path_, {.context = context});
    const std::vector<Request> requests = make_requests(random, 32, context);
    std::vector<Answer> expected;
    {
      Engine engine(alone.runner(), tokenizer_, {.reuses_prefixes = false});
      for (const Request& request : requests) expected.push_back(ask(engine, request));
    }
    // Blocks for one context, so that many sequences get into each other's way.
    test::LoadedModel model(path_, {.workers = 1 + below(2),
                                    .step_tokens = 8 + below(80),
                                    .sequences = 1,
                                    .context = context});
    model.shuffle_blocks(random());
    model.runner().set_poison();
    // But for every third time all requests are there before the second step, however fast it is.
    std::atomic<bool> may_go = schedule % 3 == 2;
    Engine engine(model.runner(), tokenizer_,
                  {.max_sequences = 1 + below(12),
                   .policy = static_cast<QueuePolicy>(below(3)),
                   .checks_integrity = true});
    EventQueue queue;
    std::map<RequestId, size_t> index;
    std::vector<RequestId> to_cancel;
    engine.submit(requests[0], [&](TokenEvent) { may_go.wait(false); });
    for (size_t i = 0; i < requests.size(); ++i) {
      index[engine.submit(requests[i], queue.sink())] = i;
      if (below(4) == 0) std::this_thread::sleep_for(std::chrono::microseconds(below(2000)));
      // Somebody who changes his mind.
      if (below(4) == 0) to_cancel.push_back(engine.submit(requests[i], [](TokenEvent) {}));
      if (!to_cancel.empty() && below(2) == 0) engine.cancel(to_cancel.back());
    }
    may_go = true;
    may_go.notify_all();
    for (auto& [id, answer] : collect(queue, requests.size())) {
      const Answer& right = expected[index.at(id)];
      EXPECT_EQ(answer.tokens, right.tokens);
      EXPECT_EQ(answer.text, right.text);
      EXPECT_EQ(answer.last.finish, right.last.finish);
      expect_same(answer.logprobs, right.logprobs);
      expect_same(answer.prompt_logprobs, right.prompt_logprobs);
    }
    found += engine.stats().prefix_found_tokens;
    preemptions += engine.stats().preemptions;
  }
  EXPECT_GT(found, 100 * schedules);
  EXPECT_GT(preemptions, 0);
}

INSTANTIATE_TEST_SUITE_P(Models, Schedules, testing::Values("llama", "gemma3", "qwen3"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace arion

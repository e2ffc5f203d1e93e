// The C++ wrapper: what it adds to the C interface.
#include <nlohmann/json.hpp>

#include "capi/client_models.h"

namespace arion::test {
namespace {

using client::Engine;
using client::Event;
using client::Finish;
using nlohmann::json;

TEST(Client, WritesParametersAsJson) {
  client::SamplingParams params;
  params.temperature = 0.25;
  params.seed = UINT64_MAX;
  params.stop = {"\"quoted\"\\\n\x01", "\xC3\xA4"};
  params.logit_bias = {{5, -1.5}, {7, 2}};
  params.logprobs = 2;
  params.others = {{"xtc_probability", "0.5"}};
  client::JsonWriter writer;
  params.write(writer, false);
  const json body = json::parse(std::move(writer).finish());
  EXPECT_EQ(body["temperature"], 0.25);
  EXPECT_EQ(body["seed"], UINT64_MAX);
  EXPECT_EQ(body["stop"], json(params.stop));
  EXPECT_EQ(body["logit_bias"], json({{"5", -1.5}, {"7", 2.0}}));
  EXPECT_EQ(body["logprobs"], 2);
  EXPECT_EQ(body["xtc_probability"], 0.5);
  EXPECT_EQ(body["max_tokens"], 16);
  EXPECT_FALSE(body.contains("top_p"));
  client::JsonWriter chat;
  params.write(chat, true);
  const json chat_body = json::parse(std::move(chat).finish());
  EXPECT_EQ(chat_body["logprobs"], true);
  EXPECT_EQ(chat_body["top_logprobs"], 2);
  params.temperature = std::nan("");
  EXPECT_THROW(params.write(chat, false), client::Error);
}

TEST(Client, StreamsWhatGenerateGives) {
  const ModelFile model;
  Engine engine(model.path(), quick_engine());
  const client::SamplingParams params = seeded_params(30);
  const client::Answer whole = engine.generate("ab", params).front();
  EXPECT_EQ(whole.tokens.size(), 30u);
  std::string text;
  std::vector<int32_t> tokens;
  Finish finish = Finish::none;
  client::Request request = engine.start(engine.tokenize("ab"), params);
  for (const Event& event : request) {
    EXPECT_EQ(finish, Finish::none);
    text += event.text;
    tokens.insert(tokens.end(), event.tokens.begin(), event.tokens.end());
    finish = event.finish;
  }
  EXPECT_EQ(text, whole.text);
  EXPECT_EQ(tokens, whole.tokens);
  EXPECT_EQ(finish, Finish::length);
  Event none;
  EXPECT_EQ(request.next_for(std::chrono::milliseconds(0), none), client::Request::Wait::ended);
}

TEST(Client, EndsAnswersWhenTheCallbackHasEnough) {
  const ModelFile model(kLongModel);
  Engine engine(model.path(), quick_engine());
  int events = 0;
  const auto answers = engine.start_json(ARION_COMPLETION, kLongRequest).finish([&](const Event&) {
    return ++events < 3;
  });
  EXPECT_EQ(answers.front().finish, Finish::cancelled);
  EXPECT_GE(answers.front().tokens.size(), 3u);
}

TEST(Client, ChatsByTheTemplate) {
  const ModelFile model;
  Engine engine(model.path(), quick_engine());
  const std::vector<client::Message> messages = {{"user", "say \"a\"\n"}};
  EXPECT_EQ(engine.render_chat(messages),
            "<|im_start|>user\nsay \"a\"\n<|im_end|>\n<|im_start|>assistant\n");
  const client::Answer answer = engine.chat(messages, seeded_params(5)).front();
  EXPECT_EQ(answer.tokens.size(), 5u);
}

TEST(Client, ThrowsWhatTheLibraryRefuses) {
  const ModelFile model;
  Engine engine(model.path(), quick_engine());
  client::SamplingParams params;
  params.temperature = -1;
  try {
    engine.generate("a", params);
    FAIL();
  } catch (const client::Error& error) {
    EXPECT_EQ(error.status(), ARION_BAD_INPUT);
    EXPECT_NE(std::string(error.what()).find("temperature"), std::string::npos);
  }
  EXPECT_THROW(Engine("no-such-model"), client::Error);
  client::EngineOptions options = quick_engine();
  options.progress = [](uint64_t, uint64_t) -> bool { throw std::runtime_error("enough"); };
  EXPECT_THROW(Engine(model.path(), options), std::runtime_error);
  Engine moved = std::move(engine);
  EXPECT_EQ(moved.generate("a", seeded_params(2)).size(), 1u);
}

}  // namespace
}  // namespace arion::test

// Cases of the corpus about streams, contexts and robustness, over HTTP. Where the data name a
// fixture model, a runner that says the same stands in for it.
#include <array>
#include <atomic>
#include <map>

#include "server/test_server.h"
#include "test_data.h"

namespace arion::test {
namespace {

using nlohmann::json;

std::filesystem::path case_file(const std::string& name) {
  return corpus_dir() / "cases" / name;
}

json read_case(const std::string& name) {
  return json::parse(read_file(case_file(name)));
}

FakeOptions small_context(FakeOptions fake) {
  fake.context = 64;
  return fake;
}

// Bytes of the answer to "A", one token each.
FakeOptions chain_fixture(std::string bytes) {
  return {.model = [bytes = "A" + std::move(bytes)](std::span<const TokenId> visible,
                                                    std::span<float> logits) {
    const size_t next = visible.size() < bytes.size() ? visible.size() : bytes.size();
    std::fill(logits.begin(), logits.end(), 0.0f);
    const TokenId token = next == bytes.size() ? kEos : static_cast<uint8_t>(bytes[next]);
    logits[static_cast<size_t>(token)] = 20;
  }};
}

// Every token: B 3, C 2, D 1, the others -8.
FakeOptions iid_fixture() {
  return {.model = [](std::span<const TokenId>, std::span<float> logits) {
    std::fill(logits.begin(), logits.end(), -8.0f);
    logits['B'] = 3;
    logits['C'] = 2;
    logits['D'] = 1;
  }};
}

json with(json body, const char* field, json value) {
  body[field] = std::move(value);
  return body;
}

// The chunks of a stream, which must end as one does.
std::vector<json> chunks_of(const Response& response) {
  std::vector<std::string> events = response.events();
  EXPECT_FALSE(events.empty()) << response.body;
  if (events.empty()) return {};
  EXPECT_EQ(events.back(), "[DONE]");
  events.pop_back();
  std::vector<json> chunks;
  for (const std::string& event : events) chunks.push_back(json::parse(event));
  return chunks;
}

// Of text or chat chunks.
std::string text_of(const json& choice) {
  if (choice.contains("text")) return choice["text"];
  return choice["delta"].value("content", "");
}

TEST(Cases, ACharacterOfSeveralTokensIsSentWhole) {  // 022
  ARION_REQUIRE_CORPUS(case_file("022"));
  const json expected = read_case("022/expect.json"), body = read_case("022/request.json");
  TestServer server(chain_fixture(" \xF0\x9F\x98\x80!\xC3\xA9."));
  const json whole = server.complete(body.dump()).json();
  EXPECT_EQ(whole["choices"][0]["text"], expected["text"]);
  EXPECT_EQ(whole["choices"][0]["finish_reason"], expected["finish_reason"]);
  EXPECT_EQ(whole["usage"]["completion_tokens"], expected["completion_tokens"]);
  std::string text;
  for (const json& chunk : chunks_of(server.complete(with(body, "stream", true).dump()))) {
    const std::string piece = text_of(chunk["choices"][0]);
    EXPECT_EQ(piece.find("\xEF\xBF\xBD"), std::string::npos);
    text += piece;
  }
  EXPECT_EQ(text, expected["text"]);
}

TEST(Cases, UsageIsSentOnRequestAlone) {  // 026
  ARION_REQUIRE_CORPUS(case_file("026"));
  TestServer server;
  for (const json& asked : read_case("026/requests.json")) {
    const json& body = asked["body"];
    const std::string path = asked["path"];
    const Response response = server.post(path, body.dump());
    if (!body["stream"].get<bool>()) {
      EXPECT_TRUE(response.status == 400 || response.status == 200) << response.body;
      continue;
    }
    std::vector<json> chunks = chunks_of(response);
    if (body.contains("stream_options")) {
      json plain = with(body, "stream", false);
      plain.erase("stream_options");
      ASSERT_FALSE(chunks.empty());
      EXPECT_EQ(chunks.back()["choices"], json::array());
      const json usage = chunks.back()["usage"];
      const json whole = server.post(path, plain.dump()).json()["usage"];
      for (const char* count : {"prompt_tokens", "completion_tokens", "total_tokens"}) {
        EXPECT_EQ(usage[count], whole[count]) << count;
      }
      EXPECT_EQ(usage["total_tokens"],
                usage["prompt_tokens"].get<int>() + usage["completion_tokens"].get<int>());
      chunks.pop_back();
    }
    for (const json& chunk : chunks) {
      EXPECT_FALSE(chunk["choices"].empty());
      EXPECT_TRUE(!chunk.contains("usage") || chunk["usage"].is_null()) << chunk;
    }
  }
}

// One list per token of the answer: its text, and the log probabilities of the best.
std::vector<std::pair<std::string, std::map<std::string, double>>> logprobs_of(const json& object) {
  std::vector<std::pair<std::string, std::map<std::string, double>>> out;
  if (object.contains("tokens")) {
    for (size_t i = 0; i < object["tokens"].size(); ++i) {
      out.emplace_back(object["tokens"][i], object["top_logprobs"][i]);
    }
    return out;
  }
  for (const json& entry : object["content"]) {
    auto& token = out.emplace_back(entry["token"], std::map<std::string, double>());
    for (const json& top : entry["top_logprobs"]) {
      token.second.emplace(top["token"], top["logprob"].get<double>());
    }
  }
  return out;
}

TEST(Cases, LogprobsOfStreamsAreThoseOfWholeAnswers) {  // 028
  ARION_REQUIRE_CORPUS(case_file("028"));
  const json expected = read_case("028/expect.json");
  const std::map<std::string, double> top = expected["top3"];
  TestServer server(iid_fixture());
  for (const json& asked : read_case("028/requests.json")) {
    const std::string path = asked["path"];
    const json whole = server.post(path, asked["body"].dump()).json()["choices"][0]["logprobs"];
    const auto entries = logprobs_of(whole);
    ASSERT_EQ(entries.size(), expected["n"]);
    for (const auto& [token, best] : entries) {
      EXPECT_EQ(token, expected["token"]);
      ASSERT_EQ(best.size(), top.size());
      for (const auto& [text, value] : top)
        EXPECT_NEAR(best.at(text), value, expected["tolerance"]);
    }
    auto streamed = entries;
    streamed.clear();
    for (const json& chunk :
         chunks_of(server.post(path, with(asked["body"], "stream", true).dump()))) {
      const json& choice = chunk["choices"][0];
      if (!choice.contains("logprobs") || choice["logprobs"].is_null()) continue;
      for (auto& entry : logprobs_of(choice["logprobs"])) streamed.push_back(std::move(entry));
    }
    EXPECT_EQ(streamed, entries) << path;
  }
}

TEST(Cases, SeveralChoicesStreamTheirLogprobs) {  // 030
  ARION_REQUIRE_CORPUS(case_file("030"));
  const json body = read_case("030/request.json");
  TestServer server(iid_fixture());
  std::map<int, size_t> tokens, ends;
  for (const json& chunk : chunks_of(server.complete(body.dump()))) {
    EXPECT_FALSE(chunk.contains("error")) << chunk;
    for (const json& choice : chunk["choices"]) {
      const int index = choice["index"];
      if (!choice["finish_reason"].is_null()) ++ends[index];
      if (choice["logprobs"].is_null()) continue;
      tokens[index] += choice["logprobs"]["token_logprobs"].size();
      for (const json& value : choice["logprobs"]["token_logprobs"]) EXPECT_LT(value, 0);
    }
  }
  EXPECT_EQ(tokens, (std::map<int, size_t>{{0, 3}, {1, 3}, {2, 3}}));
  EXPECT_EQ(ends, (std::map<int, size_t>{{0, 1}, {1, 1}, {2, 1}}));
}

TEST(Cases, AnswersEndWithTheContext) {  // 092
  ARION_REQUIRE_CORPUS(case_file("092"));
  TestServer server(small_context(endless_fixture()));
  for (const json& body : read_case("092/requests.json")) {
    const Response response = server.complete(body.dump());
    const size_t prompt = body["prompt"].get<std::string>().size();
    if (prompt >= 64) {
      EXPECT_EQ(response.status, 400) << response.body;
      continue;
    }
    ASSERT_EQ(response.status, 200) << response.body;
    const json choice = response.json()["choices"][0];
    EXPECT_EQ(choice["finish_reason"], "length");
    std::string cycle;
    for (size_t i = 0; i < 64 - prompt; ++i) cycle += static_cast<char>('a' + (i + 1) % 26);
    EXPECT_EQ(choice["text"], cycle);
  }
  EXPECT_EQ(server.complete(R"({"prompt":"a","temperature":0,"max_tokens":null})").status, 200);
}

TEST(Cases, TokensOutsideTheVocabularyAreRefused) {  // 118
  ARION_REQUIRE_CORPUS(case_file("118"));
  TestServer server;
  for (const json& asked : read_case("118/requests.json")) {
    EXPECT_EQ(server.complete(asked["body"].dump()).status, asked["status"]) << asked["body"];
  }
  EXPECT_TRUE(server.is_alive());
}

TEST(Cases, PromptsAroundTheContextNeverAbort) {  // 122
  ARION_REQUIRE_CORPUS(case_file("122"));
  TestServer server(small_context(endless_fixture()));
  json body = read_case("122/request_template.json");
  for (const size_t length : read_case("122/lengths.json")) {
    body["prompt"] = std::string(length, 'a');
    for (const json& max_tokens : {json(), json(10)}) {
      for (const bool streams : {false, true}) {
        body["max_tokens"] = max_tokens;
        const Response response = server.complete(with(body, "stream", streams).dump());
        if (length >= 64) {
          ASSERT_EQ(response.status, 400);
          const json error = response.json()["error"];  // no event, in streams as well
          const std::string message = error["message"];
          EXPECT_NE(message.find(std::to_string(length)), std::string::npos) << message;
          EXPECT_NE(message.find("64"), std::string::npos) << message;
          EXPECT_EQ(error["code"], "context_length_exceeded");
          continue;
        }
        ASSERT_EQ(response.status, 200);
        const json last = streams ? chunks_of(response).back() : response.json();
        EXPECT_EQ(last["choices"][0]["finish_reason"], "length");
        if (!streams) {
          EXPECT_EQ(last["usage"]["completion_tokens"], 64 - length);
        }
      }
    }
  }
  EXPECT_TRUE(server.is_alive());
}

TEST(Cases, EveryPromptHasItsChoices) {  // 124
  ARION_REQUIRE_CORPUS(case_file("124"));
  const json expected = read_case("124/expect.json"), asked = read_case("124/request.json");
  // "DEF" as the end of a prompt is three tokens here, and one of the fixture.
  const FakeModel model = stop_fixture().model;
  TestServer server({.model = [model](std::span<const TokenId> visible, std::span<float> logits) {
    const TokenId last = visible.back() == 'F' ? kFirstWord : visible.back();
    model(std::span(&last, 1), logits);
  }});
  for (const size_t n : {size_t{1}, size_t{2}}) {
    for (const bool echo : {false, true}) {
      const json body = with(with(asked, "n", n), "echo", echo);
      const std::vector<std::string> texts = expected[echo ? "with_echo" : "texts_by_index"];
      const json whole = server.complete(body.dump()).json();
      std::map<size_t, std::string> streamed;
      for (const json& chunk : chunks_of(server.complete(with(body, "stream", true).dump()))) {
        for (const json& choice : chunk["choices"]) {
          streamed[choice["index"].get<size_t>()] += choice["text"].get<std::string>();
        }
      }
      ASSERT_EQ(whole["choices"].size(), texts.size() * n);
      EXPECT_EQ(streamed.size(), texts.size() * n);
      for (size_t i = 0; i < texts.size() * n; ++i) {
        EXPECT_EQ(whole["choices"][i]["index"], i);
        EXPECT_EQ(whole["choices"][i]["text"], texts[i / n]);
        EXPECT_EQ(streamed[i], texts[i / n]);
      }
      EXPECT_EQ(whole["usage"]["total_tokens"], whole["usage"]["prompt_tokens"].get<int>() +
                                                    whole["usage"]["completion_tokens"].get<int>());
    }
  }
}

// Case 116: arrays and objects in every field that takes some.
TEST(Cases, DeepJsonIsRefusedOrIgnoredInEveryField) {
  const auto nest = [](size_t depth, const std::string& open, const std::string& close) {
    std::string text;
    for (size_t i = 0; i < depth; ++i) text += open;
    text += "0";
    for (size_t i = 0; i < depth; ++i) text += close;
    return text;
  };
  const std::string chat = R"({"max_tokens":1,"messages":[{"role":"user","content":"A"}],)";
  const std::array<std::pair<std::string, std::string>, 7> around{{
      {R"({"prompt":"A","max_tokens":1,"x":)", "}"},
      {chat + R"("tools":)", "}"},
      {chat + R"("tools":[{"type":"function","function":{"name":"f","parameters":)", "}}]}"},
      {R"({"messages":[{"role":"user","content":)", "}]}"},
      {chat + R"("response_format":{"type":"json_schema","json_schema":{"name":"s","schema":)",
       "}}}"},
      {chat + R"("chat_template_kwargs":{"a":)", "}}"},
      {"", ""},
  }};
  TestServer server;
  for (const auto& [before, behind] : around) {
    const bool is_completion = before.find("prompt") != std::string::npos;
    for (const size_t depth : {100, 3'000, 10'000, 200'000}) {
      for (const auto& [open, close] : {std::pair("[", "]"), std::pair("{\"a\":", "}")}) {
        const Response response =
            server.post(is_completion ? "/v1/completions" : "/v1/chat/completions",
                        before + nest(depth, open, close) + behind);
        EXPECT_TRUE(response.status == 400 || (response.status == 200 && depth == 100))
            << before << depth << ": " << response.status;
      }
    }
  }
  EXPECT_EQ(server.complete(std::string(1'000'000, '[')).status, 400);
  EXPECT_TRUE(server.is_alive());
}

// Case 120: the only place is free again, whatever the client was waiting for when it left.
TEST(Cases, ClientsThatLeaveFreeThePlace) {
  FakeOptions fake = endless_fixture();
  fake.context = 70'000;
  TestServer server(std::move(fake), quick_options(),
                    {.max_sequences = 1, .checks_integrity = true});
  std::atomic<bool> has_stepped = false;
  server.runner().before_step = [&](const BatchPlan&) {
    has_stepped = true;
    has_stepped.notify_all();
  };
  const json request{{"prompt", "a"}, {"max_tokens", 60'000}, {"temperature", 0}};
  const std::string streamed = with(request, "stream", true).dump();
  const std::string long_prompt = with(request, "prompt", std::string(30'000, 'a')).dump();
  for (int i = 0; i < 50; ++i) {
    const auto leave = [&](HttpClient& client) { i % 2 == 0 ? client.reset() : client.close(); };
    for (const std::string& body : {request.dump(), long_prompt}) {
      HttpClient client(server.port());
      has_stepped = false;
      client.post("/v1/completions", body);
      has_stepped.wait(false);
      leave(client);
      EXPECT_TRUE(server.is_alive());
    }
    HttpClient running(server.port()), queued(server.port());
    running.post("/v1/completions", streamed);
    EXPECT_TRUE(running.wait_for("data: "));
    queued.post("/v1/completions", streamed);
    leave(queued);
    leave(running);
    EXPECT_TRUE(server.is_alive());
  }
}

}  // namespace
}  // namespace arion::test

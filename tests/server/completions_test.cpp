// Answers over real sockets: whole and streamed, plain and chat.
#include <set>

#include "server/test_server.h"

namespace arion::test {
namespace {

using nlohmann::json;

// What a stream says of one choice, put together.
struct Streamed {
  std::string text;
  json logprobs = json::array();
  std::vector<std::string> finish;
  int first_roles = 0;
};

std::map<int, Streamed> put_together(const Response& response) {
  std::map<int, Streamed> choices;
  const auto events = response.events();
  EXPECT_FALSE(events.empty());
  for (const std::string& event : events) {
    if (event == "[DONE]") continue;
    const json chunk = json::parse(event);
    EXPECT_FALSE(chunk.contains("error")) << event;
    for (const json& choice : chunk["choices"]) {
      Streamed& out = choices[choice["index"]];
      if (choice.contains("delta")) {
        out.text += choice["delta"].value("content", "");
        out.first_roles += choice["delta"].contains("role") ? 1 : 0;
      } else {
        out.text += choice["text"];
      }
      if (!choice["finish_reason"].is_null()) out.finish.push_back(choice["finish_reason"]);
      if (choice["logprobs"].is_null()) continue;
      const json& list = choice["logprobs"].contains("content")
                             ? choice["logprobs"]["content"]
                             : choice["logprobs"]["token_logprobs"];
      for (const json& entry : list) out.logprobs.push_back(entry);
    }
  }
  EXPECT_EQ(events.back(), "[DONE]");
  return choices;
}

TEST(Completions, AnswersAWholeCompletion) {
  TestServer server;
  const Response response =
      server.complete(R"({"model":"tiny","prompt":"A","max_tokens":64,"temperature":0})");
  ASSERT_EQ(response.status, 200) << response.body;
  const json body = response.json();
  EXPECT_EQ(body["object"], "text_completion");
  EXPECT_EQ(body["model"], "tiny");
  EXPECT_EQ(body["choices"][0]["text"], "BCDEFGHIJK");
  EXPECT_EQ(body["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(body["usage"]["prompt_tokens"], 1);
  EXPECT_EQ(body["usage"]["completion_tokens"], 8);  // the end token is one
  EXPECT_EQ(body["usage"]["total_tokens"], 9);
}

TEST(Completions, StreamsTheSameTextAsTheWholeAnswer) {
  TestServer server;
  for (const char* stop : {R"([])", R"("DE")", R"(["DEFGHI"])", R"(["GHIJKL","DEF"])"}) {
    const std::string request =
        std::string(R"("prompt":"A","max_tokens":64,"temperature":0,"stop":)") + stop + "}";
    const json whole = server.complete("{" + request).json();
    const auto streamed = put_together(server.complete(R"({"stream":true,)" + request));
    ASSERT_EQ(streamed.size(), 1u);
    EXPECT_EQ(streamed.at(0).text, whole["choices"][0]["text"]) << stop;
    EXPECT_EQ(streamed.at(0).finish, std::vector<std::string>{"stop"});
    EXPECT_EQ(streamed.at(0).text, stop == std::string("[]") ? "BCDEFGHIJK" : "BC") << stop;
  }
}

TEST(Completions, SendsUsageOnlyWhenAskedAndLast) {
  TestServer server;
  const std::string request = R"("prompt":"A","max_tokens":64,"temperature":0,"stream":true)";
  for (const std::string& event : server.complete("{" + request + "}").events()) {
    EXPECT_EQ(event.find("usage"), std::string::npos) << event;
  }
  const auto events =
      server.complete("{" + request + R"(,"stream_options":{"include_usage":true}})").events();
  ASSERT_GE(events.size(), 3u);
  const json last = json::parse(events[events.size() - 2]);
  EXPECT_TRUE(last["choices"].empty());
  EXPECT_EQ(last["usage"]["total_tokens"], 9);
  for (size_t i = 0; i + 2 < events.size(); ++i) {
    EXPECT_EQ(json::parse(events[i])["choices"].size(), 1u);
  }
}

TEST(Completions, GivesEveryChoiceItsIndexPromptByPrompt) {
  TestServer server;
  const std::string request = R"("prompt":["A","C","I"],"max_tokens":20,"temperature":0,"n":2)";
  const json whole = server.complete("{" + request + "}").json();
  const auto streamed = put_together(server.complete("{" + request + R"(,"stream":true})"));
  const std::vector<std::string> texts{"BCDEFGHIJK", "DEFGHIJK", "JK"};
  ASSERT_EQ(whole["choices"].size(), 6u);
  ASSERT_EQ(streamed.size(), 6u);
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(whole["choices"][i]["index"], i);
    EXPECT_EQ(whole["choices"][i]["text"], texts[i / 2]);
    EXPECT_EQ(streamed.at(i).text, texts[i / 2]);
  }
  EXPECT_EQ(whole["usage"]["prompt_tokens"], 3);
}

TEST(Completions, EchoesPromptsOfTextAndTokens) {
  TestServer server;
  EXPECT_EQ(server.complete(R"({"prompt":[65],"max_tokens":3,"temperature":0,"echo":true})")
                .json()["choices"][0]["text"],
            "ABCDEF");
  const auto streamed = put_together(server.complete(
      R"({"prompt":"zA","max_tokens":3,"temperature":0,"echo":true,"stream":true})"));
  EXPECT_EQ(streamed.at(0).text, "zABCDEF");
}

// As evaluations ask: the log probabilities of a text that is given.
TEST(Completions, EchoLogprobsOfThePromptWithOrWithoutAnAnswer) {
  TestServer server({.vocab = 261});
  const std::string request = R"("temperature":0,"logprobs":1,"echo":true,"max_tokens":)";
  // An answer's own log probabilities are the truth.
  const json answer =
      server.complete(R"({"prompt":"AB","max_tokens":1,"temperature":0,"logprobs":1})").json();
  const json& chosen = answer["choices"][0]["logprobs"];
  const std::string longer = "AB" + chosen["tokens"][0].get<std::string>();
  for (const int max_tokens : {0, 1}) {
    const json body = json::parse(
        server
            .complete(
                "{" + request + std::to_string(max_tokens) + R"(,"prompt":[[65,66],)" +
                server.post("/tokenize", json{{"prompt", longer}}.dump()).json()["tokens"].dump() +
                "]}")
            .body);
    const json& first = body["choices"][0]["logprobs"];
    const json& second = body["choices"][1]["logprobs"];
    EXPECT_EQ(first["tokens"].size(), 2u + static_cast<size_t>(max_tokens));
    EXPECT_EQ(first["token_logprobs"][0], nullptr);
    EXPECT_EQ(first["top_logprobs"][0], nullptr);
    EXPECT_EQ(second["tokens"].size(), 3u + static_cast<size_t>(max_tokens));
    EXPECT_EQ(second["token_logprobs"][1], first["token_logprobs"][1]);
    EXPECT_EQ(second["token_logprobs"][2], chosen["token_logprobs"][0]);
    EXPECT_EQ(second["top_logprobs"][2], chosen["top_logprobs"][0]);
    EXPECT_EQ(body["choices"][0]["finish_reason"], "length");
  }
  const auto events = server.complete("{" + request + R"(0,"prompt":"AB","stream":true})").events();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(json::parse(events[0])["choices"][0]["logprobs"]["tokens"], json({"A", "B"}));
}

// The same numbers as an echo has, by the ids of the tokens.
TEST(Completions, JudgeThePromptInAListOfItsOwn) {
  TestServer server({.vocab = 261});
  const std::string request = R"("prompt":[[65,66,67],[66]],"temperature":0,)";
  const json echo = server
                        .complete("{" + request +
                                  R"("max_tokens":0,"echo":true,"logprobs":3,"prompt_logprobs":2})")
                        .json();
  for (const int max_tokens : {0, 1}) {
    const json body = server
                          .complete("{" + request + R"("prompt_logprobs":2,"max_tokens":)" +
                                    std::to_string(max_tokens) + "}")
                          .json();
    const json& list = body["choices"][0]["prompt_logprobs"];
    ASSERT_EQ(list.size(), 3u) << body;
    EXPECT_EQ(list, echo["choices"][0]["prompt_logprobs"]);
    EXPECT_EQ(list[0], nullptr);
    EXPECT_EQ(body["choices"][1]["prompt_logprobs"], json::array({nullptr}));
    const json& logprobs = echo["choices"][0]["logprobs"];
    EXPECT_GE(logprobs["top_logprobs"][1].size(), 3u);
    for (size_t i = 1; i < 3; ++i) {
      const std::string token = std::to_string('A' + i);
      const json& entry = list[i][token];
      EXPECT_EQ(entry["logprob"], logprobs["token_logprobs"][i]);
      EXPECT_EQ(entry["decoded_token"], std::string(1, static_cast<char>('A' + i)));
      EXPECT_TRUE(list[i].size() == 2u || list[i].size() == 3u);
      std::set<int> ranks;
      for (const auto& [id, rival] : list[i].items()) {
        EXPECT_EQ(rival["logprob"] > entry["logprob"], rival["rank"] < entry["rank"]) << list[i];
        ranks.insert(rival["rank"].get<int>());
      }
      EXPECT_EQ(ranks.size(), list[i].size());
      EXPECT_EQ(*ranks.begin(), 1);
    }
  }
  EXPECT_EQ(server.complete("{" + request + R"("prompt_logprobs":1,"stream":true})").status, 400);
  EXPECT_EQ(server.complete("{" + request + R"("prompt_logprobs":-1})").status, 400);
  EXPECT_EQ(server.complete("{" + request + R"("max_tokens":0})").status, 400);
}

TEST(Completions, CountCachedTokensOfThePrompt) {
  TestServer server;
  const std::string request = json{{"prompt", std::string(100, 'x') + "A"}}.dump();
  EXPECT_EQ(server.complete(request).json()["usage"]["prompt_tokens_details"]["cached_tokens"], 0);
  EXPECT_GE(server.complete(request).json()["usage"]["prompt_tokens_details"]["cached_tokens"], 64);
  EXPECT_NE(server.get("/metrics").body.find("vllm:prefix_cache_hits_total"), std::string::npos);
}

TEST(Completions, ListsLogprobsOfEveryTokenInStreamsAsInWholeAnswers) {
  TestServer server({.vocab = 261});
  const std::string request =
      R"("prompt":"A","max_tokens":6,"temperature":1,"seed":7,"n":3,"logprobs":2,"stop":["ZZ"])";
  const json whole = server.complete("{" + request + "}").json();
  const auto streamed = put_together(server.complete("{" + request + R"(,"stream":true})"));
  std::set<std::string> texts;
  for (int i = 0; i < 3; ++i) {
    const json& logprobs = whole["choices"][i]["logprobs"];
    EXPECT_EQ(streamed.at(i).logprobs, logprobs["token_logprobs"]);
    EXPECT_EQ(streamed.at(i).text, whole["choices"][i]["text"]);
    for (const char* list : {"tokens", "text_offset", "top_logprobs"}) {
      EXPECT_EQ(logprobs[list].size(), logprobs["token_logprobs"].size());
    }
    for (const json& top : logprobs["top_logprobs"]) EXPECT_GE(top.size(), 2u);
    texts.insert(streamed.at(i).text);
  }
  EXPECT_GT(texts.size(), 1u);
}

TEST(Completions, SendsOnlyWholeCharacters) {
  // "A" begins the bytes of a smiling face.
  TestServer server({.model = [](std::span<const TokenId> visible, std::span<float> logits) {
    static const std::vector<TokenId> kChain = {'A', 0xF0, 0x9F, 0x98, 0x80, '!', kEos};
    std::fill(logits.begin(), logits.end(), 0.0f);
    const auto at = std::find(kChain.begin(), kChain.end() - 1, visible.back());
    logits[static_cast<size_t>(at == kChain.end() - 1 ? TokenId{'?'} : *(at + 1))] = 20;
  }});
  const std::string request = R"({"prompt":"A","max_tokens":10,"temperature":0,"stream":true})";
  const Response response = server.complete(request);
  EXPECT_EQ(put_together(response).at(0).text, "\xF0\x9F\x98\x80!");
  EXPECT_EQ(response.body.find("\xEF\xBF\xBD"), std::string::npos);
}

TEST(Completions, NamesWhyAnAnswerEnded) {
  TestServer server;
  const auto choice = [&](const std::string& more) {
    return server.complete(R"({"prompt":"A","temperature":0,)" + more + "}").json()["choices"][0];
  };
  EXPECT_EQ(choice(R"("max_tokens":3)")["finish_reason"], "length");
  EXPECT_EQ(choice(R"("max_tokens":64,"stop":["I"])")["stop_reason"], "I");
  EXPECT_EQ(choice(R"("max_tokens":64,"stop_token_ids":[74])")["stop_reason"], 74);
  EXPECT_EQ(choice(R"("max_tokens":64)")["stop_reason"], nullptr);
  EXPECT_EQ(choice(R"("stop":"EF","include_stop_str_in_output":true)")["text"], "BCDEF");
}

TEST(Chats, AnswersAndStreamsMessages) {
  TestServer server;
  const std::string request =
      R"("messages":[{"role":"user","content":"hi"}],"temperature":0,"max_tokens":64)";
  const Response response = server.post("/v1/chat/completions", "{" + request + "}");
  ASSERT_EQ(response.status, 200) << response.body;
  const json body = response.json();
  EXPECT_EQ(body["object"], "chat.completion");
  EXPECT_EQ(body["choices"][0]["message"]["content"], "BCDEFGHIJK");
  EXPECT_EQ(body["choices"][0]["message"]["role"], "assistant");
  EXPECT_EQ(body["usage"]["prompt_tokens"], std::string("user:hi;A").size());
  const auto streamed =
      put_together(server.post("/v1/chat/completions", "{" + request + R"(,"stream":true,"n":2})"));
  ASSERT_EQ(streamed.size(), 2u);
  for (const auto& [index, choice] : streamed) {
    EXPECT_EQ(choice.text, "BCDEFGHIJK");
    EXPECT_EQ(choice.first_roles, 1);
    EXPECT_EQ(choice.finish, std::vector<std::string>{"stop"});
  }
}

TEST(Chats, ListsLogprobsWithTheBytesOfTokens) {
  TestServer server;
  const std::string request =
      R"("messages":[{"role":"user","content":"x"}],"temperature":0,"max_tokens":3,)"
      R"("logprobs":true,"top_logprobs":2)";
  const json whole = server.post("/v1/chat/completions", "{" + request + "}").json();
  const json& content = whole["choices"][0]["logprobs"]["content"];
  ASSERT_EQ(content.size(), 3u);
  EXPECT_EQ(content[2]["token"], "DEF");
  EXPECT_EQ(content[2]["bytes"], json({68, 69, 70}));
  EXPECT_EQ(content[2]["top_logprobs"].size(), 2u);
  const auto streamed =
      put_together(server.post("/v1/chat/completions", "{" + request + R"(,"stream":true})"));
  EXPECT_EQ(streamed.at(0).logprobs, content);
}

TEST(Chats, JudgeThePromptOnceForAllChoices) {
  TestServer server({.vocab = 261});
  const json body = server
                        .post("/v1/chat/completions",
                              R"({"messages":[{"role":"user","content":"x"}],"max_tokens":1,"n":2,
                                  "prompt_logprobs":0})")
                        .json();
  ASSERT_EQ(body["choices"].size(), 2u) << body;
  const json& list = body["prompt_logprobs"];
  ASSERT_EQ(list.size(), std::string("user:x;A").size());
  EXPECT_EQ(list[1].size(), 1u);
  EXPECT_TRUE(list[1].contains(std::to_string('s')));
}

TEST(Chats, GivesNoContentAsEmptyText) {
  TestServer server;
  const Response response = server.post("/tokenize", R"({"messages":[
      {"role":"user","content":"hi"},
      {"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function",
       "function":{"name":"get","arguments":"{\"city\": \"Paris\"}"}}]},
      {"role":"tool","tool_call_id":"c","content":"ok"}]})");
  ASSERT_EQ(response.status, 200) << response.body;
  const std::string tokens = response.json()["tokens"].dump();
  const json text = server.post("/detokenize", R"({"tokens":)" + tokens + "}").json();
  EXPECT_EQ(text["prompt"], "user:hi;assistant:;tool:ok;A");
}

TEST(Errors, OfTheModelReachTheClientAsJson) {
  TestServer server({.model = [](std::span<const TokenId> visible, std::span<float> logits) {
    std::fill(logits.begin(), logits.end(), 0.0f);
    logits['x'] = 20;
    if (visible.size() > 2) logits['A'] = std::numeric_limits<float>::quiet_NaN();
  }});
  for (const char* temperature : {"0", "1"}) {
    const std::string more =
        std::string(R"("max_tokens":9,"logprobs":1,"temperature":)") + temperature + "}";
    const Response whole = server.complete(R"({"prompt":"AAA",)" + more);
    EXPECT_EQ(whole.status, 500);
    EXPECT_NE(whole.json()["error"]["message"].get<std::string>().find("not a number"),
              std::string::npos)
        << whole.body;
    const auto events = server.complete(R"({"prompt":"A","stream":true,)" + more).events();
    if (events.empty()) continue;  // nothing had been sent: an error of HTTP
    EXPECT_EQ(events.back(), "[DONE]");
    EXPECT_TRUE(json::parse(events[events.size() - 2]).contains("error"));
  }
  EXPECT_TRUE(server.is_alive());
}

}  // namespace
}  // namespace arion::test

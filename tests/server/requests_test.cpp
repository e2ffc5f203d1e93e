// What is refused, and how: one body and the field its error names.
#include "server/test_server.h"

namespace arion::test {
namespace {

using nlohmann::json;

struct BadBody {
  const char* body;
  const char* param;
  const char* part;  // of the message
};

TEST(BadRequests, NameTheFieldAndWhatIsExpected) {
  TestServer server;
  const BadBody kBodies[] = {
      {R"([])", "", "expected an object"},
      {R"({"prompt":)", "", "not valid JSON at byte 11"},
      {"\xff", "", "not valid JSON"},
      {R"({})", "prompt", "no prompt"},
      {R"({"prompt":5})", "prompt", "expected a string"},
      {R"({"prompt":[]})", "prompt", "expected a string"},
      {R"({"prompt":[[]]})", "prompt", "no tokens"},
      {R"({"prompt":[65,"B"]})", "prompt", "expected token ids"},
      {R"({"prompt":[-1]})", "prompt", "-1"},
      {R"({"prompt":[1.5]})", "prompt", "1.5"},
      {R"({"prompt":[320]})", "prompt", "expected 0 to 260"},
      {R"({"prompt":[65,4294967296]})", "prompt", "4294967296"},
      {R"({"prompt":[65,18446744073709551615]})", "prompt", "18446744073709551615"},
      {R"({"prompt":"A","temperature":-0.1})", "temperature", "from 0 to 100"},
      {R"({"prompt":"A","temperature":"hot"})", "temperature", "expected a number"},
      {R"({"prompt":"A","temperature":1e400})", "", "not valid JSON: a number is out of range"},
      {R"({"prompt":"A","top_p":1.5})", "top_p", "from 0 to 1"},
      {R"({"prompt":"A","top_k":-2})", "top_k", "from -1"},
      {R"({"prompt":"A","n":0})", "n", "from 1"},
      {R"({"prompt":"A","n":100000})", "n", "from 1"},
      {R"({"prompt":["A","A"],"n":1000})", "n", "at most 1024"},
      {R"({"prompt":"A","max_tokens":0})", "max_tokens", "unless the prompt is echoed"},
      {R"({"prompt":"A","max_tokens":1.5})", "max_tokens", "whole number"},
      {R"({"prompt":"A","max_tokens":true})", "max_tokens", "whole number"},
      {R"({"prompt":"A","stream":"yes"})", "stream", "true or false"},
      {R"({"prompt":"A","stream_options":{"include_usage":true}})", "stream_options", "stream"},
      {R"({"prompt":"A","stream":true,"stream_options":{"include_usage":1}})",
       "stream_options.include_usage", "true or false"},
      {R"({"prompt":"A","typical_p":0})", "", "typical_p"},
      {R"({"prompt":"A","typical_p":"x"})", "typical_p", "expected a number"},
      {R"({"prompt":"A","repeat_penalty":0})", "repeat_penalty", "from 0.01"},
      {R"({"prompt":"A","mirostat":3})", "", "mirostat"},
      {R"({"prompt":"A","dry_multiplier":1e39})", "dry_multiplier", "from"},
      {R"({"prompt":"A","samplers":["best"]})", "", "best"},
      {R"({"prompt":"A","stop":[""]})", "stop", "empty"},
      {R"({"prompt":"A","stop":[5]})", "stop", "strings"},
      {R"({"prompt":"A","stop_token_ids":[-1]})", "stop_token_ids", "-1"},
      {R"({"prompt":"A","logit_bias":{"200000":1}})", "logit_bias", "200000"},
      {R"({"prompt":"A","logit_bias":{"-1":1}})", "logit_bias", "-1"},
      {R"({"prompt":"A","logit_bias":{"98765432109876543210":1}})", "logit_bias", "98765"},
      {R"({"prompt":"A","logit_bias":{"66":"x"}})", "logit_bias.66", "expected a number"},
      {R"({"prompt":"A","logit_bias":[1]})", "logit_bias", "an object"},
      {R"({"prompt":"A","best_of":3})", "best_of", "equals n"},
      {R"({"prompt":"A","suffix":"B"})", "suffix", "not supported"},
      {R"({"prompt":"A","use_beam_search":true})", "use_beam_search", "not supported"},
      {R"({"prompt":"A","guided_json":{}})", "guided_json", "not supported"},
      {R"({"prompt":"A","response_format":{"type":"json_schema"}})", "response_format",
       "only text"},
      {R"({"prompt":"A","seed":1.5})", "seed", "whole number"},
  };
  for (const BadBody& bad : kBodies) {
    const Response response = server.complete(bad.body);
    ASSERT_EQ(response.status, 400) << bad.body << response.body;
    const json error = response.json()["error"];
    EXPECT_NE(error["message"].get<std::string>().find(bad.part), std::string::npos)
        << bad.body << error;
    EXPECT_EQ(error["param"].is_null() ? "" : error["param"].get<std::string>(), bad.param)
        << bad.body;
    EXPECT_EQ(error["type"], "BadRequestError");
  }
  EXPECT_TRUE(server.is_alive());
}

TEST(BadRequests, OfChatsNameWhatIsNotSupported) {
  TestServer server;
  const BadBody kBodies[] = {
      {R"({})", "messages", "absent"},
      {R"({"messages":[]})", "messages", "at least one"},
      {R"({"messages":[5]})", "messages", "message 0"},
      {R"({"messages":[{"role":"user","content":[{"type":"image_url","image_url":{}}]}]})",
       "messages", "image_url"},
      {R"({"messages":[{"role":"user","content":"x"}],"tools":[]})", "tools", "not supported"},
      {R"({"messages":[{"role":"user","content":"x"}],"tool_choice":"auto"})", "tool_choice",
       "not supported"},
      {R"({"messages":[{"role":"user","content":"x"}],"top_logprobs":3})", "top_logprobs",
       "logprobs"},
      {R"({"messages":[{"role":"user","content":"x"}],"max_tokens":0})", "max_tokens", "from 1"},
      {R"({"messages":[{"role":"user","content":"x"}],"continue_final_message":true,)"
       R"("add_generation_prompt":true})",
       "continue_final_message", "exclude"},
  };
  for (const BadBody& bad : kBodies) {
    const Response response = server.post("/v1/chat/completions", bad.body);
    ASSERT_EQ(response.status, 400) << bad.body << response.body;
    const json error = response.json()["error"];
    EXPECT_EQ(error["param"], bad.param) << bad.body;
    EXPECT_NE(error["message"].get<std::string>().find(bad.part), std::string::npos) << error;
  }
}

TEST(Requests, TakeNullForAbsentAndIgnoreWhatTheyDoNotKnow) {
  TestServer server;
  const Response response = server.complete(
      R"({"prompt":"A","max_tokens":2.0,"temperature":0,"stop":null,"n":null,"seed":null,"tools":null,
          "logprobs":null,"user":"me","nonsense":{"a":[1]},"response_format":{"type":"text"},
          "use_beam_search":false})");
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(response.json()["choices"][0]["text"], "BC");
}

TEST(Requests, ForAnUnknownModelAreNotFound) {
  TestServer server;
  EXPECT_EQ(server.complete(R"({"model":"other","prompt":"A"})").status, 200);
  const Response response = server.complete(R"({"model":"gpt-5","prompt":"A"})");
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.json()["error"]["code"], "model_not_found");
}

TEST(Requests, ThatFillTheContextSayHowLongItIs) {
  FakeOptions fake = stop_fixture();
  fake.context = 64;
  TestServer server(fake);
  const auto ask = [&](size_t length) {
    return server.complete(json{{"prompt", std::string(length, 'A')}, {"stream", false}}.dump());
  };
  const Response fits = ask(63);
  ASSERT_EQ(fits.status, 200) << fits.body;
  EXPECT_EQ(fits.json()["choices"][0]["finish_reason"], "length");
  EXPECT_EQ(fits.json()["usage"]["completion_tokens"], 1);
  for (const size_t length : {64, 65, 1000, 100'000}) {
    const Response response = ask(length);
    ASSERT_EQ(response.status, 400);
    const json error = response.json()["error"];
    EXPECT_EQ(error["code"], "context_length_exceeded");
    EXPECT_EQ(error["n_prompt_tokens"], length);
    EXPECT_EQ(error["n_ctx"], 64);
  }
}

TEST(Requests, MayShortenTheirPrompt) {
  TestServer server;
  const json body = server
                        .complete(R"({"prompt":"xxxA","truncate_prompt_tokens":1,"max_tokens":2,
                                      "temperature":0,"echo":true})")
                        .json();
  EXPECT_EQ(body["usage"]["prompt_tokens"], 1);
}

TEST(Requests, DrawTheSameAnswerFromTheSameSeed) {
  TestServer server({.vocab = 261});
  const std::string request = R"({"prompt":"A","max_tokens":20,"temperature":1.5)";
  const json first = server.complete(request + R"(,"seed":-5})").json();
  const json again = server.complete(request + R"(,"seed":-5})").json();
  EXPECT_EQ(first["choices"], again["choices"]);
  const json drawn = server.complete(request + "}").json();
  const json replayed =
      server.complete(request + R"(,"seed":)" + drawn["seed"].dump() + "}").json();
  EXPECT_EQ(drawn["choices"], replayed["choices"]);
}

TEST(Requests, EndWithTheBody) {
  TestServer server;
  const std::string body = R"({"prompt":"A","max_tokens":1})";
  EXPECT_EQ(server.complete(body + "\n ").status, 200);
  for (const std::string& rest :
       {std::string("{}"), std::string(1, '\0'), std::string("\0{}", 3)}) {
    const Response response = server.complete(body + rest);
    EXPECT_EQ(response.status, 400);
    EXPECT_NE(response.body.find("not valid JSON at byte 30"), std::string::npos) << response.body;
  }
}

// Bodies that would overflow the stack or fill the memory of a careless parser.
TEST(Requests, WithDeepJsonAreRefused) {
  TestServer server;
  for (const size_t depth : {3'000, 200'000}) {
    const std::string deep = std::string(depth, '[') + "0" + std::string(depth, ']');
    for (const std::string& body :
         {R"({"prompt":"A","x":)" + deep + "}", R"({"prompt":)" + deep + "}", deep}) {
      EXPECT_EQ(server.complete(body).status, 400);
    }
    EXPECT_EQ(server.post("/v1/chat/completions", R"({"messages":)" + deep + "}").status, 400);
  }
  EXPECT_TRUE(server.is_alive());
}

TEST(Tokens, AreListedAndMadeTextAgain) {
  TestServer server;
  const json tokens =
      server.post("/tokenize", R"({"prompt":"AxB","return_token_strs":true})").json();
  EXPECT_EQ(tokens["tokens"], json({'A', 'x', 'B'}));
  EXPECT_EQ(tokens["count"], 3);
  EXPECT_EQ(tokens["token_strs"], json({"A", "x", "B"}));
  EXPECT_EQ(server.post("/detokenize", R"({"tokens":[65,258,257]})").json()["prompt"],
            "ADEF<|eos|>");
  EXPECT_EQ(server.post("/detokenize", R"({"tokens":[65,261]})").status, 400);
  EXPECT_EQ(server.get("/tokenizer_info").json()["eos_token"], "<|eos|>");
}

TEST(Models, AreListedWithTheirContext) {
  TestServer server;
  const json list = server.get("/v1/models").json();
  ASSERT_EQ(list["data"].size(), 2u);
  EXPECT_EQ(list["data"][0]["id"], "tiny");
  EXPECT_EQ(list["data"][0]["max_model_len"], 1000);
  EXPECT_EQ(server.get("/v1/models/other").json()["root"], "tiny");
  EXPECT_EQ(server.get("/v1/models/none").status, 404);
}

}  // namespace
}  // namespace arion::test

// Clients that misbehave, limits, keys, and how a server ends.
#include <atomic>

#include "server/test_server.h"

namespace arion::test {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr const char* kEndless =
    R"({"prompt":"a","max_tokens":90000,"temperature":0,"stream":true})";

// Until so many requests have been cancelled.
bool have_aborted(TestServer& server, int count) {
  const std::string line = "finished_reason=\"abort\"} " + std::to_string(count) + "\n";
  for (int i = 0; i < 2000; ++i) {
    if (server.get("/metrics").body.find(line) != std::string::npos) return true;
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

TEST(Connections, ServeOneRequestAfterTheOther) {
  TestServer server;
  HttpClient client(server.port());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(client.get("/health").status, 200);
    client.post("/v1/completions", R"({"prompt":"A","temperature":0,"stream":true})");
    EXPECT_EQ(client.read().events().back(), "[DONE]");
  }
  // Two at once are answered in their order.
  client.send(
      "GET /v1/models/tiny HTTP/1.1\r\nHost: x\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.read().json()["id"], "tiny");
  EXPECT_EQ(client.read().json()["status"], "ok");
}

TEST(Connections, OfOldClientsEndWithTheAnswer) {
  TestServer server;
  HttpClient client(server.port());
  client.send(
      "POST /v1/completions HTTP/1.0\r\nContent-Length: 47\r\n\r\n"
      R"({"prompt":"A","temperature":0,"stream": true  })");
  EXPECT_TRUE(client.wait_for("data: [DONE]"));
  EXPECT_TRUE(client.wait_for_close());
}

TEST(Connections, ThatEndCancelTheirRequests) {
  TestServer server(endless_fixture());
  int count = 0;
  for (const bool streams : {true, false}) {
    for (const bool resets : {true, false}) {
      HttpClient client(server.port());
      json body = json::parse(kEndless);
      body["stream"] = streams;
      client.post("/v1/completions", body.dump());
      if (streams) {
        EXPECT_TRUE(client.wait_for("data: "));
      } else {
        EXPECT_TRUE(server.is_alive());  // the other one has begun
      }
      resets ? client.reset() : client.close();
      EXPECT_TRUE(have_aborted(server, ++count));
    }
  }
  EXPECT_TRUE(server.is_alive());
}

TEST(Connections, ThatEndTheirInputAtAnyTimeAreClosed) {
  TestServer server;
  const std::string request =
      "POST /tokenize HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
      "Content-Length: 14\r\n\r\n"
      R"({"prompt":"A"})";
  for (int i = 0; i < 1000; ++i) {
    HttpClient client(server.port());
    const auto pause = std::chrono::microseconds(i % 100);
    for (int part = 0; part < 2; ++part) {
      client.send(request);
      const auto end = std::chrono::steady_clock::now() + pause;
      while (std::chrono::steady_clock::now() < end) {
      }
    }
    client.end_input();
    ASSERT_TRUE(client.wait_for_close()) << "at try " << i;
  }
}

TEST(Connections, OfSlowReadersHoldBackTheirStreamAlone) {
  ServerOptions options = quick_options();
  options.http.send_timeout = 300ms;
  TestServer server(endless_fixture(), options);
  HttpClient slow(server.port(), 4096);
  json body = json::parse(kEndless);
  body["logprobs"] = 100;  // much to send
  slow.post("/v1/completions", body.dump());
  EXPECT_TRUE(slow.wait_for("data: "));
  EXPECT_TRUE(server.is_alive());
  EXPECT_TRUE(have_aborted(server, 1));
  EXPECT_TRUE(server.is_alive());
}

TEST(Connections, WithGarbageGetAnErrorAndHurtNobody) {
  TestServer server;
  const struct {
    std::string text;
    std::vector<int> statuses;  // 0: closed
  } kCases[] = {
      {"\x16\x03\x01 hello TLS\r\n\r\n", {400}},
      {"GET\r\n\r\n", {400}},
      {"GET /health HTTP/1.1\r\nno colon\r\n\r\n", {400}},
      {std::string("GET /health HTTP/1.1\r\nA: b\0c\r\n\r\n", 32), {400}},
      {"POST /v1/completions HTTP/1.1\r\nContent-Length: -1\r\n\r\n", {400}},
      {"POST /v1/completions HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", {400}},
      {"POST /v1/completions HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", {413}},
      {"POST /v1/completions HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
       "0\r\n\r\n",
       {400}},
      {"POST /v1/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n",
       {400, 413}},
      {"POST /v1/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;" +
           std::string(1 << 20, 'x'),
       {400, 413, 431}},
      {"GET /health HTTP/1.1\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n", {431}},
      {"BREW /health HTTP/1.1\r\n\r\n", {405}},
      {"GET /v1/completions HTTP/1.1\r\n\r\n", {405}},
      {"OPTIONS /v1/chat/completions HTTP/1.1\r\n\r\n", {204}},
      {"GET /nothing HTTP/1.1\r\n\r\n", {404}},
      {"POST /v1/completions HTTP/1.1\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}",
       {415}},
      {"POST /v1/completions HTTP/1.1\r\nContent-Type: application/json; charset=utf-16\r\n"
       "Content-Length: 2\r\n\r\n{}",
       {415}},
  };
  for (const auto& [text, statuses] : kCases) {
    HttpClient client(server.port());
    client.send(text);
    const Response response = client.read();
    EXPECT_NE(std::ranges::find(statuses, response.status), statuses.end())
        << text.substr(0, 100) << ": " << response.status;
    if (response.status >= 400) {
      EXPECT_TRUE(response.json()["error"]["message"].is_string());
    }
    EXPECT_TRUE(server.is_alive());
  }
}

TEST(Connections, GetNoMoreBodyThanTheLimit) {
  ServerOptions options = quick_options();
  options.http.max_body_bytes = 10'000;
  TestServer server(stop_fixture(), options);
  HttpClient chunked(server.port());
  chunked.send("POST /v1/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 100; ++i) {
    if (!chunked.send("400\r\n" + std::string(1024, ' ') + "\r\n")) break;
  }
  EXPECT_EQ(chunked.read().status, 413);
  EXPECT_EQ(server.complete(std::string(10'001, ' ')).status, 413);
  EXPECT_EQ(server.complete(R"({"prompt":"A"})" + std::string(9'000, ' ')).status, 200);
}

// Else a proxy and the server would disagree on where the next request begins.
TEST(Connections, WithUnknownEndsOfBodiesEnd) {
  TestServer server;
  for (const char* head :
       {"HTTP/1.1\r\nTransfer-Encoding: gzip", "HTTP/1.1\r\nTransfer-Encoding: identity",
        "HTTP/1.1\r\nTransfer-Encoding: gzip, chunked",
        "HTTP/1.1\r\nTransfer-Encoding:", "HTTP/1.1\r\nTransfer-Encoding: chunked, chunked",
        "HTTP/1.1\r\nTransfer-Encoding: xchunked",
        "HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked"}) {
    HttpClient client(server.port());
    client.send("POST /tokenize " + std::string(head) +
                "\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(client.read().status, 501) << head;
    EXPECT_EQ(client.read().status, 0) << head;
    EXPECT_TRUE(client.wait_for_close());
  }
  HttpClient twice(server.port());
  twice.send(
      "POST /tokenize HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\n"
      "2\r\n{}\r\n0\r\n\r\n");
  const int status = twice.read().status;
  EXPECT_TRUE(status == 501 || status == 400) << status;
}

TEST(Connections, HaveRoomForSoManyBodiesTogether) {
  ServerOptions options = quick_options();
  options.http.max_bodies_bytes = 10'000;
  TestServer server(stop_fixture(), options);
  const std::string head = "POST /tokenize HTTP/1.1\r\nHost: x\r\n";
  HttpClient first(server.port());
  first.send(head + "Content-Length: 6000\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_TRUE(first.wait_for("100 Continue"));
  HttpClient second(server.port());
  second.send(head + "Content-Length: 6000\r\n\r\n");
  const Response refused = second.read();
  EXPECT_EQ(refused.status, 503);
  EXPECT_TRUE(refused.has_header("Retry-After: "));
  first.close();
  HttpClient third(server.port());
  third.send(head + "Transfer-Encoding: chunked\r\n\r\n2AF8\r\n" + std::string(11'000, ' ') +
             "\r\n");
  EXPECT_EQ(third.read().status, 503);
  EXPECT_TRUE(server.is_alive());
}

TEST(Connections, MayNameTheServerInTheTarget) {
  TestServer server;
  HttpClient client(server.port());
  EXPECT_EQ(client.get("http://any.name:80/health?x=1").status, 200);
  EXPECT_EQ(client.get("http://any.name").status, 404);
}

TEST(Connections, MayAskBeforeTheySendABody) {
  TestServer server;
  HttpClient client(server.port());
  client.send(
      "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 14\r\nExpect: 100-continue\r\n"
      "\r\n");
  EXPECT_TRUE(client.wait_for("100 Continue"));
  client.send(R"({"prompt":"A"})");
  EXPECT_EQ(client.read().status, 200);
  EXPECT_EQ(client.get("/health", "", "HEAD").status, 200);
}

TEST(Connections, OfHttp10GetNoInterimReply) {
  TestServer server;
  HttpClient client(server.port());
  client.send(
      "POST /v1/completions HTTP/1.0\r\nContent-Length: 14\r\nExpect: 100-continue\r\n\r\n"
      R"({"prompt":"A"})");
  EXPECT_TRUE(client.wait_for("\r\n\r\n"));
  EXPECT_FALSE(client.has_received("100 Continue"));
  EXPECT_EQ(client.read().status, 200);
}

TEST(Connections, ThatAreTooSlowAreClosed) {
  ServerOptions options = quick_options();
  options.http.header_timeout = options.http.idle_timeout = options.http.body_timeout = 100ms;
  TestServer server(stop_fixture(), options);
  HttpClient silent(server.port()), in_head(server.port()), in_body(server.port());
  in_head.send("GET /health HTTP/1.1\r\nX:");
  in_body.send("POST /v1/completions HTTP/1.1\r\nContent-Length: 100\r\n\r\n{");
  EXPECT_TRUE(silent.wait_for_close());
  EXPECT_TRUE(in_head.wait_for_close());
  EXPECT_TRUE(in_body.wait_for_close());
  EXPECT_TRUE(server.is_alive());
}

TEST(Connections, BeyondTheLimitAreRefused) {
  ServerOptions options = quick_options();
  options.http.max_connections = 2;
  TestServer server(stop_fixture(), options);
  {
    HttpClient first(server.port()), second(server.port());
    EXPECT_EQ(first.get("/health").status, 200);
    EXPECT_EQ(second.get("/health").status, 200);
    HttpClient third(server.port());
    const Response response = third.get("/health");
    EXPECT_EQ(response.status, 503);
    EXPECT_TRUE(response.has_header("Retry-After: "));
  }
  for (int i = 0; i < 1000 && server.get("/health").status != 200; ++i) {
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_EQ(server.get("/health").status, 200);
}

TEST(Keys, AreAskedForOnAllPathsButHealth) {
  ServerOptions options = quick_options();
  options.service.api_keys = {"secret", "other"};
  TestServer server(stop_fixture(), options);
  EXPECT_EQ(server.get("/health").status, 200);
  EXPECT_EQ(server.get("/ready").status, 200);
  for (const char* path : {"/metrics", "/v1/models", "/version", "/nothing"}) {
    EXPECT_EQ(server.get(path).status, 401) << path;
    EXPECT_EQ(server.get(path, "Authorization: Bearer secre\r\n").status, 401);
    EXPECT_EQ(server.get(path, "Authorization: Bearer SECRET\r\n").status, 401);
    EXPECT_NE(server.get(path, "Authorization: Bearer secret\r\n").status, 401);
    EXPECT_NE(server.get(path, "X-API-Key: other\r\n").status, 401);
  }
  const Response response = server.complete(R"({"prompt":"A"})");
  EXPECT_EQ(response.status, 401);
  EXPECT_TRUE(response.has_header("WWW-Authenticate: Bearer"));
  EXPECT_EQ(server.post("/v1/completions", R"({"prompt":"A"})", "X-Api-Key: secret\r\n").status,
            200);
}

TEST(Streams, GetCommentsWhileNothingIsSaid) {
  ServerOptions options = quick_options();
  options.service.keep_alive = 20ms;
  TestServer server(stop_fixture(), options);
  std::atomic<bool> is_held = true;
  server.runner().before_step = [&](const BatchPlan&) {
    while (is_held) std::this_thread::sleep_for(1ms);
  };
  HttpClient client(server.port());
  client.post("/v1/completions", R"({"prompt":"A","temperature":0,"stream":true})");
  EXPECT_TRUE(client.wait_for(": keep-alive\n\n"));
  EXPECT_EQ(server.get("/health").status, 200);  // the engine has nothing to do with it
  is_held = false;
  EXPECT_EQ(client.read().events().back(), "[DONE]");
}

TEST(Queues, ThatAreFullSayWhenToComeAgain) {
  TestServer server(stop_fixture(), quick_options(),
                    {.max_sequences = 1, .queue = {.requests = 2}});
  std::atomic<bool> is_held = true;
  server.runner().before_step = [&](const BatchPlan&) {
    while (is_held) std::this_thread::sleep_for(1ms);
  };
  HttpClient client(server.port());
  client.post("/v1/completions", R"({"prompt":["A","A","A","A","A","A"],"temperature":0})");
  const Response response = client.read();
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.json()["error"]["code"], "overloaded");
  EXPECT_TRUE(response.has_header("Retry-After: "));
  is_held = false;
  // Those of the six that had a place give it back.
  for (int i = 0; i < 1000 && !server.is_alive(); ++i) std::this_thread::sleep_for(5ms);
  EXPECT_TRUE(server.is_alive());
}

TEST(Deadlines, EndAnswersWithAnError) {
  ServerOptions options = quick_options();
  options.service.request_timeout = 100ms;
  TestServer server(endless_fixture(), options);
  const auto events = server.complete(kEndless).events();
  EXPECT_EQ(events.back(), "[DONE]");
  EXPECT_NE(events[events.size() - 2].find("deadline"), std::string::npos);
}

TEST(Draining, FinishesWhatRunsAndTakesNoMore) {
  TestServer server;
  std::atomic<bool> is_held = true;
  server.runner().before_step = [&](const BatchPlan&) {
    while (is_held) std::this_thread::sleep_for(1ms);
  };
  HttpClient idle(server.port()), client(server.port());
  EXPECT_EQ(idle.get("/health").status, 200);
  client.post("/v1/completions", R"({"prompt":"A","temperature":0})");
  // Its answer is on the way when the next one is.
  EXPECT_EQ(idle.get("/health").status, 200);
  server.drain();
  EXPECT_TRUE(idle.wait_for_close());
  EXPECT_FALSE(HttpClient(server.port()).is_connected());
  is_held = false;
  const Response response = client.read();
  EXPECT_EQ(response.json()["choices"][0]["text"], "BCDEFGHIJK");
  EXPECT_TRUE(response.has_header("Connection: close"));
  server.wait();
}

TEST(Draining, EndsWhatTakesTooLongWithAnError) {
  ServerOptions options = quick_options();
  options.drain = 50ms;
  TestServer server(endless_fixture(), options);
  HttpClient client(server.port());
  client.post("/v1/completions", kEndless);
  EXPECT_TRUE(client.wait_for("data: "));
  server.drain();
  const auto events = client.read().events();
  EXPECT_EQ(events.back(), "[DONE]");
  EXPECT_NE(events[events.size() - 2].find("shutting down"), std::string::npos);
  server.wait();
}

}  // namespace
}  // namespace arion::test

// A server whose model is still being loaded.
#include "server/test_server.h"

namespace arion::test {
namespace {

constexpr const char* kBody = R"({"prompt":"A","temperature":0})";

TEST(Loading, IsAliveButNotReady) {
  TestServer server(stop_fixture(), quick_options(), {}, Loading::going_on);
  EXPECT_EQ(server.get("/health").status, 200);
  EXPECT_EQ(server.get("/ping").status, 200);
  for (const char* path :
       {"/ready", "/v1/models", "/v1/models/tiny", "/metrics", "/tokenizer_info"}) {
    const Response response = server.get(path);
    EXPECT_EQ(response.status, 503) << path;
    EXPECT_TRUE(response.has_header("Retry-After: ")) << path;
    EXPECT_EQ(response.json()["error"]["code"], "loading") << path;
  }
  for (const char* path : {"/v1/completions", "/v1/chat/completions", "/tokenize", "/detokenize"}) {
    const Response response = server.post(path, kBody);
    EXPECT_EQ(response.status, 503) << path;
    EXPECT_TRUE(response.has_header("Retry-After: ")) << path;
    EXPECT_EQ(response.json()["error"]["type"], "ServiceUnavailableError") << path;
  }
  EXPECT_EQ(server.get("/nothing").status, 404);
  server.finish_loading();
  EXPECT_EQ(server.get("/ready").status, 200);
  EXPECT_EQ(server.get("/v1/models").json()["data"][0]["id"], "tiny");
  EXPECT_TRUE(server.is_alive());
}

TEST(Loading, TellsStrangersNothing) {
  ServerOptions options = quick_options();
  options.service.api_keys = {"secret"};
  TestServer server(stop_fixture(), options, {}, Loading::going_on);
  EXPECT_EQ(server.post("/v1/completions", kBody).status, 401);
  EXPECT_EQ(server.post("/v1/completions", kBody, "X-API-Key: secret\r\n").status, 503);
}

// A connection that was opened while the model was loaded serves on.
TEST(Loading, EndsForConnectionsThatAreOpen) {
  TestServer server(stop_fixture(), quick_options(), {}, Loading::going_on);
  HttpClient client(server.port());
  EXPECT_EQ(client.get("/v1/models").status, 503);
  server.finish_loading();
  EXPECT_EQ(client.get("/v1/models").status, 200);
  client.post("/v1/completions", kBody);
  EXPECT_EQ(client.read().status, 200);
}

TEST(Loading, MayEndWithTheServer) {
  TestServer server(stop_fixture(), quick_options(), {}, Loading::going_on);
  HttpClient client(server.port());
  EXPECT_EQ(client.get("/ready").status, 503);
  server.drain();
  server.wait();
  EXPECT_TRUE(client.wait_for_close());
}

}  // namespace
}  // namespace arion::test

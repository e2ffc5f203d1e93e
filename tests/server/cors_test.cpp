// Pages of other origins.
#include "server/http/cors.h"

#include "base/error.h"
#include "server/test_server.h"

namespace arion::test {
namespace {

constexpr std::string_view kPage = "Origin: https://page.example\r\n";
constexpr std::string_view kAllowed = "Access-Control-Allow-Origin: https://page.example\r\n";
constexpr std::string_view kPreflight =
    "Origin: https://page.example\r\nAccess-Control-Request-Method: POST\r\n"
    "Access-Control-Request-Headers: authorization, content-type, x-stainless-os\r\n";

ServerOptions options_for(std::vector<std::string> origins) {
  ServerOptions options = quick_options();
  options.http.cors_origins = std::move(origins);
  options.service.api_keys = {"secret"};
  return options;
}

bool allows_any(const Response& response) {
  return response.has_header("Access-Control-Allow");
}

TEST(Cors, IsOffUnlessAskedFor) {
  TestServer server(stop_fixture(), options_for({}));
  HttpClient client(server.port());
  const Response preflight = client.get("/v1/completions", kPreflight, "OPTIONS");
  EXPECT_EQ(preflight.status, 401);
  EXPECT_FALSE(allows_any(preflight));
  const Response health = server.get("/health", kPage);
  EXPECT_EQ(health.status, 200);
  EXPECT_FALSE(allows_any(health));
  EXPECT_FALSE(health.has_header("Vary"));
}

TEST(Cors, AnswersTheQuestionAheadOfARequestWithoutAKey) {
  TestServer server(stop_fixture(), options_for({"http://other.example", "HTTPS://Page.example"}));
  HttpClient client(server.port());
  const Response yes = client.get("/v1/chat/completions", kPreflight, "OPTIONS");
  EXPECT_EQ(yes.status, 204);
  EXPECT_TRUE(yes.has_header(kAllowed));
  EXPECT_TRUE(yes.has_header("Vary: Origin\r\n"));
  EXPECT_TRUE(yes.has_header("Access-Control-Allow-Methods: GET, HEAD, POST\r\n"));
  EXPECT_TRUE(yes.has_header(
      "Access-Control-Allow-Headers: authorization, content-type, x-stainless-os\r\n"));
  EXPECT_TRUE(yes.has_header("Access-Control-Max-Age: "));
  // The connection goes on.
  const Response strange = client.get(
      "/v1/chat/completions",
      "Origin: https://page.example.evil\r\nAccess-Control-Request-Method: POST\r\n", "OPTIONS");
  EXPECT_EQ(strange.status, 401);
  EXPECT_FALSE(allows_any(strange));
}

TEST(Cors, EveryAnswerMayBeReadByPagesOfTheOrigin) {
  TestServer server(stop_fixture(), options_for({"https://page.example"}));
  const std::string key = std::string(kPage) + "Authorization: Bearer secret\r\n";
  const std::string body = R"({"prompt":"A","temperature":0,"stream":true})";
  const Response streamed = server.post("/v1/completions", body, key);
  EXPECT_EQ(streamed.status, 200);
  EXPECT_EQ(streamed.events().back(), "[DONE]");
  EXPECT_TRUE(streamed.has_header(kAllowed));
  EXPECT_TRUE(server.post("/v1/completions", "{}", key).has_header(kAllowed));    // 400
  EXPECT_TRUE(server.post("/v1/completions", body, kPage).has_header(kAllowed));  // 401
  EXPECT_TRUE(server.get("/nothing", key).has_header(kAllowed));                  // 404
  EXPECT_FALSE(allows_any(server.get("/health", "Origin: http://page.example\r\n")));
  EXPECT_FALSE(allows_any(server.get("/health")));
}

TEST(Cors, OfOneRequestIsNotThatOfTheNext) {
  TestServer server(stop_fixture(), options_for({"https://page.example"}));
  HttpClient client(server.port());
  EXPECT_TRUE(client.get("/health", kPage).has_header(kAllowed));
  EXPECT_FALSE(allows_any(client.get("/health")));
  EXPECT_TRUE(client.get("/health", kPage).has_header(kAllowed));
  client.send("nonsense\r\n\r\n");
  const Response garbage = client.read();
  EXPECT_EQ(garbage.status, 400);
  EXPECT_FALSE(allows_any(garbage));
}

TEST(Cors, OfAllOriginsNamesNone) {
  TestServer server(stop_fixture(), options_for({"*"}));
  const Response response = server.get("/health", "Origin: null\r\n");
  EXPECT_TRUE(response.has_header("Access-Control-Allow-Origin: *\r\n"));
  EXPECT_FALSE(response.has_header("Vary"));
  // What is no list of header names is not repeated.
  HttpClient client(server.port());
  const Response odd = client.get("/health",
                                  "Origin: x\r\nAccess-Control-Request-Method: GET\r\n"
                                  "Access-Control-Request-Headers: a; b=\"c\"\r\n",
                                  "OPTIONS");
  EXPECT_EQ(odd.status, 204);
  EXPECT_FALSE(odd.has_header("Access-Control-Allow-Headers"));
}

TEST(Cors, PagesCannotPostWithoutBeingAskedAbout) {
  TestServer server;
  HttpClient client(server.port());
  const std::string body = R"({"prompt":"A"})";
  const std::string head =
      "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\n";
  client.send(head + "\r\n" + body);
  EXPECT_EQ(client.read().status, 200);
  client.send(head + std::string(kPage) + "\r\n" + body);
  EXPECT_EQ(client.read().status, 415);
}

TEST(Cors, RefusesWhatIsNoOrigin) {
  for (const char* text : {"", "page.example", "https://", "://a", "https://a/",
                           "https://a\r\nB: c", "https://a b", "null"}) {
    EXPECT_THROW(CorsPolicy({text}), Error) << text;
  }
  for (const char* text : {"*", "http://localhost:3000", "http://[::1]:80", "app://obsidian.md"}) {
    EXPECT_NO_THROW(CorsPolicy({text})) << text;
  }
}

}  // namespace
}  // namespace arion::test

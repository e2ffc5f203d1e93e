// Batches: the same answers as alone, continued after a break, and files that are no batches.
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "base/error.h"
#include "batch_request.h"
#include "program.h"

namespace arion::test {
namespace {

using nlohmann::json;

std::string line(const std::string& id, const json& body) {
  return json{{"custom_id", id}, {"method", "POST"}, {"url", "/v1/completions"}, {"body", body}}
             .dump() +
         "\n";
}

json prompt(const std::string& text, int tokens = 6) {
  return {{"prompt", text}, {"max_tokens", tokens}};
}

std::string five_requests() {
  std::string lines;
  for (const char* id : {"a", "b", "c", "d", "e"}) lines += line(id, prompt(id));
  return lines;
}

Outcome run_batch(const TempDir& folder, const std::string& options = "") {
  const std::string base = folder.path().string();
  return run_arion("batch " + base + "/in.jsonl " + base + "/out.jsonl -m " + tiny() +
                   " -t 1 -c 64 " + options);
}

// Responses by custom_id; ids, times and cached tokens, which differ between runs, are left out.
std::map<std::string, json> answers(const TempDir& folder) {
  std::map<std::string, json> out;
  std::istringstream lines(read_file(folder.path() / "out.jsonl"));
  for (std::string text; std::getline(lines, text);) {
    json answer = json::parse(text);
    EXPECT_TRUE(answer["error"].is_null());
    json& response = answer["response"];
    response.erase("request_id");
    response["body"].erase("id");
    response["body"].erase("created");
    if (response["body"].contains("usage")) {
      response["body"]["usage"].erase("prompt_tokens_details");
    }
    EXPECT_TRUE(out.emplace(answer["custom_id"], response).second) << "answered twice: " << text;
  }
  return out;
}

TEST(Batch, AnswersInTheFormatOfTheInterface) {
  const TempDir folder;
  json two = prompt("ab");
  two["n"] = 2;
  folder.write("in.jsonl", line("x", two) + "\n" + line("bad", {{"prompt", "a"}, {"top_p", 3}}) +
                               line("streams", {{"prompt", "a"}, {"stream", true}}));
  const Outcome outcome = run_batch(folder);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto out = answers(folder);
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out.at("x")["status_code"], 200);
  EXPECT_EQ(out.at("x")["body"]["choices"].size(), 2u);
  EXPECT_EQ(out.at("x")["body"]["usage"]["completion_tokens"], 12);
  EXPECT_EQ(out.at("bad")["status_code"], 400);
  EXPECT_EQ(out.at("bad")["body"]["error"]["param"], "top_p");
  EXPECT_EQ(out.at("streams")["body"]["error"]["param"], "stream");
}

TEST(Batch, AnswersDoNotDependOnWhatRunsBeside) {
  const TempDir together, alone;
  together.write("in.jsonl", five_requests());
  alone.write("in.jsonl", line("d", prompt("d")));
  ASSERT_EQ(run_batch(together).exit_code, 0);
  ASSERT_EQ(run_batch(alone, "--max-num-seqs 1").exit_code, 0);
  EXPECT_EQ(answers(together).at("d")["body"]["choices"],
            answers(alone).at("d")["body"]["choices"]);
  EXPECT_NE(answers(together).at("a")["body"]["seed"], answers(together).at("b")["body"]["seed"]);
}

TEST(Batch, GoesOnWhereItWasInterrupted) {
  const TempDir folder;
  folder.write("in.jsonl", five_requests());
  ASSERT_EQ(run_batch(folder).exit_code, 0);
  const auto whole = answers(folder);
  const std::string text = read_file(folder.path() / "out.jsonl");
  size_t second = text.find('\n', text.find('\n') + 1) + 1;
  for (const size_t kept : {size_t{0}, size_t{5}, second, second + 30, text.size() - 1}) {
    folder.write("out.jsonl", text.substr(0, kept));
    const Outcome outcome = run_batch(folder);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(answers(folder), whole) << kept;
  }
  const Outcome again = run_batch(folder);
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_NE(again.err.find("nothing to answer"), std::string::npos) << again.err;
}

TEST(Batch, FilesThatAreNotItsOwnStayAsTheyAre) {
  const TempDir folder;
  for (const char* content : {"{\"a\": 1}", "{\"a\": 1}\n", "text", "\n{\"custom_id\":\"a\"}\n",
                              "{\"custom_id\":\"z\",\"response\":{}}\n"}) {
    folder.write("in.jsonl", five_requests());
    folder.write("out.jsonl", content);
    EXPECT_NE(run_batch(folder).exit_code, 0) << content;
    EXPECT_EQ(read_file(folder.path() / "out.jsonl"), content);
  }
  const std::string in = folder.write("one.jsonl", line("a", prompt("a"))).string();
  EXPECT_EQ(run_arion("batch " + in + " " + in + " -m " + tiny()).exit_code, 2);
  EXPECT_EQ(read_file(in), line("a", prompt("a")));
  std::filesystem::create_symlink("nothing", folder.path() / "dangling");
  for (const auto& [out, words] : {std::pair<const char*, const char*>{"", "is a folder"},
                                   {"/absent/out", "there is no folder"},
                                   {"/dangling", "is a symbolic link that leads to no file"}}) {
    const Outcome outcome =
        run_arion("batch " + in + " " + folder.path().string() + out + " -m " + tiny());
    EXPECT_EQ(outcome.exit_code, 2) << out;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << out << ": " << outcome.err;
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "nothing"));
  EXPECT_EQ(run_arion("batch " + in + " '' -m " + tiny()).exit_code, 2);
}

TEST(Batch, LinesThatAreNoRequestsAreNamed) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      app::parse_batch(text);
      return "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      return error.what();
    }
  };
  const std::string good = line("a", prompt("a"));
  EXPECT_EQ(message(good), "accepted");
  EXPECT_EQ(message(good + "\r\n \n"), "accepted");
  EXPECT_EQ(message(good + good), "line 2: custom_id 'a' occurs twice");
  EXPECT_TRUE(message(good + "[]").starts_with("line 2: "));
  EXPECT_EQ(message(good + "{"), "line 2: not valid JSON at byte 2");
  EXPECT_EQ(message(R"({"url":"/v1/completions","body":{}})"),
            "line 1: custom_id is absent, expected a text of 1 to 512 bytes");
  EXPECT_EQ(message(R"({"custom_id":"a","url":"/v1/embeddings","body":{}})"),
            "line 1: url is '/v1/embeddings', expected /v1/chat/completions or /v1/completions");
  EXPECT_EQ(message(R"({"custom_id":"a","method":"GET","url":"/v1/completions","body":{}})"),
            "line 1: method is 'GET', expected POST");
  EXPECT_EQ(message(R"({"custom_id":"a","url":"/v1/completions"})"), "line 1: body is absent");
}

}  // namespace
}  // namespace arion::test

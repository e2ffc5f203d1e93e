// Chats: on a terminal, and as a session of the library.
#include <fcntl.h>
#include <pty.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "base/error.h"
#include "chat_models.h"
#include "chat_session.h"
#include "program.h"

namespace arion::test {
namespace {

// Both ends of a terminal; what is typed waits in it until a program reads.
class Terminal {
 public:
  Terminal() {
    std::array<char, 256> name{};
    if (openpty(&keyboard_, &program_, name.data(), nullptr, nullptr) != 0) {
      throw std::runtime_error("no terminal to be had");
    }
    name_ = name.data();
  }
  ~Terminal() {
    close(keyboard_);
    close(program_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(std::string_view keys) const {
    ASSERT_EQ(write(keyboard_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  const std::string& name() const { return name_; }

 private:
  int keyboard_ = -1, program_ = -1;
  std::string name_;
};

constexpr const char* kControlD = "\x04";

// `arion run` on a terminal where these lines are typed, then Ctrl-D.
Outcome chat(const std::string& arguments, std::string_view lines) {
  const Terminal terminal;
  terminal.type(lines);
  terminal.type(kControlD);
  return run_arion("run " + arguments + " <" + terminal.name());
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Chat, AnswersEveryLineAndPromptsOnStandardError) {
  const Outcome outcome = chat("--raw --temp 0 -n 5 " + tiny(), "ab\n\ncd\n");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string ab = run_arion("run --raw --temp 0 -n 5 -p ab " + tiny()).out;
  const std::string cd = run_arion("run --raw --temp 0 -n 5 -p cd " + tiny()).out;
  EXPECT_EQ(outcome.out, ab + cd);
  EXPECT_EQ(count(outcome.err, "> "), 4u) << outcome.err;
}

TEST(Chat, GoesOnAfterAnError) {
  const Outcome outcome = chat("--raw --temp 0 -n 5 -c 12 " + tiny(), "abcdefghijklmnop\nab\n");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("arion: error: the prompt has"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.out, run_arion("run --raw --temp 0 -n 5 -p ab " + tiny()).out);
}

TEST(Chat, JsonNeedsAPrompt) {
  const Outcome outcome = chat("--json " + tiny(), "");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("--json needs a prompt"), std::string::npos) << outcome.err;
}

// Starts `arion run` with the terminal as input and waits until it asks for a message.
pid_t start_chat(const Terminal& terminal) {
  std::array<int, 2> pipe_ends{};
  if (pipe(pipe_ends.data()) != 0) throw std::runtime_error("no pipe to be had");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, terminal.name().c_str(), O_RDONLY | O_NOCTTY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 2);
  posix_spawn_file_actions_addclose(&actions, pipe_ends[0]);
  std::string program = ARION_PROGRAM, command = "run", model = tiny();
  std::array<char*, 4> arguments = {program.data(), command.data(), model.data(), nullptr};
  pid_t child = -1;
  const int error =
      posix_spawn(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  std::string said;
  char byte = 0;
  while (error == 0 && !said.ends_with("\n> ") && read(pipe_ends[0], &byte, 1) == 1) said += byte;
  close(pipe_ends[0]);
  EXPECT_TRUE(said.ends_with("> ")) << said;
  return child;
}

TEST(Chat, ControlCOutsideOfAnAnswerEndsTheProgramWithItsOwnExitCode) {
  const Terminal terminal;
  const pid_t child = start_chat(terminal);
  ASSERT_GT(child, 0);
  kill(child, SIGINT);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 130);
}

TEST(ChatSession, AMessageThatFailedIsNoPartOfTheConversation) {
  const TempDir folder;
  const std::string path = folder.write("chatml.gguf", chatml_model()).string();
  const app::GlobalOptions global;
  LoadedModel loaded = app::load_model({.model = path, .threads = 1, .context = 64}, global);
  const app::AnswerOptions options = {.sampling = {.temperature = 0}, .max_tokens = 3};
  app::ChatSession session(loaded, "");
  ASSERT_TRUE(session.has_chat_format());
  EXPECT_THROW(session.chat(std::string(100, 'a'), options, nullptr), Error);
  const app::Answer second = session.chat("b", options, nullptr);
  LoadedModel again = app::load_model({.model = path, .threads = 1, .context = 64}, global);
  app::ChatSession fresh(again, "");
  const app::Answer expected = fresh.chat("b", options, nullptr);
  EXPECT_EQ(second.prompt_tokens, expected.prompt_tokens);
  EXPECT_EQ(second.tokens, expected.tokens);
  EXPECT_EQ(second.prompt_tokens[0], 1) << "this vocabulary wants BOS in front";
  EXPECT_EQ(std::ranges::count(second.prompt_tokens, 1), 1);
  // The next turn has all of the first one in front.
  const app::Answer third = session.chat("c", options, nullptr);
  EXPECT_GT(third.prompt_tokens.size(), second.prompt_tokens.size());
  EXPECT_TRUE(std::equal(second.prompt_tokens.begin(), second.prompt_tokens.end(),
                         third.prompt_tokens.begin()));
}

TEST(ChatSession, GuidanceComparesWithAnotherSystemMessage) {
  const TempDir folder;
  const std::string path = folder.write("chatml.gguf", chatml_model()).string();
  const app::GlobalOptions global;
  const LoadOptions runner = {.model = path, .threads = 1, .context = 64, .kv_sequences = 2};
  LoadedModel loaded = app::load_model(runner, global);
  app::AnswerOptions options = {.sampling = {.temperature = 0}, .max_tokens = 8};
  options.ignores_end = true;
  const auto answer = [&](const std::string& system) {
    return app::ChatSession(loaded, system).chat("b", options, nullptr);
  };
  const app::Answer plain = answer("ab");
  options.guidance_scale = 4;
  options.negative_prompt = "ab";
  EXPECT_EQ(answer("ab").tokens, plain.tokens) << "both sides are the same";
  options.negative_prompt = "xyz";
  const app::Answer steered = answer("ab");
  EXPECT_EQ(steered.prompt_tokens, plain.prompt_tokens);
  EXPECT_NE(steered.tokens, plain.tokens);
  options.negative_prompt = "";
  const app::Answer none = answer("");
  options.guidance_scale = 1;
  EXPECT_EQ(none.tokens, answer("").tokens) << "an empty negative prompt is no system message";
}

}  // namespace
}  // namespace arion::test

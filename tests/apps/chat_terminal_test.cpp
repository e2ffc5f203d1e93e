// `arion run` on a terminal: keys, commands, stopping.
#include <sys/ioctl.h>

#include "chat_models.h"
#include "program.h"
#include "pty_program.h"

namespace arion::test {
namespace {

using nlohmann::json;

class ChatTerminal : public testing::Test {
 protected:
  // A chat that has asked for the first message.
  PtyProgram& start(std::vector<std::string> options = {}, const ChatModel& model = {}) {
    model_ = folder_.write("chat.gguf", chatml_model(model)).string();
    options.insert(options.begin(), {"run", model_});
    program_.emplace(std::move(options),
                     std::vector<std::string>{"TERM=xterm", "NO_COLOR=1", "LC_ALL=C.UTF-8",
                                              "XDG_STATE_HOME=" + path("state")});
    program_->read_to_prompt();
    return *program_;
  }
  // Types a line and returns what is shown until the next prompt.
  std::string say(const std::string& line) {
    program_->type(line + "\r");
    program_->read_until("\n");
    std::string shown = program_->read_to_prompt();
    const std::string mode = "\x1b[?2004l";  // pasting is over
    return shown.starts_with(mode) ? shown.substr(mode.size()) : shown;
  }
  void expect(const std::string& line, const std::string& words) {
    const std::string shown = say(line);
    EXPECT_NE(shown.find(words), std::string::npos) << line << ": " << shown;
  }
  json saved() {
    say("/save! " + path("chat.json"));
    return json::parse(read_file(path("chat.json")));
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  const TempDir folder_;
  std::string model_;
  std::optional<PtyProgram> program_;
};

TEST_F(ChatTerminal, HelpListsTheCommandsAndUnknownOnesNameIt) {
  start();
  const std::string help = say("/help");
  for (const char* name :
       {"/help", "/system", "/clear", "/save", "/set", "/regenerate", "/tokens"}) {
    EXPECT_NE(help.find(name), std::string::npos) << help;
  }
  expect("/nonsense", "there is no command '/nonsense'; /help lists them");
  expect("/tokens 5", "/tokens takes no argument");
  expect("/regenerate", "there is no answer yet");
  program_->type("\x04");
  EXPECT_EQ(program_->wait_for_end(), 0);
}

TEST_F(ChatTerminal, QuitEndsIt) {
  start();
  program_->type("/quit\r");
  EXPECT_EQ(program_->wait_for_end(), 0);
}

TEST_F(ChatTerminal, SavedConversationsAreReadByRender) {
  start({"-n", "4", "--temp", "0"});
  say("ab");
  say("//cd");
  const std::string file = path("out.json");
  expect("/save " + file, "saved to");
  const json messages = json::parse(read_file(file));
  ASSERT_EQ(messages.size(), 4u);
  EXPECT_EQ(messages[0], (json{{"role", "user"}, {"content", "ab"}}));
  EXPECT_EQ(messages[1]["role"], "assistant");
  EXPECT_EQ(messages[1]["content"].get<std::string>() + "\n",
            run_arion("run -n 4 --temp 0 -p ab " + model_).out);
  EXPECT_EQ(messages[2], (json{{"role", "user"}, {"content", "/cd"}}));
  const Outcome rendered = run_arion("render " + model_ + " --messages " + file);
  EXPECT_EQ(rendered.exit_code, 0) << rendered.err;
  EXPECT_NE(rendered.out.find("/cd<|im_end|>"), std::string::npos) << rendered.out;
  expect("/save " + file, "there is a file");
  expect("/save", "name the file");
  say("/clear");
  EXPECT_EQ(json::parse(read_file(file)), messages);
  expect("/save! " + file, "saved to");
  EXPECT_EQ(json::parse(read_file(file)), json::array());
}

TEST_F(ChatTerminal, RegenerateAsksAgainWithAnotherSeed) {
  start({"-n", "8", "--temp", "2", "--seed", "5", "--ignore-eos"});
  say("ab");
  const json first = saved();
  expect("/speed", "seed 5");
  say("/regenerate");
  expect("/speed", "seed 6");
  const json second = saved();
  ASSERT_EQ(second.size(), 2u);
  EXPECT_EQ(second[0], first[0]);
  EXPECT_NE(second[1], first[1]);
  say("/regenerate");
  expect("/speed", "seed 7");
}

TEST_F(ChatTerminal, SettingsAreThoseOfTheFlags) {
  start({"--ignore-eos", "--temp", "0", "-n", "2"});
  say("/set max-tokens 3");
  say("/set temp 0.5");
  expect("/set", "temp 0.5, top-k 40");
  say("ab");
  expect("/speed", "answer 3 tokens");
  expect("/set temp 5000", "--temp: expected a number from 0 to 100");
  expect("/set seed -1", "--seed: expected a whole number");
  expect("/set sampling-preset nonsense", "arion: error:");
  expect("/set temperature 1", "there is no setting 'temperature'");
  expect("/set temp", "arion: error:");
  expect("/set", "temp 0.5, top-k 40");
  say("/set guidance-scale 2");
  say("/set negative-prompt be rude");
  say("/set logit-bias 5=100");
  say("/set ignore-eos false");
  say("cd");
  EXPECT_EQ(saved()[3]["content"], "bbb");
}

TEST_F(ChatTerminal, TheSystemMessageAndTheContextAreShown) {
  start({"-n", "2", "--temp", "0", "--system", "ab"});
  expect("/system", "ab\r\n");
  const auto used = [&] { return std::stoi(say("/tokens")); };
  const int before = used();
  say("cd");
  EXPECT_GT(used(), before);
  expect("/tokens", "of 512 tokens used");
  say("/system xyz xyz");
  EXPECT_EQ(saved()[0], (json{{"role", "system"}, {"content", "xyz xyz"}}));
  EXPECT_EQ(saved().size(), 3u);
  say("/clear");
  EXPECT_EQ(saved().size(), 1u);
  say("/system \"\"");
  EXPECT_EQ(saved().size(), 0u);
  expect("/system", "no system message");
}

TEST_F(ChatTerminal, CommandsOfAConversationSaySoWithoutOne) {
  start({"--raw", "-n", "2", "--temp", "0"});
  say("ab");
  expect("/save x", "/save needs a conversation: --raw");
  expect("/speed", "answer 2 tokens");
}

TEST_F(ChatTerminal, ControlCStopsTheAnswerAndNothingElse) {
  start({"--temp", "0", "--ignore-eos"}, {.context = 32768});
  const std::string text = run_arion("run -n 8 --temp 0 --ignore-eos -p ab " + model_).out;
  program_->type("ab\r");
  program_->read_until(text.substr(0, text.size() - 1));
  program_->type("\x03");
  program_->read_until("stopped");
  program_->read_to_prompt();
  const json messages = saved();
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_TRUE(messages[1]["content"].get<std::string>().starts_with(text.substr(0, 4)));
  say("/set max-tokens 2");
  say("cd");
  EXPECT_EQ(saved().size(), 4u);
}

TEST_F(ChatTerminal, ControlCAtThePromptDropsTheTextAndEndsWhenPressedTwice) {
  start();
  program_->type("/nonsense");
  program_->read_until("/nonsense");
  program_->type("\x03");
  program_->read_to_prompt();
  program_->type("\x03");
  program_->read_until("Ctrl-C once more");
  program_->read_to_prompt();
  program_->type("\x03");
  EXPECT_EQ(program_->wait_for_end(), 130);
  EXPECT_EQ(program_->rest().find("no command"), std::string::npos);
}

TEST_F(ChatTerminal, PastedLinesAndAltEnterMakeOneMessage) {
  start({"-n", "1", "--temp", "0"});
  program_->type("\x1b[200~ab\rcd\n\tef\x1b[201~");
  program_->read_until("ef");
  say("\x1b\r"
      "gh \xc3\xa4\xe2\x82\xac");
  EXPECT_EQ(saved()[0]["content"], "ab\ncd\n\tef\ngh \xc3\xa4\xe2\x82\xac");
}

TEST_F(ChatTerminal, HistoryComesBackInTheNextChat) {
  start({"-n", "1", "--temp", "0"});
  say("ab");
  program_->type("\x04");
  EXPECT_EQ(program_->wait_for_end(), 0);
  start({"-n", "1", "--temp", "0"});
  say("\x1b[A"
      "c");  // up, and more text behind it
  EXPECT_EQ(saved()[0]["content"], "abc");
  EXPECT_EQ(std::filesystem::status(path("state/arion/history")).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(ChatTerminal, LinesAreEditedInPlace) {
  start({"-n", "1", "--temp", "0"});
  say("xbd\x1b[D\x7f\x01\x1b[3~a\x05"
      "e");  // left, backspace, home, delete, "a", end, "e"
  EXPECT_EQ(saved()[0]["content"], "ade");
}

TEST_F(ChatTerminal, AnswersCannotControlTheTerminal) {
  start({"-n", "40", "--temp", "2", "--seed", "1", "--ignore-eos"}, {.writes_controls = true});
  const std::string shown = say("AB");
  EXPECT_NE(shown.find("\\x1b["), std::string::npos) << shown;
  const std::string answer = saved()[1]["content"];
  const size_t escape = answer.find('\x1b');
  ASSERT_NE(escape, std::string::npos);
  EXPECT_EQ(shown.find(answer.substr(escape, 4)), std::string::npos);
}

TEST_F(ChatTerminal, TheTerminalIsLeftAsItWasFound) {
  start();
  ASSERT_EQ(kill(program_->pid(), SIGTERM), 0);
  EXPECT_EQ(program_->wait_for_end(), -1);
  EXPECT_TRUE(program_->rest().ends_with("\x1b[?2004l")) << program_->rest();
}

}  // namespace
}  // namespace arion::test

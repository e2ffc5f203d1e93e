// A chat on a terminal: messages, commands, answers.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "answer_settings.h"
#include "chat_session.h"
#include "history_file.h"
#include "line_editor.h"

namespace arion::app {

struct ChatOptions {
  bool raw = false;          // messages are text to go on with, without a conversation
  bool shows_speed = false;  // after every answer
};

// Whether prompts are turns of a conversation, or text to go on with.
bool is_conversation(ChatSession& session, const ChatOptions& options);

// The answer to the prompt; `on_text` gets its text as it is made.
Answer make_answer(ChatSession& session, const std::string& prompt, const AnswerOptions& answer,
                   const ChatOptions& options, const ChatSession::OnText& on_text);

// The answer to the prompt on standard output as it is made, made harmless where that is a
// terminal.
Answer print_answer(ChatSession& session, const std::string& prompt, const AnswerOptions& answer,
                    const ChatOptions& options);

// Tokens, tokens per second, seed; on standard error.
void log_speed(LogLevel level, const Answer& answer);

// Of one thread. Answers go to standard output, all else to standard error.
class Chat {
 public:
  // The session must outlive the chat.
  Chat(ChatSession& session, AnswerSettings settings, ChatOptions options);

  // Until the input ends. Throws Interrupted when Ctrl-C asks for the end.
  void run();

 private:
  struct Command {
    std::string_view name, argument, help;
    bool of_conversation;
    void (Chat::*run)(const std::string& argument);
  };
  static const Command kCommands[];

  ReadOutcome read(std::string& message);
  void take(const std::string& line);
  void command(const std::string& line);
  void conclude(Answer answer);

  void help(const std::string&);
  void system(const std::string& text);
  void clear(const std::string&);
  void save(const std::string& file);
  void save_over(const std::string& file);
  void set(const std::string& assignment);
  void regenerate(const std::string&);
  void tokens(const std::string&);
  void speed(const std::string&);
  void quit(const std::string&);

  ChatSession& session_;
  AnswerSettings settings_;
  AnswerOptions answer_;  // what the settings mean
  const ChatOptions options_;
  std::optional<LineEditor> editor_;  // on a terminal that can be edited on
  HistoryFile history_;
  std::optional<Answer> last_;
  bool has_quit_ = false;
};

}  // namespace arion::app

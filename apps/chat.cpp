#include "chat.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "answer_view.h"
#include "base/error.h"
#include "base/output_file.h"
#include "command.h"
#include "interrupt.h"

namespace arion::app {
namespace {

constexpr const char* kPrompt = "> ";
constexpr std::string_view kBlanks = " \t\n";

std::string trim(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  const size_t end = text.find_last_not_of(kBlanks) + 1;
  return begin < end ? std::string(text.substr(begin, end - begin)) : std::string();
}

// The first word and the rest.
std::pair<std::string, std::string> split_word(const std::string& text) {
  const size_t end = std::min(text.find_first_of(kBlanks), text.size());
  return {text.substr(0, end), trim(text.substr(end))};
}

// "~/chat.json" as a shell would take it.
std::string expand_home(const std::string& path) {
  const char* home = std::getenv("HOME");
  return path.starts_with("~/") && home != nullptr ? home + path.substr(1) : path;
}

void say(std::string_view text) {
  fmt::print(stderr, "{}\n", show_controls(text));
}

std::string messages_to_json(const std::vector<ChatMessage>& messages) {
  using nlohmann::ordered_json;
  ordered_json list = ordered_json::array();
  for (const ChatMessage& message : messages) {
    list.push_back({{"role", message.role}, {"content", message.content}});
  }
  return list.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

// What streams to standard output, shown as is fit for what that is.
class AnswerOutput {
 public:
  explicit AnswerOutput(const ChatSession& session) : session_(session) {}

  void print(std::string_view text) {
    // Only now the prompt is known.
    if (isatty(STDOUT_FILENO) != 0 && !view_) {
      view_.emplace(AnswerViewOptions{.has_colour = has_colour(stdout),
                                      .starts_in_reasoning = session_.starts_in_reasoning()});
    }
    has_text_ = true;
    write(view_ ? view_->push(text) : text);
  }
  void finish() {
    if (view_) write(view_->finish());
    write("\n");
  }
  bool has_text() const { return has_text_; }

 private:
  static void write(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }

  const ChatSession& session_;
  std::optional<AnswerView> view_;
  bool has_text_ = false;
};

// Streams the answer that `ask` makes; what was begun is ended, even by an error.
Answer stream_answer(const ChatSession& session,
                     const std::function<Answer(const ChatSession::OnText&)>& ask) {
  AnswerOutput output(session);
  try {
    Answer answer = ask([&](std::string_view text) { output.print(text); });
    output.finish();
    return answer;
  } catch (const Error&) {
    if (output.has_text()) output.finish();
    throw;
  }
}

}  // namespace

bool is_conversation(ChatSession& session, const ChatOptions& options) {
  return !options.raw && session.has_chat_format();
}

Answer make_answer(ChatSession& session, const std::string& prompt, const AnswerOptions& answer,
                   const ChatOptions& options, const ChatSession::OnText& on_text) {
  return is_conversation(session, options) ? session.chat(prompt, answer, on_text)
                                           : session.complete(prompt, answer, on_text);
}

Answer print_answer(ChatSession& session, const std::string& prompt, const AnswerOptions& answer,
                    const ChatOptions& options) {
  return stream_answer(session, [&](const ChatSession::OnText& on_text) {
    return make_answer(session, prompt, answer, options, on_text);
  });
}

void log_speed(LogLevel level, const Answer& answer) {
  log(level,
      "prompt {} tokens, {} of them known, {:.1f} tokens/s; answer {} tokens, {:.1f} tokens/s; "
      "seed {}",
      answer.prompt_tokens.size(), answer.summary.cached_tokens, answer.prompt_tokens_per_s(),
      answer.tokens.size(), answer.decode_tokens_per_s(), answer.summary.seed);
}

const Chat::Command Chat::kCommands[] = {
    {"help", "", "these commands", false, &Chat::help},
    {"system", "[TEXT]", "change the system message (\"\": to none), or show it", true,
     &Chat::system},
    {"clear", "", "start a new conversation under the same system message", true, &Chat::clear},
    {"save", "FILE", "write the conversation to a new file, as `arion render --messages` reads it",
     true, &Chat::save},
    {"save!", "FILE", "the same, over a file that exists", true, &Chat::save_over},
    {"set", "[NAME VALUE]", "change an option of `arion run`, as /set temp 0.7, or list them",
     false, &Chat::set},
    {"regenerate", "", "drop the last answer and ask again, with another seed", true,
     &Chat::regenerate},
    {"tokens", "", "how much of the context is used", true, &Chat::tokens},
    {"speed", "", "how fast the last answer was", false, &Chat::speed},
    {"quit", "", "end the chat, as Ctrl-D does", false, &Chat::quit},
};

Chat::Chat(ChatSession& session, AnswerSettings settings, ChatOptions options)
    : session_(session),
      settings_(std::move(settings)),
      answer_(resolve_settings(settings_, session.metadata(), session.tokenizer())),
      options_(options),
      history_(LineEditor::is_possible() ? history_path() : std::filesystem::path()) {
  if (!LineEditor::is_possible()) return;
  editor_.emplace(kPrompt);
  for (const std::string& entry : history_.load()) editor_->remember(entry);
}

void Chat::run() {
  log(LogLevel::info,
      "type a message and press Enter; Ctrl-C stops an answer, Ctrl-D ends, /help says more");
  // With an editor Ctrl-C never ends the program by itself.
  std::optional<InterruptGuard> guard;
  if (editor_) guard.emplace();
  bool is_warned = false;  // that Ctrl-C once more ends the chat
  for (std::string line;;) {
    switch (read(line)) {
      case ReadOutcome::ended:
        fmt::print(stderr, "\n");
        return;
      case ReadOutcome::interrupted:
        if (is_warned) throw Interrupted{};
        say("Ctrl-C once more or Ctrl-D ends the chat");
        is_warned = true;
        break;
      case ReadOutcome::cleared:
        is_warned = false;
        break;
      case ReadOutcome::message:
        is_warned = false;
        take(line);
        if (has_quit_) return;
    }
  }
}

ReadOutcome Chat::read(std::string& message) {
  if (editor_) return editor_->read(message);
  fmt::print(stderr, "{}", kPrompt);
  return std::getline(std::cin, message) ? ReadOutcome::message : ReadOutcome::ended;
}

// What goes wrong is said, and the conversation goes on without it.
void Chat::take(const std::string& line) {
  if (trim(line).empty()) return;
  InterruptGuard::lower();
  if (editor_) {
    editor_->remember(line);
    history_.append(line);
  }
  try {
    if (line[0] == '/' && !line.starts_with("//")) return command(line);
    const std::string message = line.substr(line[0] == '/' ? 1 : 0);
    conclude(print_answer(session_, message, answer_, options_));
  } catch (const Error& error) {
    log_message(LogLevel::error, error.what());
  }
}

void Chat::command(const std::string& line) {
  const auto words = split_word(line.substr(1));
  const std::string &name = words.first, &argument = words.second;
  const auto* found = std::find_if(std::begin(kCommands), std::end(kCommands),
                                   [&](const Command& command) { return command.name == name; });
  if (found == std::end(kCommands)) {
    fail(ErrorCode::usage,
         "there is no command '/{}'; /help lists them, // begins a message with a slash", name);
  }
  if (found->argument.empty() && !argument.empty()) {
    fail(ErrorCode::usage, "/{} takes no argument", name);
  }
  if (found->of_conversation && !is_conversation(session_, options_)) {
    fail(ErrorCode::usage, "/{} needs a conversation: {}", name,
         options_.raw ? "--raw continues plain text" : "the model has no known chat format");
  }
  (this->*found->run)(argument);
}

void Chat::conclude(Answer answer) {
  last_ = std::move(answer);
  if (last_->finish == FinishReason::cancelled) log(LogLevel::info, "stopped");
  log_speed(options_.shows_speed ? LogLevel::info : LogLevel::debug, *last_);
}

void Chat::help(const std::string&) {
  for (const Command& command : kCommands) {
    say(fmt::format("{:<19} {}", fmt::format("/{} {}", command.name, command.argument),
                    command.help));
  }
  say("//...               a message that begins with a slash\n"
      "Ctrl-C stops an answer, Ctrl-D ends. Alt-Enter begins a new line; pasted lines stay one "
      "message.");
}

void Chat::system(const std::string& text) {
  if (!text.empty()) return session_.set_system(text == "\"\"" ? "" : text);
  const auto& messages = session_.messages();
  const bool has_system = !messages.empty() && messages.front().role == "system";
  say(has_system ? messages.front().content : "no system message but what the template says");
}

void Chat::clear(const std::string&) {
  session_.clear();
}

void Chat::save(const std::string& file) {
  if (file.empty()) fail(ErrorCode::usage, "name the file to save the conversation to");
  OutputFile out(expand_home(file), {.is_private = true});
  out.write(messages_to_json(session_.messages()));
  if (!out.commit_new()) {
    fail(ErrorCode::usage, "there is a file '{}'; /save! {} writes over it", file, file);
  }
  say(fmt::format("saved to {}", file));
}

void Chat::save_over(const std::string& file) {
  if (file.empty()) fail(ErrorCode::usage, "name the file to save the conversation to");
  OutputFile out(expand_home(file), {.is_private = true});
  out.write(messages_to_json(session_.messages()));
  out.commit();
  say(fmt::format("saved to {}", file));
}

void Chat::set(const std::string& assignment) {
  const auto [name, value] = split_word(assignment);
  if (name.empty()) {
    const SamplingParams& now = answer_.sampling;
    say(fmt::format("temp {}, top-k {}, top-p {}, min-p {}, seed {}, max-tokens {}; all of: {}",
                    now.temperature, now.top_k, now.top_p, now.min_p,
                    now.seed ? fmt::to_string(*now.seed) : "drawn", answer_.max_tokens,
                    fmt::join(setting_names(), ", ")));
    return;
  }
  AnswerSettings changed = change_setting(settings_, name, value);
  answer_ = resolve_settings(changed, session_.metadata(), session_.tokenizer());
  settings_ = std::move(changed);
}

void Chat::regenerate(const std::string&) {
  AnswerOptions again = answer_;
  // A seed that was asked for gave the answer that is not wanted.
  if (again.sampling.seed && last_) again.sampling.seed = last_->summary.seed + 1;
  if (again.sampling.temperature == 0) {
    log(LogLevel::info, "the temperature is 0: the answer will be the same");
  }
  conclude(stream_answer(session_, [&](const ChatSession::OnText& on_text) {
    return session_.regenerate(again, on_text);
  }));
}

void Chat::tokens(const std::string&) {
  const size_t used = session_.count_tokens();
  const auto all = static_cast<size_t>(session_.context_tokens());
  say(fmt::format("{} of {} tokens used, {} free", used, all, all - std::min(used, all)));
}

void Chat::quit(const std::string&) {
  has_quit_ = true;
}

void Chat::speed(const std::string&) {
  if (!last_) fail(ErrorCode::usage, "there is no answer yet");
  log_speed(LogLevel::info, *last_);
}

}  // namespace arion::app

// Reading a message on a terminal: editing, history, text pasted in several lines.
#pragma once
#include <cstdio>
#include <cwchar>
#include <optional>
#include <string>
#include <string_view>

struct editline;  // of libedit
struct historyW;

namespace arion::app {

class SignalPipe;

enum class ReadOutcome {
  message,
  cleared,      // Ctrl-C: what was typed is gone
  interrupted,  // Ctrl-C with nothing typed
  ended,        // Ctrl-D with nothing typed, or the terminal is gone
};

// Edits on standard input and standard error with the keys of libedit (and of ~/.editrc). Alt-Enter
// and pasted line ends are part of the message. One at a time.
class LineEditor {
 public:
  explicit LineEditor(std::string_view prompt);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  // Whether standard input and standard error are terminals that can be edited on.
  static bool is_possible();

  // Makes the text the newest of the history.
  void remember(std::string_view text);
  ReadOutcome read(std::string& message);

 private:
  // Set to the mode for editing while it lives.
  class Editing;

  static int next_char(editline* edit, wchar_t* out);
  static unsigned char insert_newline(editline* edit, wint_t key);
  static unsigned char insert_pasted(editline* edit, wint_t key);
  static LineEditor& of(editline* edit);

  void bind_keys();
  std::optional<char32_t> next_code_point();
  bool fill();
  bool obey(int signal);
  void begin_editing();
  void end_editing();
  void leave_text();

  std::FILE* out_;  // standard error, buffered
  std::wstring prompt_;
  editline* edit_;
  historyW* history_;
  std::string bytes_;  // read, but not handed out yet
  const SignalPipe* signals_ = nullptr;
  ReadOutcome outcome_ = ReadOutcome::message;
};

}  // namespace arion::app

#include "line_editor.h"

#include <histedit.h>
#include <langinfo.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstring>

#include "base/check.h"
#include "base/error.h"
#include "base/utf8.h"
#include "history_file.h"
#include "signal_pipe.h"
#include "terminal.h"

namespace arion::app {
namespace {

// Terminals put pasted text between two such sequences when they are asked to.
constexpr const char* kPasteOn = "\x1b[?2004h";
constexpr const char* kPasteOff = "\x1b[?2004l";
constexpr std::u32string_view kPasteEnd = U"\x1b[201~";

// libedit shows what the locale knows as printable. Chats are in UTF-8 whatever the locale says.
void use_utf8() {
  std::setlocale(LC_CTYPE, "");
  if (std::string_view(nl_langinfo(CODESET)) != "UTF-8") std::setlocale(LC_CTYPE, "C.UTF-8");
}

std::wstring widen(std::string_view text) {
  static_assert(sizeof(wchar_t) == sizeof(char32_t));
  std::wstring wide;
  while (!text.empty()) {
    const Utf8Char c = decode_utf8(text);
    if (c.code_point != 0) wide += static_cast<wchar_t>(c.code_point);
    text.remove_prefix(c.length);
  }
  return wide;
}

std::string narrow(std::wstring_view wide) {
  std::string text;
  for (const wchar_t c : wide) append_utf8(text, static_cast<char32_t>(c));
  return text;
}

// Line ends as the keyboard would send them become those of text.
std::wstring as_lines(std::u32string_view pasted) {
  std::wstring text;
  for (const char32_t c : pasted) {
    if (c != 0) text += c == U'\r' ? L'\n' : static_cast<wchar_t>(c);
  }
  return text;
}

}  // namespace

// The terminal as libedit wants it, and signals as input.
class LineEditor::Editing {
 public:
  explicit Editing(LineEditor& editor)
      : editor_(editor), signals_({SIGINT, SIGWINCH, SIGTSTP, SIGTERM, SIGHUP, SIGQUIT}) {
    editor_.signals_ = &signals_;
    editor_.begin_editing();
  }
  ~Editing() {
    editor_.end_editing();
    editor_.signals_ = nullptr;
  }
  Editing(const Editing&) = delete;
  Editing& operator=(const Editing&) = delete;

 private:
  LineEditor& editor_;
  SignalPipe signals_;
};

bool LineEditor::is_possible() {
  return isatty(STDIN_FILENO) != 0 && is_terminal(stderr);
}

LineEditor::LineEditor(std::string_view prompt) : prompt_(widen(prompt)) {
  use_utf8();
  out_ = fdopen(dup(STDERR_FILENO), "w");
  if (out_ == nullptr) {
    fail(ErrorCode::failed, "cannot open the terminal: {}", std::strerror(errno));
  }
  edit_ = el_init("arion", stdin, out_, out_);
  history_ = history_winit();
  CHECK(edit_ != nullptr && history_ != nullptr);
  HistEventW event;
  history_w(history_, &event, H_SETSIZE, static_cast<int>(HistoryFile::kMaxEntries));
  history_w(history_, &event, H_SETUNIQUE, 1);
  el_wset(edit_, EL_CLIENTDATA, this);
  el_wset(edit_, EL_HIST, history_w, history_);
  el_wset(edit_, EL_GETCFN, &LineEditor::next_char);
  el_wset(edit_, EL_PROMPT,
          static_cast<wchar_t* (*)(EditLine*)>([](EditLine* e) { return of(e).prompt_.data(); }));
  bind_keys();
}

LineEditor::~LineEditor() {
  el_end(edit_);
  history_wend(history_);
  std::fclose(out_);
}

void LineEditor::bind_keys() {
  el_wset(edit_, EL_EDITOR, L"emacs");
  el_wset(edit_, EL_ADDFN, L"arion-newline", L"Begins a new line of the message",
          &LineEditor::insert_newline);
  el_wset(edit_, EL_ADDFN, L"arion-paste", L"Inserts pasted text", &LineEditor::insert_pasted);
  constexpr const wchar_t* kKeys[][2] = {
      {L"\\e[200~", L"arion-paste"},   {L"\\e\\n", L"arion-newline"},
      {L"\\e\\r", L"arion-newline"},   {L"\\e[3~", L"ed-delete-next-char"},
      {L"\\e[H", L"ed-move-to-beg"},   {L"\\e[F", L"ed-move-to-end"},
      {L"\\e[1~", L"ed-move-to-beg"},  {L"\\e[4~", L"ed-move-to-end"},
      {L"\\e[1;5C", L"em-next-word"},  {L"\\e[1;5D", L"ed-prev-word"},
      {L"^W", L"ed-delete-prev-word"}, {L"^R", L"em-inc-search-prev"},
  };
  for (const auto& [key, action] : kKeys) el_wset(edit_, EL_BIND, key, action, nullptr);
  el_source(edit_, nullptr);
}

LineEditor& LineEditor::of(EditLine* edit) {
  void* self = nullptr;
  el_wget(edit, EL_CLIENTDATA, &self);
  return *static_cast<LineEditor*>(self);
}

void LineEditor::remember(std::string_view text) {
  HistEventW event;
  history_w(history_, &event, H_ENTER, widen(text).c_str());
}

ReadOutcome LineEditor::read(std::string& message) {
  const Editing editing(*this);
  outcome_ = ReadOutcome::ended;
  int count = 0;
  const wchar_t* text = el_wgets(edit_, &count);
  if (text == nullptr) return outcome_;
  message = narrow({text, static_cast<size_t>(count)});
  if (message.ends_with('\n')) message.pop_back();
  return ReadOutcome::message;
}

// Before the prompt, so that what is typed once it is there is read key by key.
void LineEditor::begin_editing() {
  el_wset(edit_, EL_PREP_TERM, 1);
  std::fputs(kPasteOn, out_);
  std::fflush(out_);
}

void LineEditor::end_editing() {
  el_wset(edit_, EL_PREP_TERM, 0);
  std::fputs(kPasteOff, out_);
  std::fflush(out_);
}

// Puts the cursor below what was typed.
void LineEditor::leave_text() {
  const LineInfoW* line = el_wline(edit_);
  el_cursor(edit_, static_cast<int>(line->lastchar - line->cursor));
  el_wset(edit_, EL_REFRESH);
  std::fputs("\r\n", out_);
  std::fflush(out_);
}

// What a signal asks for; false: this line is not read to its end.
bool LineEditor::obey(int signal) {
  switch (signal) {
    case 0:
      return true;
    case SIGWINCH:
      el_resize(edit_);
      el_wset(edit_, EL_REFRESH);
      return true;
    case SIGTSTP:
      end_editing();
      raise(SIGSTOP);
      begin_editing();
      el_wset(edit_, EL_REFRESH);
      return true;
    case SIGINT: {
      const LineInfoW* line = el_wline(edit_);
      outcome_ = line->lastchar == line->buffer ? ReadOutcome::interrupted : ReadOutcome::cleared;
      leave_text();
      return false;
    }
    default:  // ends the program, but not with a terminal that nobody can use
      leave_text();
      end_editing();
      std::signal(signal, SIG_DFL);
      raise(signal);
      return false;
  }
}

// Waits for more bytes; false at the end.
bool LineEditor::fill() {
  for (;;) {
    pollfd files[2] = {{STDIN_FILENO, POLLIN, 0}, {signals_->file(), POLLIN, 0}};
    if (poll(files, 2, -1) < 0 && errno != EINTR) return false;
    if (files[1].revents != 0 && !obey(signals_->take())) return false;
    if (files[0].revents == 0) continue;
    char buffer[4096];
    const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return false;
    bytes_.append(buffer, static_cast<size_t>(got));
    return true;
  }
}

std::optional<char32_t> LineEditor::next_code_point() {
  for (;;) {
    if (!bytes_.empty()) {
      const Utf8Char c = decode_utf8(bytes_);
      if (!c.is_cut) {
        bytes_.erase(0, c.length);
        return c.code_point;
      }
    }
    if (!fill()) return std::nullopt;
  }
}

int LineEditor::next_char(EditLine* edit, wchar_t* out) {
  const auto code_point = of(edit).next_code_point();
  if (!code_point) return 0;
  *out = static_cast<wchar_t>(*code_point);
  return 1;
}

unsigned char LineEditor::insert_newline(EditLine* edit, wint_t) {
  return el_winsertstr(edit, L"\n") == 0 ? CC_REFRESH : CC_ERROR;
}

unsigned char LineEditor::insert_pasted(EditLine* edit, wint_t) {
  std::u32string pasted;
  while (!pasted.ends_with(kPasteEnd)) {
    const auto code_point = of(edit).next_code_point();
    if (!code_point) return CC_EOF;
    pasted += *code_point;
  }
  pasted.resize(pasted.size() - kPasteEnd.size());
  const std::wstring text = as_lines(pasted);
  if (text.empty()) return CC_NORM;
  return el_winsertstr(edit, text.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
}

}  // namespace arion::app

#include "answer_view.h"

#include <algorithm>

#include "terminal.h"

namespace arion::app {
namespace {

constexpr std::string_view kReasoningBegin = "<think>", kReasoningEnd = "</think>";
// Each piece by itself: whatever comes between two of them is not dimmed.
constexpr std::string_view kDim = "\x1b[2m", kPlain = "\x1b[0m";

// How many of the last bytes may be the beginning of `mark`.
size_t count_begun(std::string_view text, std::string_view mark) {
  for (size_t n = std::min(text.size(), mark.size() - 1); n > 0; --n) {
    if (text.ends_with(mark.substr(0, n))) return n;
  }
  return 0;
}

}  // namespace

void AnswerView::show(std::string_view text, std::string& out) const {
  if (text.empty()) return;
  const bool is_dim = is_reasoning_ && has_colour_;
  if (is_dim) out += kDim;
  out += show_controls(text);
  if (is_dim) out += kPlain;
}

std::string AnswerView::push(std::string_view text) {
  std::string out;
  waiting_ += text;
  std::string_view rest = waiting_;
  for (;;) {
    const std::string_view mark = is_reasoning_ ? kReasoningEnd : kReasoningBegin;
    const size_t at = rest.find(mark);
    if (at == std::string_view::npos) {
      const size_t ready = rest.size() - count_begun(rest, mark);
      show(rest.substr(0, ready), out);
      waiting_ = std::string(rest.substr(ready));
      return out;
    }
    // Both marks look like what they enclose.
    const size_t mark_end = at + mark.size();
    show(rest.substr(0, is_reasoning_ ? mark_end : at), out);
    if (!is_reasoning_) {
      is_reasoning_ = true;
      show(mark, out);
    } else {
      is_reasoning_ = false;
    }
    rest.remove_prefix(mark_end);
  }
}

std::string AnswerView::finish() {
  std::string out;
  show(waiting_, out);
  waiting_.clear();
  return out;
}

}  // namespace arion::app

// An answer as a terminal shows it.
#pragma once
#include <string>
#include <string_view>

namespace arion::app {

struct AnswerViewOptions {
  bool has_colour = false;
  bool starts_in_reasoning = false;  // the prompt ended with <think>
};

// Makes control characters of the answer visible, so that it cannot control the terminal, and dims
// what the model thinks, from <think> to </think>.
class AnswerView {
 public:
  explicit AnswerView(AnswerViewOptions options)
      : has_colour_(options.has_colour), is_reasoning_(options.starts_in_reasoning) {}

  // What to show of the next whole characters. The beginning of a mark waits for its end.
  std::string push(std::string_view text);
  std::string finish();

 private:
  void show(std::string_view text, std::string& out) const;

  bool has_colour_;
  bool is_reasoning_;
  std::string waiting_;
};

}  // namespace arion::app

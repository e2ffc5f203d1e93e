// arion detokenize: token ids from standard input as text.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "assembly/model_text.h"
#include "base/error.h"
#include "command.h"
#include "input_file.h"
#include "text/detokenizer.h"
#include "text/tokenizer.h"

namespace arion::app {
namespace {

struct DetokenizeArguments {
  std::string model;
  bool show_control = false;
};

// Ids separated by spaces, commas or line ends, perhaps in brackets as JSON spells a list.
std::vector<int32_t> parse_ids(std::string_view text, int32_t count) {
  constexpr std::string_view kBetween = " \t\r\n,[]";
  std::vector<int32_t> ids;
  for (size_t begin = text.find_first_not_of(kBetween); begin != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(kBetween, begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    int32_t id = -1;
    const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || rest != word.data() + word.size() || id < 0 || id >= count) {
      fail(ErrorCode::bad_input, "standard input: '{}' at byte {} is no token id, expected 0 to {}",
           printable(word), begin, count - 1);
    }
    ids.push_back(id);
    begin = text.find_first_not_of(kBetween, end);
  }
  return ids;
}

void detokenize(const DetokenizeArguments& arguments) {
  const Tokenizer tokenizer = load_model_text(arguments.model).tokenizer;
  const std::vector<int32_t> ids = parse_ids(read_standard_input(), tokenizer.size());
  const std::string text = decode_bytes(tokenizer, ids, {.show_control = arguments.show_control});
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    fail(ErrorCode::failed, "could not write all of the output");
  }
}

}  // namespace

void command_detokenize(CLI::App& program, const GlobalOptions&) {
  auto arguments = std::make_shared<DetokenizeArguments>();
  CLI::App* command =
      program.add_subcommand("detokenize", "Turns token ids on standard input into text, verbatim");
  add_model_argument(*command, arguments->model, kTokenizerHelp);
  command->add_flag("--special", arguments->show_control, "Show the spelling of control tokens");
  command->footer(
      "Examples:\n"
      "  echo 504 3575 | arion detokenize model.gguf\n"
      "  arion tokenize model.gguf --ids < text.txt | arion detokenize model.gguf");
  command->callback([arguments] { detokenize(*arguments); });
}

}  // namespace arion::app

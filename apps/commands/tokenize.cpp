// arion tokenize: standard input as token ids.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "assembly/model_text.h"
#include "command.h"
#include "input_file.h"
#include "text/tokenizer.h"

namespace arion::app {
namespace {

struct TokenizeOptions {
  std::string model;
  bool pieces = false;
  bool no_special = false;
};

void tokenize(const TokenizeOptions& options) {
  const Tokenizer tokenizer = load_model_text(options.model).tokenizer;
  const std::string text = read_standard_input();
  const bool special = !options.no_special;
  const std::vector<int32_t> ids =
      tokenizer.encode(text, {.add_special = special, .parse_special = special});
  if (!options.pieces) {
    fmt::print("{}\n", fmt::join(ids, " "));
    return;
  }
  for (const int32_t id : ids) {
    // A control token stands for no bytes; its spelling is what can be shown.
    const std::string_view shown =
        tokenizer.is_control(id) ? tokenizer.spelling(id) : tokenizer.bytes(id);
    fmt::print("{:>8}  {}\n", id, printable(shown));
  }
}

}  // namespace

void command_tokenize(CLI::App& program, const GlobalOptions&) {
  auto options = std::make_shared<TokenizeOptions>();
  CLI::App* command = program.add_subcommand(
      "tokenize", "Turns standard input, taken verbatim, into the token ids of a model");
  add_model_argument(*command, options->model, kTokenizerHelp);
  CLI::Option* ids = command->add_flag_function(
      "--ids", [](int64_t) {}, "Ids on one line (the default)");
  command->add_flag("--pieces", options->pieces, "One token a line, with the text it stands for")
      ->excludes(ids);
  command->add_flag("--no-special", options->no_special,
                    "Add no BOS or EOS and take the spelling of control tokens as plain text");
  command->footer(
      "Examples:\n"
      "  printf 'Hello world' | arion tokenize model.gguf --pieces\n"
      "  arion tokenize model.gguf --ids --no-special < text.txt\n"
      "  arion tokenize folder/with/tokenizer.json < text.txt");
  command->callback([options] { tokenize(*options); });
}

}  // namespace arion::app

#include "answer_settings.h"

#include <limits>

#include "base/error.h"
#include "number_option.h"

namespace arion::app {
namespace {

// A command with these options alone.
void add_settings(CLI::App& command, AnswerSettings& settings) {
  command.set_help_flag();
  add_answer_options(command, settings);
  // On a command line the two come together, here one after the other.
  CLI::Option* prompt = command.get_option("--negative-prompt");
  CLI::Option* scale = command.get_option("--guidance-scale");
  prompt->remove_needs(scale);
  scale->remove_needs(prompt);
}

}  // namespace

void add_answer_options(CLI::App& command, AnswerSettings& settings) {
  AnswerOptions& answer = settings.answer;
  command
      .add_option("-n,--max-tokens", answer.max_tokens,
                  "Tokens to generate at most; -1: until the model stops or the context ends")
      ->check(number_from(-1, 1 << 26))
      ->capture_default_str();
  command.add_option("--stop", answer.stop_strings, "Text that ends the answer; may be repeated")
      ->allow_extra_args(false);
  command
      .add_option("--stop-id", answer.stop_ids, "Token id that ends the answer; may be repeated")
      ->check(number_from(0, std::numeric_limits<TokenId>::max()))
      ->allow_extra_args(false);
  command
      .add_option("--min-tokens", answer.min_tokens,
                  "Tokens to generate at least before an end token or stop id")
      ->check(number_from(0, 1 << 26));
  command.add_flag("--ignore-eos", answer.ignores_end, "Go on after the model's end token");
  command.add_flag("--show-control", answer.shows_control, "Show control tokens in the answer");
  add_sampling_options(command, settings.sampling);
}

AnswerOptions resolve_settings(AnswerSettings settings, const GgufMetadata& metadata,
                               const Tokenizer& tokenizer) {
  check_sampling_options(settings.sampling);
  AnswerOptions answer = std::move(settings.answer);
  answer.negative_prompt = settings.sampling.negative_prompt;
  answer.guidance_scale = settings.sampling.guidance_scale;
  answer.sampling = resolve_sampling(settings.sampling, metadata);
  resolve_texts(settings.sampling, tokenizer, answer.sampling);
  return answer;
}

AnswerSettings change_setting(AnswerSettings settings, const std::string& name,
                              const std::string& value) {
  CLI::App command;
  add_settings(command, settings);
  const std::string flag = "--" + name;
  if (command.get_option_no_throw(flag) == nullptr) {
    fail(ErrorCode::usage, "there is no setting '{}'", name);
  }
  try {
    command.parse(std::vector<std::string>{value.empty() ? flag : flag + "=" + value});
  } catch (const CLI::ParseError& error) {
    fail(ErrorCode::usage, "{}", error.what());
  }
  return settings;
}

std::vector<std::string> setting_names() {
  CLI::App command;
  AnswerSettings settings;
  add_settings(command, settings);
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    names.push_back(option->get_lnames().at(0));
  }
  return names;
}

}  // namespace arion::app

// arion render: the prompt that a chat template makes of messages.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assembly/model_text.h"
#include "base/error.h"
#include "chat/chat_template.h"
#include "command.h"
#include "input_file.h"
#include "text_option.h"

namespace arion::app {
namespace {

struct RenderCommandOptions {
  std::string model;
  std::string template_file;
  std::string messages_file;
  std::string template_name;
  std::string now;
  std::vector<std::string> variables;  // NAME=VALUE
  bool continues = false;
  bool shows_ids = false;
};

// "2026-11-29" or "2026-11-29T12:34:56", the seconds or the whole time left out at will.
jinja::LocalTime parse_time(const std::string& text) {
  jinja::LocalTime time;
  for (const char* format : {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"}) {
    time = {};
    const char* const end = strptime(text.c_str(), format, &time.fields);
    if (end != nullptr && *end == '\0') return time;
  }
  fail(ErrorCode::usage, "--now is '{}', expected a time such as 2026-11-29T12:00:00", text);
}

// A value that is JSON is taken as such, anything else as text.
void set_variable(Conversation& conversation, const std::string& assignment) {
  const size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    fail(ErrorCode::usage, "--set is '{}', expected NAME=VALUE", assignment);
  }
  const std::string name = assignment.substr(0, equals), value = assignment.substr(equals + 1);
  if (nlohmann::json::accept(value)) {
    conversation.set_variable(name, value);
  } else {
    conversation.set_text_variable(name, value);
  }
}

Conversation read_conversation(const RenderCommandOptions& options) {
  Conversation conversation =
      Conversation::parse(read_input_file(options.messages_file, "--messages"));
  for (const std::string& assignment : options.variables) set_variable(conversation, assignment);
  return conversation;
}

void print_ids(const Tokenizer& tokenizer, const jinja::Text& prompt) {
  fmt::print("{}\n", fmt::join(encode_prompt(tokenizer, prompt), " "));
}

void render(const RenderCommandOptions& options) {
  const Conversation conversation = read_conversation(options);
  PromptOptions prompt_options{.template_name = options.template_name,
                               .add_generation_prompt = !options.continues,
                               .continue_final_message = options.continues};
  if (!options.now.empty()) prompt_options.now = parse_time(options.now);
  const auto print = [](const jinja::Text& prompt) {
    std::fwrite(prompt.bytes().data(), 1, prompt.size(), stdout);
  };
  if (!options.template_file.empty()) {
    const ChatTemplate chat_template({read_input_file(options.template_file, "--template"), {}},
                                     {});
    return print(chat_template.render(conversation, prompt_options));
  }
  const ModelText text = load_model_text(options.model);
  const auto chat_template = make_chat_template(text);
  if (!chat_template) {
    fail(ErrorCode::bad_input,
         "the model has no chat template and no markers of a known format; name a template with "
         "--template");
  }
  const jinja::Text prompt = chat_template->render(conversation, prompt_options);
  if (options.shows_ids) return print_ids(text.tokenizer, prompt);
  print(prompt);
}

}  // namespace

void command_render(CLI::App& program, const GlobalOptions&) {
  auto options = std::make_shared<RenderCommandOptions>();
  CLI::App* command = program.add_subcommand(
      "render", "Prints the prompt that a chat template makes of a conversation");
  add_model_argument(*command, options->model, kTokenizerHelp);
  CLI::Option* file = command
                          ->add_option("--template", options->template_file,
                                       "Chat template in a file, instead of a model's")
                          ->check(not_empty());
  command
      ->add_option("--messages", options->messages_file,
                   "JSON file: a list of messages, or an object with messages, tools, documents "
                   "and template variables")
      ->required()
      ->check(not_empty());
  command->add_option("--name", options->template_name,
                      "One of several templates of the model, such as tool_use");
  command
      ->add_option("--set", options->variables,
                   "NAME=VALUE, a template variable; a VALUE that is no JSON is text")
      ->allow_extra_args(false);
  command->add_option("--now", options->now, "The time that the template is told, ISO 8601");
  command->add_flag("--continue", options->continues, "Leave the last message open");
  command->add_flag("--ids", options->shows_ids, "Print token ids instead of text")->excludes(file);
  command->footer(
      "Examples:\n"
      "  arion render model.gguf --messages chat.json --set enable_thinking=false\n"
      "  arion render --template chat_template.jinja --messages chat.json --set 'bos_token=<s>'");
  command->callback([options] { render(*options); });
}

}  // namespace arion::app

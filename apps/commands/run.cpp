// arion run: answers a prompt, or chats.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "chat.h"
#include "command.h"
#include "input_file.h"
#include "load_options.h"
#include "text_option.h"

namespace arion::app {
namespace {

using nlohmann::ordered_json;

struct RunOptions {
  LoadOptions load{.logit_rows = kGenerationLogitRows};
  AnswerSettings settings;
  ChatOptions chat;
  std::optional<std::string> prompt, file;
  std::string system;
  bool json = false;
};

ordered_json timings(const Answer& answer, double load_ms) {
  return {{"load_ms", load_ms},
          {"prompt_ms", static_cast<double>(answer.summary.prompt_us) / 1000},
          {"decode_ms", static_cast<double>(answer.summary.decode_us) / 1000},
          {"prompt_tokens_per_s", answer.prompt_tokens_per_s()},
          {"decode_tokens_per_s", answer.decode_tokens_per_s()}};
}

ordered_json logprobs_to_json(const Answer& answer) {
  ordered_json list = ordered_json::array();
  auto number = [](float logprob) {  // JSON has no infinity
    return std::max(logprob, -1e9f);
  };
  for (const TokenLogprobs& entry : answer.logprobs) {
    ordered_json top = ordered_json::array();
    for (const TokenLogprob& rival : entry.top) {
      top.push_back({{"id", rival.id}, {"logprob", number(rival.logprob)}});
    }
    list.push_back({{"logprob", number(entry.chosen)}, {"top", std::move(top)}});
  }
  return list;
}

void print_json(const Answer& answer, const RunOptions& options, double load_ms) {
  ordered_json out{{"text", answer.text},
                   {"tokens", answer.tokens},
                   {"prompt_tokens", answer.prompt_tokens},
                   {"finish_reason", finish_reason_name(answer.finish)},
                   {"seed", answer.summary.seed},
                   {"timings", timings(answer, load_ms)}};
  if (options.settings.sampling.others.logprobs >= 0) out["logprobs"] = logprobs_to_json(answer);
  fmt::print("{}\n", out.dump(1, ' ', false, ordered_json::error_handler_t::replace));
}

void answer_once(ChatSession& session, const std::string& prompt, const AnswerOptions& answer,
                 const RunOptions& options, double load_ms) {
  const Answer result = options.json ? make_answer(session, prompt, answer, options.chat, nullptr)
                                     : print_answer(session, prompt, answer, options.chat);
  if (options.json) {
    print_json(result, options, load_ms);
  } else {
    log_speed(options.chat.shows_speed ? LogLevel::info : LogLevel::debug, result);
  }
  if (result.finish == FinishReason::cancelled) throw Interrupted{};
}

// The prompt of a single answer; nothing means a chat.
std::optional<std::string> read_prompt(const RunOptions& options) {
  if (options.prompt && options.file) {
    fail(ErrorCode::usage, "give the prompt with -p or with -f, not both");
  }
  if (options.prompt) return options.prompt;
  if (options.file) return read_input_file(*options.file, "-f");
  if (isatty(STDIN_FILENO) == 0) return read_standard_input();
  if (options.json) fail(ErrorCode::usage, "--json needs a prompt: -p or -f");
  return std::nullopt;
}

void run_model(RunOptions options, const GlobalOptions& global) {
  SamplingOptions checked = options.settings.sampling;  // before time is spent on a model
  check_sampling_options(checked);
  const std::optional<std::string> prompt = read_prompt(options);
  if (checked.guidance_scale != 1) options.load.kv_sequences = 2;
  LoadedModel loaded = load_model(options.load, global);
  ChatSession session(loaded, options.system);
  if (!options.system.empty() && !is_conversation(session, options.chat)) {
    log(LogLevel::warning, "--system is ignored: {}",
        options.chat.raw ? "--raw continues plain text" : "the model has no known chat format");
  }
  if (!prompt) return Chat(session, options.settings, options.chat).run();
  const AnswerOptions answer =
      resolve_settings(options.settings, session.metadata(), session.tokenizer());
  answer_once(session, *prompt, answer, options, loaded.load_ms);
}

}  // namespace

void command_run(CLI::App& program, const GlobalOptions& global) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = program.add_subcommand("run", "Answers a prompt, or chats");
  add_load_options(*command, options->load);
  add_context_option(*command, options->load);
  command->add_option("-p,--prompt", options->prompt,
                      "Prompt; without -p and -f: chat, or standard input");
  command->add_option("-f,--file", options->file, "File with the prompt")->check(not_empty());
  command->add_option("--system", options->system, "System message");
  command->add_flag("--raw", options->chat.raw,
                    "Continue the text as it is, without a chat format");
  command->add_flag("--json", options->json, "Print one JSON object with text, ids and timings");
  command->add_flag("--speed", options->chat.shows_speed, "Say how fast each answer was");
  add_answer_options(*command, options->settings);
  command->footer(
      "Examples:\n"
      "  arion run -p \"Why is the sky blue?\"\n"
      "  arion run model.gguf --raw -p \"Once upon a time\" -n 100 --temp 0\n"
      "  arion run                      (chat; /help lists its commands)");
  command->callback([options, &global] { run_model(*options, global); });
}

}  // namespace arion::app

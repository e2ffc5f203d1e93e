// arion run: answers a prompt, or chats.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "chat_session.h"
#include "command.h"
#include "input_file.h"
#include "runner_setup.h"
#include "sampling_options.h"

namespace arion::app {
namespace {

using nlohmann::ordered_json;

struct RunOptions {
  RunnerOptions runner{.logit_rows = kGenerationLogitRows};
  SamplingOptions sampling;
  AnswerOptions answer;
  std::optional<std::string> prompt, file;
  std::string system;
  bool raw = false;
  bool json = false;
};

double per_second(size_t tokens, double milliseconds) {
  return milliseconds > 0 ? static_cast<double>(tokens) * 1000 / milliseconds : 0;
}

ordered_json timings(const Answer& answer, double load_ms) {
  const double prompt_ms = static_cast<double>(answer.summary.prompt_us) / 1000;
  const double decode_ms = static_cast<double>(answer.summary.decode_us) / 1000;
  // The first token comes out of the prompt's last step.
  const size_t decoded = answer.tokens.empty() ? 0 : answer.tokens.size() - 1;
  return {{"load_ms", load_ms},
          {"prompt_ms", prompt_ms},
          {"decode_ms", decode_ms},
          {"prompt_tokens_per_s", per_second(answer.prompt_tokens.size(), prompt_ms)},
          {"decode_tokens_per_s", per_second(decoded, decode_ms)}};
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
  if (options.answer.sampling.logprobs >= 0) out["logprobs"] = logprobs_to_json(answer);
  fmt::print("{}\n", out.dump(1, ' ', false, ordered_json::error_handler_t::replace));
}

void print_text(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void log_speed(const Answer& answer, double load_ms) {
  const ordered_json t = timings(answer, load_ms);
  log(LogLevel::debug,
      "loaded in {:.0f} ms; prompt {} tokens, {:.1f} tokens/s; answer {} tokens, {:.1f} tokens/s; "
      "seed {}",
      load_ms, answer.prompt_tokens.size(), t["prompt_tokens_per_s"].get<double>(),
      answer.tokens.size(), t["decode_tokens_per_s"].get<double>(), answer.summary.seed);
}

// Whether prompts are turns of a chat, or text to go on with.
bool is_chat(ChatSession& session, const RunOptions& options) {
  return !options.raw && session.has_chat_format();
}

Answer ask(ChatSession& session, const std::string& prompt, const RunOptions& options,
           const std::function<void(std::string_view)>& on_text) {
  return is_chat(session, options) ? session.chat(prompt, options.answer, on_text)
                                   : session.complete(prompt, options.answer, on_text);
}

void answer_once(ChatSession& session, const std::string& prompt, const RunOptions& options,
                 double load_ms) {
  const Answer answer = ask(session, prompt, options, options.json ? nullptr : print_text);
  if (options.json) {
    print_json(answer, options, load_ms);
  } else {
    print_text("\n");
    log_speed(answer, load_ms);
  }
  if (answer.finish == FinishReason::cancelled) throw Interrupted{};
}

// One message and its answer. What goes wrong is said, and the conversation goes on without it.
void chat_turn(ChatSession& session, const std::string& message, const RunOptions& options,
               double load_ms) {
  bool has_text = false;
  try {
    const Answer answer = ask(session, message, options, [&](std::string_view text) {
      has_text = true;
      print_text(text);
    });
    print_text("\n");
    log_speed(answer, load_ms);
  } catch (const Error& error) {
    if (has_text) print_text("\n");
    log_message(LogLevel::error, error.what());
  }
}

// Lines from the terminal until it ends (Ctrl-D). The answers alone go to standard output.
void chat(ChatSession& session, const RunOptions& options, double load_ms) {
  log(LogLevel::info, "type a message and press Enter; Ctrl-C stops an answer, Ctrl-D ends");
  for (std::string line; fmt::print(stderr, "> "), std::getline(std::cin, line);) {
    if (!line.empty()) chat_turn(session, line, options, load_ms);
  }
  fmt::print(stderr, "\n");
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
  check_sampling_options(options.sampling);
  const std::optional<std::string> prompt = read_prompt(options);
  options.answer.negative_prompt = options.sampling.negative_prompt;
  options.answer.guidance_scale = options.sampling.guidance_scale;
  if (options.answer.guidance_scale != 1) options.runner.kv_sequences = 2;
  LoadedModel loaded = load_model(options.runner, global);
  options.answer.sampling =
      resolve_sampling(options.sampling, loaded.runner->model().file.metadata());
  ChatSession session(loaded, options.system);
  resolve_texts(options.sampling, session.tokenizer(), options.answer.sampling);
  if (!options.system.empty() && !is_chat(session, options)) {
    log(LogLevel::warning, "--system is ignored: {}",
        options.raw ? "--raw continues plain text" : "the model has no known chat format");
  }
  if (prompt) {
    answer_once(session, *prompt, options, loaded.load_ms);
  } else {
    chat(session, options, loaded.load_ms);
  }
}

void add_answer_options(CLI::App& command, AnswerOptions& answer) {
  command
      .add_option("-n,--max-tokens", answer.max_tokens,
                  "Tokens to generate at most; -1: until the model stops or the context ends")
      ->check(CLI::Range(-1, 1 << 26))
      ->capture_default_str();
  command.add_option("--stop", answer.stop_strings, "Text that ends the answer; may be repeated")
      ->allow_extra_args(false);
  command
      .add_option("--stop-id", answer.stop_ids, "Token id that ends the answer; may be repeated")
      ->check(CLI::Range(0, std::numeric_limits<TokenId>::max()))
      ->allow_extra_args(false);
  command
      .add_option("--min-tokens", answer.min_tokens,
                  "Tokens to generate at least before an end token or stop id")
      ->check(CLI::Range(0, 1 << 26));
  command.add_flag("--ignore-eos", answer.ignores_end, "Go on after the model's end token");
  command.add_flag("--show-control", answer.shows_control, "Show control tokens in the answer");
}

}  // namespace

void command_run(CLI::App& program, const GlobalOptions& global) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = program.add_subcommand("run", "Answers a prompt, or chats");
  add_runner_options(*command, options->runner);
  add_context_option(*command, options->runner);
  command->add_option("-p,--prompt", options->prompt,
                      "Prompt; without -p and -f: chat, or standard input");
  command->add_option("-f,--file", options->file, "File with the prompt");
  command->add_option("--system", options->system, "System message");
  command->add_flag("--raw", options->raw, "Continue the text as it is, without a chat format");
  command->add_flag("--json", options->json, "Print one JSON object with text, ids and timings");
  add_answer_options(*command, options->answer);
  add_sampling_options(*command, options->sampling);
  command->footer(
      "Examples:\n"
      "  arion run -p \"Why is the sky blue?\"\n"
      "  arion run model.gguf --raw -p \"Once upon a time\" -n 100 --temp 0\n"
      "  arion run                      (chat; Ctrl-D ends)");
  command->callback([options, &global] { run_model(*options, global); });
}

}  // namespace arion::app

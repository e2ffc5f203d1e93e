// arion run: answers a prompt, or chats.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "chat_session.h"
#include "command.h"
#include "runner_setup.h"

namespace arion::app {
namespace {

using nlohmann::ordered_json;

struct RunOptions {
  RunnerOptions runner{.logit_rows = kGenerationLogitRows};
  AnswerOptions answer;
  std::string prompt, file, system;
  bool has_prompt = false;
  bool raw = false;
  bool json = false;
};

std::string read_all(std::istream& in) {
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string read_prompt_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(ErrorCode::usage, "cannot read {}", path);
  return read_all(in);
}

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

void answer_once(ChatSession& session, const RunOptions& options, double load_ms) {
  const std::function<void(std::string_view)> on_text =
      options.json ? std::function<void(std::string_view)>() : print_text;
  const bool is_raw = options.raw || !session.has_chat_format();
  const Answer answer = is_raw ? session.complete(options.prompt, options.answer, on_text)
                               : session.chat(options.prompt, options.answer, on_text);
  if (options.json) {
    print_json(answer, options, load_ms);
  } else {
    print_text("\n");
    log_speed(answer, load_ms);
  }
  if (answer.finish == FinishReason::cancelled) throw Interrupted{};
}

// Lines from the terminal until it ends (Ctrl-D).
void chat(ChatSession& session, const RunOptions& options, double load_ms) {
  log(LogLevel::info, "type a message and press Enter; Ctrl-C stops an answer, Ctrl-D ends");
  for (std::string line; fmt::print("> "), std::fflush(stdout), std::getline(std::cin, line);) {
    if (line.empty()) continue;
    const Answer answer = options.raw || !session.has_chat_format()
                              ? session.complete(line, options.answer, print_text)
                              : session.chat(line, options.answer, print_text);
    print_text("\n");
    log_speed(answer, load_ms);
  }
  print_text("\n");
}

void run(RunOptions options, const GlobalOptions& global) {
  if (options.has_prompt && !options.file.empty()) {
    fail(ErrorCode::usage, "give the prompt with -p or with -f, not both");
  }
  const bool is_interactive =
      !options.has_prompt && options.file.empty() && isatty(STDIN_FILENO) != 0;
  if (!options.file.empty()) {
    options.prompt = read_prompt_file(options.file);
  } else if (!options.has_prompt && !is_interactive) {
    options.prompt = read_all(std::cin);
  }
  if (is_interactive && options.json) fail(ErrorCode::usage, "--json needs a prompt: -p or -f");
  LoadedModel loaded = load_model(options.runner, global);
  ChatSession session(loaded, options.system);
  if (is_interactive) {
    chat(session, options, loaded.load_ms);
  } else {
    answer_once(session, options, loaded.load_ms);
  }
}

void add_sampling_options(CLI::App& command, AnswerOptions& answer) {
  SamplingParams& sampling = answer.sampling;
  sampling = {.top_k = 40, .top_p = 0.95f, .min_p = 0.05f, .temperature = 0.8f};
  command.add_option("--temp", sampling.temperature, "Temperature; 0: always the best token")
      ->capture_default_str();
  command.add_option("--top-k", sampling.top_k, "Keep the k best tokens; 0: all")
      ->capture_default_str();
  command.add_option("--top-p", sampling.top_p, "Keep the best tokens with this total probability")
      ->capture_default_str();
  command
      .add_option("--min-p", sampling.min_p,
                  "Keep tokens at least this likely relative to the best")
      ->capture_default_str();
  command.add_option("--seed", sampling.seed, "Random seed; drawn and reported when absent");
  command
      .add_option("--logprobs", sampling.logprobs,
                  "With --json: log probabilities of so many rivals")
      ->check(CLI::Range(0, 1024));
  command
      .add_option("-n,--max-tokens", answer.max_tokens, "Tokens to generate at most; 0: no limit")
      ->check(CLI::Range(0, 1 << 26));
  command.add_option("--stop", answer.stop_strings, "Text that ends the answer; may be repeated")
      ->expected(1);
  command
      .add_option("--stop-id", answer.stop_ids, "Token id that ends the answer; may be repeated")
      ->expected(1);
  command.add_flag("--ignore-eos", answer.ignores_end, "Go on after the model's end token");
  command.add_flag("--show-control", answer.shows_control, "Show control tokens in the answer");
}

}  // namespace

void command_run(CLI::App& program, const GlobalOptions& global) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = program.add_subcommand("run", "Answers a prompt, or chats");
  add_runner_options(*command, options->runner);
  add_context_option(*command, options->runner);
  CLI::Option* prompt = command->add_option("-p,--prompt", options->prompt,
                                            "Prompt; without -p and -f: chat, or standard input");
  command->add_option("-f,--file", options->file, "File with the prompt");
  command->add_option("--system", options->system, "System message");
  command->add_flag("--raw", options->raw, "Continue the text as it is, without a chat format");
  command->add_flag("--json", options->json, "Print one JSON object with text, ids and timings");
  add_sampling_options(*command, options->answer);
  command->footer(
      "Examples:\n"
      "  arion run -p \"Why is the sky blue?\"\n"
      "  arion run model.gguf --raw -p \"Once upon a time\" -n 100 --temp 0\n"
      "  arion run                      (chat; Ctrl-D ends)");
  command->callback([options, prompt, &global] {
    options->has_prompt = prompt->count() > 0;
    run(*options, global);
  });
}

}  // namespace arion::app

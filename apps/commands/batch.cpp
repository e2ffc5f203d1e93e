// arion batch: answers a file of requests in OpenAI's batch format.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "batch_run.h"
#include "command.h"
#include "input_file.h"
#include "load_options.h"
#include "text_option.h"

namespace arion::app {
namespace {

struct BatchOptions {
  AnsweringOptions answering{.engine = {.max_sequences = kDefaultSequences}};
  std::string in, out;
};

// The requests that have no answer yet.
std::vector<BatchRequest> open_requests(std::vector<BatchRequest> requests,
                                        const AnswerFile& file) {
  size_t known = 0;
  std::erase_if(requests, [&](const BatchRequest& request) {
    const bool is_answered = file.answered().contains(request.custom_id);
    known += is_answered ? 1 : 0;
    return is_answered;
  });
  if (known < file.answered().size()) {
    fail(ErrorCode::usage, "OUT holds {} answers to requests that IN does not have",
         file.answered().size() - known);
  }
  if (known > 0) log(LogLevel::info, "answered before: {}", known);
  return requests;
}

void report(const BatchCounts& counts, double seconds, const BatchOptions& options) {
  log(LogLevel::info,
      "answers: {} in {:.1f} s; {} tokens of prompts, {} of answers, {:.1f} per second",
      counts.answered, seconds, counts.prompt_tokens, counts.completion_tokens,
      static_cast<double>(counts.completion_tokens) / std::max(seconds, 1e-9));
  if (counts.refused > 0) {
    log(LogLevel::warning, "{} requests have an error as answer; see status_code in {}",
        counts.refused, options.out);
  }
}

void answer(const BatchOptions& options, const GlobalOptions& global) {
  std::error_code error;
  if (std::filesystem::equivalent(options.in, options.out, error)) {
    fail(ErrorCode::usage, "IN and OUT are the same file");
  }
  const std::string text = read_input_file(options.in, "IN");
  std::vector<BatchRequest> requests = parse_batch(text);
  AnswerFile file(options.out);
  requests = open_requests(std::move(requests), file);
  if (requests.empty()) return log(LogLevel::info, "there is nothing to answer");
  const auto answering = load_answering_engine(options.answering, global);
  const auto start = std::chrono::steady_clock::now();
  uint64_t done = 0;
  Progress progress("answering", requests.size());
  const BatchCounts counts =
      answer_batch(requests, *answering, options.answering.engine.max_sequences, file,
                   [&] { progress.update(++done); });
  report(counts, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
         options);
}

}  // namespace

void command_batch(CLI::App& program, const GlobalOptions& global) {
  auto options = std::make_shared<BatchOptions>();
  CLI::App* command =
      program.add_subcommand("batch", "Answers a file of requests in OpenAI's batch format");
  command->add_option("IN", options->in, "File with one request per line")
      ->required()
      ->check(not_empty());
  command
      ->add_option("OUT", options->out,
                   "File of answers, in the order in which they are done; one that exists is "
                   "continued")
      ->required();
  LoadOptions& load = options->answering.load;
  command->add_option("-m,--model", load.model, kModelHelp)->check(not_empty());
  add_runner_options(*command, load);
  add_context_option(*command, load);
  add_answering_options(*command, options->answering);
  command->footer(
      "A request without a seed has one made of its custom_id: the same file has the same "
      "answers.\n"
      "\n"
      "Example:\n"
      "  arion batch requests.jsonl answers.jsonl -m model.gguf\n"
      "where a line of requests.jsonl is\n"
      "  {\"custom_id\": \"a\", \"method\": \"POST\", \"url\": \"/v1/chat/completions\",\n"
      "   \"body\": {\"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]}}");
  command->callback([options, &global] { answer(*options, global); });
}

}  // namespace arion::app

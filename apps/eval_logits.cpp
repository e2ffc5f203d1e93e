// arion eval logits: every logit of given tokens, to a file or as a hash.
#include <charconv>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include "assembly/model_path.h"
#include "base/error.h"
#include "base/fnv1a.h"
#include "base/output_file.h"
#include "eval.h"
#include "input_file.h"
#include "load_options.h"
#include "model/hf_folder.h"
#include "npy_writer.h"
#include "number_option.h"
#include "overwriting.h"
#include "stop_request.h"
#include "token_stream.h"

namespace arion::app {
namespace {

struct LogitsOptions {
  LoadOptions load;
  std::string tokens;
  int chunk = 512;
  int batch_with = 0;
  bool poison = false;
  bool hash = false;
  std::optional<std::string> out;
};

// "1,2,3", or "@FILE" with ids separated by commas or white space.
std::vector<TokenId> parse_tokens(const std::string& text) {
  std::string list = text;
  if (text.starts_with('@')) list = read_input_file(text.substr(1), "--tokens");
  std::vector<TokenId> tokens;
  const char* at = list.data();
  const char* const end = at + list.size();
  const auto skip_spaces = [&] {
    while (at != end && std::strchr(" \t\r\n", *at) != nullptr) ++at;
  };
  while (true) {
    skip_spaces();
    if (at != end && *at == ',' && !tokens.empty()) ++at;
    skip_spaces();
    if (at == end) return tokens;
    TokenId token = 0;
    const auto [next, error] = std::from_chars(at, end, token);
    if (error != std::errc() || token < 0) {
      fail(ErrorCode::usage, "--tokens: expected token ids separated by commas, got '{}'",
           list.substr(static_cast<size_t>(at - list.data()), 20));
    }
    tokens.push_back(token);
    at = next;
  }
}

std::vector<std::filesystem::path> input_files(const LogitsOptions& options) {
  const auto path = resolve_model(options.load.model);
  std::vector<std::filesystem::path> files = files_of_model(path, open_model(path));
  if (options.tokens.starts_with('@')) files.emplace_back(options.tokens.substr(1));
  return files;
}

void eval_logits(LogitsOptions options, const GlobalOptions& global) {
  const std::vector<TokenId> tokens = parse_tokens(options.tokens);
  options.load.kv_sequences = 1 + options.batch_with;
  options.load.step_tokens = std::max(options.chunk, 1) + options.batch_with;
  if (options.load.context == 0)
    options.load.context = std::max(1, static_cast<int>(tokens.size()));
  if (options.out) check_output(input_files(options), *options.out);
  LoadedModel loaded = load_model(options.load, global);
  GraphRunner& runner = *loaded.runner;
  check_tokens(runner, tokens);
  if (options.poison) runner.set_poison();

  const StopRequest stop;
  std::optional<OutputFile> out;
  std::optional<NpyWriter> writer;
  if (options.out) out.emplace(*options.out);
  if (out) writer.emplace(*out, tokens.size(), static_cast<size_t>(runner.vocab_size()));
  Fnv1a hash;  // of all logits in order
  Progress progress("evaluating", tokens.size());
  const StreamOptions stream{.chunk = options.chunk, .companions = options.batch_with};
  stream_logits(runner, tokens, stream, [&](int position, std::span<const float> logits) {
    stop.check();
    if (writer) writer->append(logits);
    if (options.hash || !writer) hash.add(std::as_bytes(logits));
    progress.update(static_cast<uint64_t>(position) + 1);
  });
  if (out) out->commit();
  if (options.hash || !writer) fmt::print("{:016x}\n", hash.value());
}

}  // namespace

void add_eval_logits(CLI::App& eval, const GlobalOptions& global) {
  auto options = std::make_shared<LogitsOptions>();
  CLI::App* command = eval.add_subcommand("logits", "Computes the logits of given token ids");
  add_load_options(*command, options->load);
  add_context_option(*command, options->load);
  command
      ->add_option("--tokens", options->tokens, "Token ids 1,2,3 or @FILE, taken exactly as given")
      ->required();
  command->add_option("--chunk", options->chunk, "Tokens per step")
      ->check(number_from(1, 1 << 16))
      ->capture_default_str();
  command->add_option("--batch-with", options->batch_with, "Other sequences in every step")
      ->check(number_from(0, 1024))
      ->capture_default_str();
  add_passes_option(*command, options->load);
  command->add_flag("--poison", options->poison, "Fill memory with NaN that nobody may read");
  command->add_flag("--hash", options->hash, "Print a hash of all logits (default without --out)");
  command->add_option("--out", options->out, "Write float32 [positions, vocab] as .npy");
  command->callback([options, &global] { eval_logits(*options, global); });
}

}  // namespace arion::app

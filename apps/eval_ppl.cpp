// arion eval ppl: perplexity of a text.
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "assembly/model_text.h"
#include "base/real_math.h"
#include "eval.h"
#include "load_options.h"
#include "text_windows.h"
#include "token_stream.h"

namespace arion::app {
namespace {

struct PplOptions {
  LoadOptions load;
  WindowOptions windows;
  bool json = false;
};

void eval_ppl(PplOptions options, const GlobalOptions& global) {
  options.load.context = options.windows.size;
  LoadedModel loaded = load_model(options.load, global);
  const Tokenizer tokenizer = read_model_text(loaded.path, loaded.metadata()).tokenizer;
  const auto windows = read_windows(tokenizer, options.windows);
  const int first = first_scored(options.windows.size);
  double negative_log = 0, squares = 0;
  uint64_t scored = 0;
  Progress progress("evaluating", windows.size());
  for (size_t w = 0; w < windows.size(); ++w) {
    const auto& window = windows[w];
    stream_logits(*loaded.runner, window, {}, [&](int position, std::span<const float> logits) {
      // Row i predicts token i + 1.
      if (position < first || position + 1 >= options.windows.size) return;
      const LogSoftmax log_p(*loaded.pool, logits);
      const double loss = -log_p[static_cast<size_t>(window[static_cast<size_t>(position) + 1])];
      negative_log += loss;
      squares += loss * loss;
      ++scored;
    });
    progress.update(w + 1);
  }
  const auto count = static_cast<double>(scored);
  const double mean = negative_log / count;
  const double perplexity = real::exp(mean);
  const double error = perplexity * std::sqrt(std::max(0.0, squares / count - mean * mean) / count);
  if (options.json) {
    const nlohmann::ordered_json out{
        {"model", loaded.path},      {"profile", loaded.runner->profile()},
        {"windows", windows.size()}, {"window_tokens", options.windows.size},
        {"scored_tokens", scored},   {"mean_negative_log_likelihood", mean},
        {"perplexity", perplexity},  {"standard_error", error}};
    fmt::print("{}\n", out.dump(1));
  } else {
    fmt::print("perplexity {:.4f} +- {:.4f} over {} tokens in {} windows of {}\n", perplexity,
               error, scored, windows.size(), options.windows.size);
  }
}

}  // namespace

void add_eval_ppl(CLI::App& eval, const GlobalOptions& global) {
  auto options = std::make_shared<PplOptions>();
  CLI::App* command = eval.add_subcommand("ppl", "Perplexity of a text");
  add_load_options(*command, options->load);
  add_window_options(*command, options->windows);
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options, &global] { eval_ppl(*options, global); });
}

}  // namespace arion::app

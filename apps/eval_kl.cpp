// arion eval kl: how far a model's predictions are from those of a reference.
#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "assembly/model_text.h"
#include "base/error.h"
#include "base/real_math.h"
#include "eval.h"
#include "load_options.h"
#include "text_option.h"
#include "text_windows.h"
#include "token_stream.h"

namespace arion::app {
namespace {

// A prediction the reference is sure of: its best logit leads by more than this.
constexpr float kSureGap = 1.0f;

struct KlOptions {
  LoadOptions load;
  LoadOptions reference;
  WindowOptions windows;
  bool json = false;
};

struct Totals {
  double divergence = 0, largest = 0;
  uint64_t positions = 0, same_top = 0, sure = 0, same_sure = 0;
};

struct TopTwo {
  size_t best = 0;
  float gap = 0;
};

TopTwo find_top_two(std::span<const float> logits) {
  TopTwo top;
  float first = logits[0], second = -std::numeric_limits<float>::infinity();
  for (size_t i = 1; i < logits.size(); ++i) {
    if (logits[i] > first) {
      second = first;
      first = logits[i];
      top.best = i;
    } else if (logits[i] > second) {
      second = logits[i];
    }
  }
  top.gap = first - second;
  return top;
}

void score(WorkerPool& pool, std::span<const float> reference, std::span<const float> logits,
           Totals& totals) {
  const LogSoftmax log_p(pool, reference), log_q(pool, logits);
  const double divergence = sum_chunks(pool, logits.size(), [&](size_t begin, size_t end) {
    double part = 0;
    for (size_t i = begin; i < end; ++i) part += real::exp(log_p[i]) * (log_p[i] - log_q[i]);
    return part;
  });
  const TopTwo expected = find_top_two(reference);
  const bool is_same = find_top_two(logits).best == expected.best;
  const bool is_sure = expected.gap > kSureGap;
  totals.divergence += divergence;
  totals.largest = std::max(totals.largest, divergence);
  ++totals.positions;
  totals.same_top += is_same;
  totals.sure += is_sure;
  totals.same_sure += is_sure && is_same;
}

void eval_kl(KlOptions options, const GlobalOptions& global) {
  options.load.context = options.reference.context = options.windows.size;
  options.reference.threads = options.load.threads;
  LoadedModel loaded = load_model(options.load, global);
  LoadedModel reference = load_model(options.reference, global);
  const auto vocab = static_cast<size_t>(loaded.runner->vocab_size());
  if (reference.runner->vocab_size() != loaded.runner->vocab_size()) {
    fail(ErrorCode::usage, "the vocabularies differ: {} has {} tokens, {} has {}", loaded.path,
         vocab, reference.path, reference.runner->vocab_size());
  }
  const Tokenizer tokenizer = read_model_text(loaded.path, loaded.metadata()).tokenizer;
  const auto windows = read_windows(tokenizer, options.windows);
  const int first = first_scored(options.windows.size);
  Totals totals;
  std::vector<float> expected(static_cast<size_t>(options.windows.size - first) * vocab);
  auto row = [&](int position) {
    return std::span(expected).subspan(static_cast<size_t>(position - first) * vocab, vocab);
  };
  Progress progress("comparing", windows.size());
  for (size_t w = 0; w < windows.size(); ++w) {
    stream_logits(*reference.runner, windows[w], {},
                  [&](int position, std::span<const float> logits) {
                    if (position >= first) std::ranges::copy(logits, row(position).begin());
                  });
    stream_logits(*loaded.runner, windows[w], {}, [&](int position, std::span<const float> logits) {
      if (position >= first) score(*loaded.pool, row(position), logits, totals);
    });
    progress.update(w + 1);
  }
  const auto count = static_cast<double>(totals.positions);
  const double same = static_cast<double>(totals.same_top) / count;
  const double same_sure =
      totals.sure == 0 ? 1.0
                       : static_cast<double>(totals.same_sure) / static_cast<double>(totals.sure);
  if (options.json) {
    const nlohmann::ordered_json out{
        {"model", loaded.path},          {"profile", loaded.runner->profile()},
        {"reference", reference.path},   {"reference_profile", reference.runner->profile()},
        {"positions", totals.positions}, {"mean_kl", totals.divergence / count},
        {"max_kl", totals.largest},      {"same_top", same},
        {"sure_positions", totals.sure}, {"same_top_when_sure", same_sure}};
    fmt::print("{}\n", out.dump(1));
    return;
  }
  fmt::print("mean KL {:.6f}, largest {:.4f}, over {} positions\n", totals.divergence / count,
             totals.largest, totals.positions);
  fmt::print("same best token {:.2f} %; {:.2f} % of the {} where the reference leads by over {}\n",
             100 * same, 100 * same_sure, totals.sure, kSureGap);
}

}  // namespace

void add_eval_kl(CLI::App& eval, const GlobalOptions& global) {
  auto options = std::make_shared<KlOptions>();
  options->reference.activations = "fp32";
  CLI::App* command = eval.add_subcommand("kl", "Divergence from a reference model");
  add_load_options(*command, options->load);
  add_window_options(*command, options->windows);
  command->add_option("--reference", options->reference.model, "Model to compare with")
      ->required()
      ->check(not_empty());
  command->add_option("--reference-act", options->reference.activations, "Its activations")
      ->check(CLI::IsMember({"int8", "bf16", "fp32", "f32"}))
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options, &global] { eval_kl(*options, global); });
}

}  // namespace arion::app

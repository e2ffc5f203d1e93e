#include "sampling_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "assembly/recommended_sampling.h"
#include "base/error.h"
#include "number_option.h"
#include "sample/check_params.h"
#include "sample/guidance.h"
#include "sample/presets.h"
#include "terminal.h"
#include "text/word_spellings.h"
#include "text_option.h"

namespace arion::app {
namespace {

CLI::Validator number_in(NumberRange range) {
  return number_from(range.low, range.high);
}

// ID=BIAS, as 66=-1.5 or 66=-inf.
TokenBias parse_bias(const std::string& text) {
  const size_t equals = text.find('=');
  TokenBias result;
  if (equals != std::string::npos &&
      CLI::detail::lexical_cast(text.substr(0, equals), result.token) &&
      CLI::detail::lexical_cast(text.substr(equals + 1), result.bias)) {
    return result;
  }
  fail(ErrorCode::usage, "--logit-bias is '{}', expected ID=BIAS as 66=-1.5 or 66=-inf", text);
}

constexpr const char* kGroup = "More sampling";

template <typename Number>
void add_number(CLI::App& command, const char* name, Number& value, const char* text) {
  command.add_option(name, value, text)
      ->group(kGroup)
      ->check(any_number<Number>())
      ->capture_default_str();
}

CLI::Option* add_texts(CLI::App& command, const char* name, std::vector<std::string>& texts,
                       const char* text) {
  return command.add_option(name, texts, text)->group(kGroup)->allow_extra_args(false);
}

// What narrows or steers the choice by the logits alone.
void add_narrowing_options(CLI::App& command, SamplingOptions& options) {
  SamplingParams& p = options.others;
  command
      .add_option("--sampling-preset", options.preset,
                  "Order of the stages and what penalties look at: default, llama.cpp, vllm, hf")
      ->group(kGroup)
      ->capture_default_str();
  command.add_option("--sampling-order", p.order, "Order of the stages, comma-separated")
      ->group(kGroup)
      ->delimiter(',');
  add_number(command, "--typical-p", p.typical_p, "Keep the most typical tokens of this mass");
  add_number(command, "--top-n-sigma", p.top_n_sigma,
             "Keep logits within so many standard deviations of the best; 0: all");
  add_number(command, "--top-h", p.top_h, "Keep this share of the best tokens' entropy; 0: all");
  add_number(command, "--epsilon-cutoff", p.epsilon_cutoff, "Keep tokens at least this probable");
  add_number(command, "--eta-cutoff", p.eta_cutoff, "The same, lower where the entropy is high");
  add_number(command, "--dynatemp-range", p.dynatemp_range, "Temperature +- this by entropy");
  add_number(command, "--dynatemp-exponent", p.dynatemp_exponent, "Exponent of the entropy");
  add_number(command, "--xtc-probability", p.xtc.probability, "How often XTC removes top choices");
  add_number(command, "--xtc-threshold", p.xtc.threshold, "Least probability of a top choice");
  add_number(command, "--mirostat", p.mirostat.version, "Mirostat version 1 or 2; 0: off");
  add_number(command, "--mirostat-tau", p.mirostat.tau, "Wanted surprise in bits");
  add_number(command, "--mirostat-eta", p.mirostat.eta, "How fast mirostat follows");
  add_number(command, "--adaptive-target", p.adaptive.target,
             "Wanted probability of chosen tokens (adaptive-p); negative: off");
  add_number(command, "--adaptive-decay", p.adaptive.decay, "Memory of adaptive-p");
  command
      .add_option_function<std::string>(
          "--logprobs-of",
          [&p](const std::string& text) {
            p.logprobs_of = text == "processed" ? LogprobsOf::processed : LogprobsOf::model;
          },
          "Log probabilities of the model, or processed by everything set here (default: model)")
      ->group(kGroup)
      ->check([](const std::string& text) {
        const bool is_known = text == "model" || text == "processed";
        return is_known ? "" : fmt::format("expected model or processed, got '{}'", text);
      });
}

// What changes single logits.
void add_history_options(CLI::App& command, SamplingOptions& options) {
  SamplingParams& p = options.others;
  add_number(command, "--repetition-penalty", p.penalties.repetition,
             "Divide logits of tokens that occurred");
  add_number(command, "--presence-penalty", p.penalties.presence, "Subtract from tokens answered");
  add_number(command, "--frequency-penalty", p.penalties.frequency, "Subtract per occurrence");
  add_number(command, "--penalty-last-n", p.penalties.last_n,
             "Tokens that penalties look at; -1: as the preset says");
  add_number(command, "--dry-multiplier", p.dry.multiplier,
             "Strength of the penalty on going on with a repetition; 0: off");
  add_number(command, "--dry-base", p.dry.base, "Its growth per repeated token");
  add_number(command, "--dry-allowed-length", p.dry.allowed_length, "Repeated tokens still free");
  add_number(command, "--dry-last-n", p.dry.last_n, "Tokens searched for repetitions; -1: all");
  add_texts(command, "--dry-breaker", options.dry_breakers,
            "Text no repetition reaches across; may be repeated (default: newline : \" *)");
  add_texts(command, "--logit-bias", options.logit_bias,
            "ID=BIAS added to a token's logit, -inf forbids it; may be repeated");
  add_texts(command, "--bad-word", options.bad_words,
            "Text that must not be written; may be repeated")
      ->check(not_empty());
}

void add_guidance_options(CLI::App& command, SamplingOptions& options) {
  CLI::Option* prompt =
      command
          .add_option("--negative-prompt", options.negative_prompt,
                      "What to steer away from: a system message, with --raw a prompt")
          ->group(kGroup);
  CLI::Option* scale =
      command
          .add_option("--guidance-scale", options.guidance_scale,
                      "How far to steer away from the negative prompt; 1: not at all")
          ->group(kGroup)
          ->check(any_number<double>())
          ->needs(prompt);
  prompt->needs(scale);
}

// The four parameters with options of their own.
void set_defaults(SamplingParams& params) {
  params.temperature = kDefaultSampling.temperature;
  params.top_k = kDefaultSampling.top_k;
  params.top_p = kDefaultSampling.top_p;
  params.min_p = kDefaultSampling.min_p;
}

void set_given(const SamplingOptions& options, SamplingParams& params) {
  params.temperature = options.temperature.value_or(params.temperature);
  params.top_k = options.top_k.value_or(params.top_k);
  params.top_p = options.top_p.value_or(params.top_p);
  params.min_p = options.min_p.value_or(params.min_p);
}

}  // namespace

void add_sampling_options(CLI::App& command, SamplingOptions& options) {
  auto describe = [](std::string_view text, auto value) {
    return fmt::format("{} (default: as the model file says, else {})", text, value);
  };
  command
      .add_option("--temp", options.temperature,
                  describe("Temperature; 0: always the best token", kDefaultSampling.temperature))
      ->check(number_in(kTemperatureRange));
  command
      .add_option("--top-k", options.top_k,
                  describe("Keep the k best tokens; 0 or -1: all", kDefaultSampling.top_k))
      ->check(number_from(-1, std::numeric_limits<int>::max()));
  command
      .add_option(
          "--top-p", options.top_p,
          describe("Keep the best tokens with this total probability", kDefaultSampling.top_p))
      ->check(number_in(kShareRange));
  command
      .add_option(
          "--min-p", options.min_p,
          describe("Keep tokens at least this likely relative to the best", kDefaultSampling.min_p))
      ->check(number_in(kShareRange));
  command.add_option("--seed", options.seed, "Random seed; drawn and reported when absent")
      ->check(seed_number());
  command
      .add_option("--logprobs", options.others.logprobs,
                  "With --json: log probabilities of so many rivals")
      ->check(number_from(0, kMaxLogprobs));
  add_narrowing_options(command, options);
  add_history_options(command, options);
  add_guidance_options(command, options);
}

void check_sampling_options(SamplingOptions& options) {
  SamplingParams& params = options.others;
  const std::vector<std::string> custom = params.order;
  const int last_n = params.penalties.last_n;
  apply_preset(options.preset, params);
  if (!custom.empty()) params.order = custom;
  if (last_n != PenaltyParams{}.last_n) params.penalties.last_n = last_n;
  params.logit_bias.clear();
  for (const std::string& text : options.logit_bias) params.logit_bias.push_back(parse_bias(text));
  // The four with options of their own take part in the check of the order.
  SamplingParams all = params;
  set_defaults(all);
  set_given(options, all);
  try {
    check_params(all, std::numeric_limits<int>::max());
    check_guidance_scale(options.guidance_scale);
  } catch (const Error& error) {
    fail(ErrorCode::usage, "{}", error.what());
  }
}

SamplingParams resolve_sampling(const SamplingOptions& options, const GgufMetadata& metadata) {
  SamplingParams params = options.others;
  set_defaults(params);
  const RecommendedSampling recommended = read_recommended_sampling(metadata);
  for (const std::string& message : recommended.ignored) log(LogLevel::warning, "{}", message);
  recommended.apply_to(params);
  set_given(options, params);
  params.seed = options.seed;
  return params;
}

void resolve_texts(const SamplingOptions& options, const Tokenizer& tokenizer,
                   SamplingParams& params) {
  params.bad_words = spell_words(tokenizer, options.bad_words);
  if (params.dry.multiplier == 0) return;
  params.dry.breakers = tokens_with(tokenizer, options.dry_breakers);
}

}  // namespace arion::app

// Fields that chats and plain completions share, by the names of OpenAI and vLLM.
#include "api/generation_request.h"

#include <algorithm>
#include <limits>
#include <set>

#include "api/api_error.h"
#include "sample/check_params.h"
#include "sample/dry.h"
#include "sample/sampler.h"
#include "text/word_spellings.h"

namespace arion {
namespace {

using nlohmann::json;

constexpr int64_t kMaxTokens = std::numeric_limits<int32_t>::max();
constexpr size_t kMaxStops = 256;         // strings or ids
constexpr size_t kMaxBadWords = 1024;     // strings
constexpr size_t kMaxSamplers = 64;       // names, or breakers
constexpr size_t kMaxLogitBiases = 4096;  // tokens
// OpenAI's range of a bias: the ends forbid and force a token.
constexpr double kLogitBiasLimit = 100;

// Fields that change which answers are right, or what they look like.
constexpr const char* kUnsupported[] = {"structured_outputs",
                                        "guided_json",
                                        "guided_regex",
                                        "guided_choice",
                                        "guided_grammar",
                                        "guided_decoding",
                                        "grammar",
                                        "json_schema",
                                        "regex",
                                        "ebnf",
                                        "use_beam_search",
                                        "allowed_token_ids",
                                        "prompt_embeds",
                                        "kv_transfer_params",
                                        "thinking_token_budget",
                                        "logprob_token_ids",
                                        "repetition_detection"};

// Samplers that neither OpenAI nor vLLM have, by the names of llama-server; ranges: check_params.
struct NumberField {
  const char* name;
  float& (*of)(SamplingParams&);
};
constexpr NumberField kNumbers[] = {
    {"typical_p", [](SamplingParams& p) -> float& { return p.typical_p; }},
    {"top_n_sigma", [](SamplingParams& p) -> float& { return p.top_n_sigma; }},
    {"top_h", [](SamplingParams& p) -> float& { return p.top_h; }},
    {"epsilon_cutoff", [](SamplingParams& p) -> float& { return p.epsilon_cutoff; }},
    {"eta_cutoff", [](SamplingParams& p) -> float& { return p.eta_cutoff; }},
    {"dynatemp_range", [](SamplingParams& p) -> float& { return p.dynatemp_range; }},
    {"dynatemp_exponent", [](SamplingParams& p) -> float& { return p.dynatemp_exponent; }},
    {"xtc_probability", [](SamplingParams& p) -> float& { return p.xtc.probability; }},
    {"xtc_threshold", [](SamplingParams& p) -> float& { return p.xtc.threshold; }},
    {"mirostat_tau", [](SamplingParams& p) -> float& { return p.mirostat.tau; }},
    {"mirostat_eta", [](SamplingParams& p) -> float& { return p.mirostat.eta; }},
    {"adaptive_target", [](SamplingParams& p) -> float& { return p.adaptive.target; }},
    {"adaptive_decay", [](SamplingParams& p) -> float& { return p.adaptive.decay; }},
    {"dry_multiplier", [](SamplingParams& p) -> float& { return p.dry.multiplier; }},
    {"dry_base", [](SamplingParams& p) -> float& { return p.dry.base; }},
};
struct IntegerField {
  const char* name;
  int& (*of)(SamplingParams&);
};
constexpr IntegerField kIntegers[] = {
    {"mirostat", [](SamplingParams& p) -> int& { return p.mirostat.version; }},
    {"dry_allowed_length", [](SamplingParams& p) -> int& { return p.dry.allowed_length; }},
    {"dry_penalty_last_n", [](SamplingParams& p) -> int& { return p.dry.last_n; }},
    {"repeat_last_n", [](SamplingParams& p) -> int& { return p.penalties.last_n; }},
};

template <typename Target, typename Source>
void set_if(Target& target, const std::optional<Source>& value) {
  if (value) target = static_cast<Target>(*value);
}

void read_response_format(const Fields& fields) {
  const auto format = fields.object("response_format");
  if (!format) return;
  const auto type = format->text("type");
  if (type == "text") return;
  refuse("response_format", "response_format of type {} is not supported by this server, only text",
         type.value_or("null"));
}

std::vector<TokenBias> read_logit_bias(const Fields& fields, int vocab) {
  const auto biases = fields.object("logit_bias");
  if (!biases) return {};
  const json& object = *fields.find("logit_bias");
  if (object.size() > kMaxLogitBiases) {
    refuse("logit_bias", "logit_bias has {} tokens, expected at most {}", object.size(),
           kMaxLogitBiases);
  }
  std::vector<TokenBias> out;
  for (const auto& [key, value] : object.items()) {
    const bool is_id =
        !key.empty() && key.size() < 10 && key.find_first_not_of("0123456789") == std::string::npos;
    const int64_t id = is_id ? std::stoll(key) : -1;
    if (id < 0 || id >= vocab) {
      refuse("logit_bias", "logit_bias names token {}, expected 0 to {}", describe_json(json(key)),
             vocab - 1);
    }
    const double bias = biases->number(key.c_str(), -kMaxLogitBias, kMaxLogitBias).value_or(0);
    out.push_back({static_cast<TokenId>(id),
                   static_cast<float>(std::clamp(bias, -kLogitBiasLimit, kLogitBiasLimit))});
  }
  return out;
}

void read_sampling(const Fields& fields, const ServedModel& model, SamplingParams& params) {
  set_if(params.temperature, fields.number("temperature", 0, kMaxTemperature));
  set_if(params.top_p, fields.number("top_p", 0, 1));
  set_if(params.top_k, fields.integer("top_k", -1, std::numeric_limits<int>::max()));
  set_if(params.min_p, fields.number("min_p", 0, 1));
  set_if(params.penalties.presence, fields.number("presence_penalty", -100, 100));
  set_if(params.penalties.frequency, fields.number("frequency_penalty", -100, 100));
  for (const char* name : {"repeat_penalty", "repetition_penalty"}) {
    set_if(params.penalties.repetition, fields.number(name, 0.01, 100));
  }
  constexpr double kLargest = std::numeric_limits<float>::max();
  for (const NumberField& field : kNumbers) {
    set_if(field.of(params), fields.number(field.name, -kLargest, kLargest));
  }
  for (const IntegerField& field : kIntegers) {
    set_if(field.of(params), fields.integer(field.name, std::numeric_limits<int>::min(),
                                            std::numeric_limits<int>::max()));
  }
  if (const json* seed = fields.find("seed"); seed != nullptr && seed->is_number_unsigned()) {
    params.seed = seed->get<uint64_t>();
  } else if (const auto number = fields.integer("seed", std::numeric_limits<int64_t>::min(),
                                                std::numeric_limits<int64_t>::max())) {
    params.seed = static_cast<uint64_t>(*number);
  } else {
    // All choices share it; every program reads whole numbers of 53 bits.
    params.seed = resolve_seed(params) >> 11;
  }
  params.logit_bias = read_logit_bias(fields, model.vocab);
  params.bad_words = spell_words(model.tokenizer, fields.texts("bad_words", kMaxBadWords));
  if (fields.has("samplers")) params.order = fields.texts("samplers", kMaxSamplers);
  if (params.dry.multiplier == 0) return;
  std::vector<std::string> breakers(kDryBreakers.begin(), kDryBreakers.end());
  if (fields.has("dry_sequence_breakers")) {
    breakers = fields.texts("dry_sequence_breakers", kMaxSamplers);
  }
  params.dry.breakers = tokens_with(model.tokenizer, breakers);
}

void read_ends(const Fields& fields, Request& request) {
  request.stop_strings = fields.texts("stop", kMaxStops);
  if (std::ranges::find(request.stop_strings, "") != request.stop_strings.end()) {
    refuse("stop", "stop contains an empty string");
  }
  request.stop_ids = fields.token_ids("stop_token_ids", kMaxStops);
  set_if(request.ignores_end, fields.flag("ignore_eos"));
  set_if(request.min_tokens, fields.integer("min_tokens", 0, kMaxTokens));
  if (const auto skips = fields.flag("skip_special_tokens")) request.shows_control = !*skips;
}

void read_stream(const Fields& fields, GenerationRequest& out) {
  set_if(out.streams, fields.flag("stream"));
  const auto options = fields.object("stream_options");
  if (!options) return;
  if (!out.streams) refuse("stream_options", "stream_options needs stream to be true");
  set_if(out.includes_usage, options->flag("include_usage"));
  set_if(out.continuous_usage, options->flag("continuous_usage_stats"));
}

void read_prompt_logprobs(const Fields& fields, GenerationRequest& out) {
  set_if(out.prompt_logprobs, fields.integer("prompt_logprobs", 0, kMaxServedLogprobs));
  out.settings.prompt_logprobs = out.prompt_logprobs;
  if (out.prompt_logprobs >= 0 && out.streams) {
    refuse("prompt_logprobs", "prompt_logprobs are not available in streams");
  }
}

}  // namespace

Request GenerationRequest::engine_request(size_t choice) const {
  Request request = settings;
  request.tokens = prompt_of(choice).tokens;
  request.choice = static_cast<uint32_t>(choice % static_cast<size_t>(n));
  return request;
}

GenerationRequest read_generation(const Fields& fields, const ServedModel& model) {
  check_model_name(fields, model);
  for (const char* name : kUnsupported) fields.refuse_unsupported(name);
  read_response_format(fields);
  GenerationRequest out;
  out.settings.sampling = model.sampling;
  read_sampling(fields, model, out.settings.sampling);
  read_ends(fields, out.settings);
  read_stream(fields, out);
  read_prompt_logprobs(fields, out);
  set_if(out.n, fields.integer("n", 1, static_cast<int64_t>(kMaxChoices)));
  // The others of best_of answers would have to be thrown away.
  if (const auto best_of = fields.integer("best_of", 1, kMaxTokens); best_of && *best_of != out.n) {
    refuse("best_of", "best_of is {}, which is supported only when it equals n, {}", *best_of,
           out.n);
  }
  out.settings.client = fields.text("user").value_or("");
  out.settings.cache_salt = fields.text("cache_salt").value_or("");
  set_if(out.settings.priority, fields.integer("priority", std::numeric_limits<int>::min(),
                                               std::numeric_limits<int>::max()));
  set_if(out.includes_stop, fields.flag("include_stop_str_in_output"));
  set_if(out.spells_token_ids, fields.flag("return_tokens_as_token_ids"));
  set_if(out.returns_token_ids, fields.flag("return_token_ids"));
  return out;
}

void check_model_name(const Fields& fields, const ServedModel& model) {
  const auto name = fields.text("model");
  if (!name || std::ranges::find(model.names, *name) != model.names.end()) return;
  throw ApiError(
      404, "NotFoundError",
      fmt::format("there is no model {} here, only '{}'", describe_json(json(*name)), model.name()),
      "model", "model_not_found");
}

void fit_prompt(const Fields& fields, const ServedModel& model, int max_tokens,
                std::vector<TokenId>& tokens) {
  if (const auto keep = fields.integer("truncate_prompt_tokens", -1, kMaxTokens)) {
    const size_t limit =
        static_cast<size_t>(*keep < 0 ? std::max(1, model.context_tokens - 1) : *keep);
    if (limit == 0) refuse("truncate_prompt_tokens", "truncate_prompt_tokens is 0");
    if (tokens.size() > limit) {
      tokens.erase(tokens.begin(), tokens.end() - static_cast<ptrdiff_t>(limit));
    }
  }
  for (const TokenId token : tokens) {
    if (token < 0 || token >= model.vocab) {
      refuse("prompt", "the prompt contains token {}, expected 0 to {}", token, model.vocab - 1);
    }
  }
  const auto size = static_cast<int64_t>(tokens.size());
  if (size == 0) refuse("prompt", "the prompt has no tokens");
  if (size + (max_tokens > 0 ? 1 : 0) <= model.context_tokens) return;
  ApiError error(400, "BadRequestError",
                 fmt::format("the prompt has {} tokens and the context {}, which leaves no room "
                             "for an answer; shorten the prompt",
                             size, model.context_tokens),
                 "prompt", "context_length_exceeded");
  error.context = {size, model.context_tokens};
  throw error;
}

}  // namespace arion

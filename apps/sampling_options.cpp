#include "sampling_options.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <string>

#include "io/gguf_value.h"
#include "sample/check_params.h"
#include "terminal.h"

namespace arion::app {
namespace {

struct NumberRange {
  double low, high;
  bool contains(double value) const { return value >= low && value <= high; }  // never NaN
};

constexpr NumberRange kTemperature = {0, kMaxTemperature};
constexpr NumberRange kShare = {0, 1};
constexpr NumberRange kTopK = {-1, std::numeric_limits<int>::max()};

// CLI::Range lets NaN pass.
CLI::Validator number_in(NumberRange range) {
  auto check = [range](std::string& text) -> std::string {
    double value = 0;
    if (CLI::detail::lexical_cast(text, value) && range.contains(value)) return {};
    return fmt::format("expected a number from {} to {}, got '{}'", range.low, range.high, text);
  };
  return {check, ""};
}

// CLI11 takes -1 for the largest unsigned number.
CLI::Validator seed_number() {
  auto check = [](std::string& text) -> std::string {
    uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && rest == end) return {};
    return fmt::format("expected a whole number from 0 to {}, got '{}'",
                       std::numeric_limits<uint64_t>::max(), text);
  };
  return {check, ""};
}

std::optional<double> recommended(const GgufMetadata& metadata, std::string_view key,
                                  NumberRange range) {
  const GgufEntry* entry = metadata.find(key);
  if (entry == nullptr) return std::nullopt;
  std::optional<double> value = load_float(entry->type, entry->payload.data());
  if (!value) {
    if (const auto whole = load_integer(entry->type, entry->payload.data())) {
      value = static_cast<double>(*whole);
    }
  }
  if (value && range.contains(*value)) return value;
  log(LogLevel::warning, "the model recommends {} = {}, expected a number from {} to {}; ignored",
      key, describe_value(*entry), range.low, range.high);
  return std::nullopt;
}

}  // namespace

void add_sampling_options(CLI::App& command, SamplingOptions& options) {
  auto describe = [](std::string_view text, auto value) {
    return fmt::format("{} (default: as the model file says, else {})", text, value);
  };
  command
      .add_option("--temp", options.temperature,
                  describe("Temperature; 0: always the best token", kDefaultSampling.temperature))
      ->check(number_in(kTemperature));
  command
      .add_option("--top-k", options.top_k,
                  describe("Keep the k best tokens; 0 or -1: all", kDefaultSampling.top_k))
      ->check(number_in(kTopK));
  command
      .add_option(
          "--top-p", options.top_p,
          describe("Keep the best tokens with this total probability", kDefaultSampling.top_p))
      ->check(number_in(kShare));
  command
      .add_option(
          "--min-p", options.min_p,
          describe("Keep tokens at least this likely relative to the best", kDefaultSampling.min_p))
      ->check(number_in(kShare));
  command.add_option("--seed", options.seed, "Random seed; drawn and reported when absent")
      ->check(seed_number());
  command
      .add_option("--logprobs", options.logprobs,
                  "With --json: log probabilities of so many rivals")
      ->check(CLI::Range(0, kMaxLogprobs));
}

SamplingParams resolve_sampling(const SamplingOptions& options, const GgufMetadata& metadata) {
  SamplingParams params = kDefaultSampling;
  auto choose = [&metadata](auto& param, const auto& option, std::string_view key,
                            NumberRange range) {
    using Number = std::remove_reference_t<decltype(param)>;
    if (option) {
      param = *option;
    } else if (const auto value = recommended(metadata, key, range)) {
      param = static_cast<Number>(*value);
    }
  };
  choose(params.temperature, options.temperature, "general.sampling.temp", kTemperature);
  choose(params.top_k, options.top_k, "general.sampling.top_k", kTopK);
  choose(params.top_p, options.top_p, "general.sampling.top_p", kShare);
  choose(params.min_p, options.min_p, "general.sampling.min_p", kShare);
  params.seed = options.seed;
  params.logprobs = options.logprobs;
  return params;
}

}  // namespace arion::app

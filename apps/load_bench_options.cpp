#include "load_bench_options.h"

#include <charconv>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "load_options.h"
#include "number_option.h"

namespace arion::app {
namespace {

constexpr int kMaxLength = 1 << 20;

}  // namespace

LengthRange parse_length_range(const std::string& text) {
  LengthRange range;
  std::string_view rest = text;
  range.is_logarithmic = rest.starts_with("log:");
  if (range.is_logarithmic) rest.remove_prefix(4);
  const auto read = [&](int& value) {
    const char* end = rest.data() + rest.size();
    const auto [at, error] = std::from_chars(rest.data(), end, value);
    if (error != std::errc() || value < 1 || value > kMaxLength) return false;
    rest.remove_prefix(static_cast<size_t>(at - rest.data()));
    return true;
  };
  bool is_good = read(range.low);
  range.high = range.low;
  if (is_good && rest.starts_with(':')) {
    rest.remove_prefix(1);
    is_good = read(range.high) && range.high >= range.low;
  }
  if (is_good && rest.empty()) return range;
  fail(ErrorCode::usage, "lengths '{}': expected N, LOW:HIGH or log:LOW:HIGH with 1 to {} tokens",
       text, kMaxLength);
}

void add_load_bench_options(CLI::App& command, LoadBenchOptions& options) {
  constexpr const char* kGroup = "With --load";
  const auto add = [&](const char* name, auto& value, const char* text) {
    return command.add_option(name, value, text)->group(kGroup)->capture_default_str();
  };
  const auto add_range = [&](const char* name, LengthRange& range, const char* text) {
    command
        .add_option_function<std::string>(
            name, [&range](const std::string& value) { range = parse_length_range(value); }, text)
        ->group(kGroup);
  };
  add("--num-prompts", options.requests, "Requests")->check(number_from(1, 1 << 20));
  add("--max-concurrency", options.clients,
      "Requests that run at the same time; without --request-rate, clients that ask again at once")
      ->check(number_from(1, kMaxSequences));
  add("--request-rate", options.rate, "Requests per second as a Poisson process; 0: clients")
      ->check(number_from(0.0, 1e6));
  add_range("--input-len", options.input,
            "Tokens of prompts: N, LOW:HIGH or log:LOW:HIGH (default: 128)");
  add_range("--output-len", options.output, "Tokens of answers, likewise (default: 128)");
  add("--prefix-len", options.shared_prefix, "Tokens in front that all prompts share")
      ->check(number_from(0, kMaxLength));
  add("--max-decode-slowdown", options.decode_slowdown, "As of arion serve")
      ->check(number_from(0.0, kMaxDecodeSlowdown));
  add("--load-seed", options.seed, "Seed of prompts, lengths and arrivals")->check(seed_number());
  const auto add_flag = [&](const char* name, bool& value, const char* text, bool meaning) {
    command
        .add_flag_callback(
            name, [&value, meaning] { value = meaning; }, text)
        ->group(kGroup);
  };
  add_flag("--static", options.is_static, "Padded batches that start and end together", true);
  add_flag("--no-prefix", options.has_prefixes, "Compute every prompt from its beginning", false);
  add_flag("--no-kv", options.has_kv, "Compute all tokens again for every token", false);
}

void check_load_bench_options(const LoadBenchOptions& options) {
  if (!options.is_static) return;
  if (options.rate > 0) fail(ErrorCode::usage, "--static excludes --request-rate");
  if (!options.has_kv) fail(ErrorCode::usage, "--static excludes --no-kv");
}

}  // namespace arion::app

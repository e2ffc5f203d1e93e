#include "capi/engine_options.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "base/error.h"
#include "engine/waiting_queue.h"

namespace arion {
namespace {

constexpr int kMaxContext = 1 << 26;
constexpr size_t kMaxOptionsSize = 4096;  // more cannot be the size of any version of the struct

// As this version has them. A newer program's options may only hold what is left to its default.
arion_engine_options copy_options(const arion_engine_options* options) {
  arion_engine_options copy{};
  if (options == nullptr) return copy;
  const size_t size = options->size;
  if (size < sizeof(size_t) || size > kMaxOptionsSize) {
    fail(ErrorCode::usage, "options.size is {}, expected sizeof(arion_engine_options), {}", size,
         sizeof copy);
  }
  const auto* bytes = reinterpret_cast<const char*>(options);
  std::memcpy(&copy, bytes, std::min(size, sizeof copy));
  const auto is_zero = [](char byte) { return byte == 0; };
  if (size > sizeof copy && !std::all_of(bytes + sizeof copy, bytes + size, is_zero)) {
    fail(ErrorCode::usage, "the options have members that this version of libarion lacks");
  }
  return copy;
}

// The value, or `fallback` for 0.
template <typename Number>
Number in_range(const char* name, Number value, Number fallback, Number high) {
  if (value < 0 || value > high) {
    fail(ErrorCode::usage, "options.{} is {}, expected 0 to {}", name, value, high);
  }
  return value == 0 ? fallback : value;
}

// For the engine, to which 0 is no limit.
double read_decode_slowdown(const arion_engine_options& given, double fallback) {
  const double value = given.decode_slowdown;
  if (value == 0) return given.target_step_us > 0 ? 0 : fallback;
  if (std::isinf(value) && value > 0) return 0;
  if (value > 0 && value <= kMaxDecodeSlowdown) return value;
  fail(ErrorCode::usage, "options.decode_slowdown is {}, expected 0 to {} or infinity", value,
       kMaxDecodeSlowdown);
}

std::string text_or_empty(const char* text) {
  return text == nullptr ? "" : text;
}

}  // namespace

AnsweringOptions read_engine_options(const char* model, const arion_engine_options* options) {
  const arion_engine_options given = copy_options(options);
  AnsweringOptions out;
  LoadOptions& load = out.load;
  load.model = model;
  load.isa = text_or_empty(given.isa);
  load.activations = text_or_empty(given.activations);
  load.kv = text_or_empty(given.kv);
  load.compiled = text_or_empty(given.compiled);
  load.threads = given.threads;
  load.context = in_range("context", given.context, load.context, kMaxContext);
  load.step_tokens = in_range("step_tokens", given.step_tokens, load.step_tokens, kMaxStepTokens);
  EngineOptions& engine = out.engine;
  engine.max_sequences =
      in_range("max_sequences", given.max_sequences, kDefaultSequences, kMaxSequences);
  constexpr auto kAnyTime = std::numeric_limits<int64_t>::max();
  engine.target_step_us = in_range("target_step_us", given.target_step_us, int64_t{0}, kAnyTime);
  engine.decode_slowdown = read_decode_slowdown(given, engine.decode_slowdown);
  engine.queue = {.requests = in_range("max_queue", given.max_queue, engine.queue.requests,
                                       std::numeric_limits<int>::max()),
                  .tokens = in_range("max_queue_tokens", given.max_queue_tokens,
                                     engine.queue.tokens, std::numeric_limits<int64_t>::max())};
  if (given.scheduling != nullptr) engine.policy = queue_policy_of(given.scheduling);
  engine.reuses_prefixes = given.forgets_prefixes == 0;
  if (given.name != nullptr) out.names = {given.name};
  return out;
}

}  // namespace arion

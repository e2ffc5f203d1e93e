#include "capi/client_engine.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "api/answer_format.h"
#include "base/error.h"
#include "capi/client_request.h"
#include "engine/waiting_queue.h"

namespace arion {
namespace {

using nlohmann::ordered_json;

constexpr int kMaxContext = 1 << 26, kMaxStepTokens = 1 << 16;
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
  load.threads = given.threads;
  load.context = in_range("context", given.context, load.context, kMaxContext);
  load.step_tokens = in_range("step_tokens", given.step_tokens, load.step_tokens, kMaxStepTokens);
  EngineOptions& engine = out.engine;
  engine.max_sequences =
      in_range("max_sequences", given.max_sequences, kDefaultSequences, kMaxSequences);
  constexpr auto kAnyTime = std::numeric_limits<int64_t>::max();
  engine.target_step_us = in_range("target_step_us", given.target_step_us, int64_t{0}, kAnyTime);
  if (engine.target_step_us > 0) engine.decode_slowdown = 0;
  engine.queue = {.requests = in_range("max_queue", given.max_queue, engine.queue.requests,
                                       std::numeric_limits<int>::max()),
                  .tokens = in_range("max_queue_tokens", given.max_queue_tokens,
                                     engine.queue.tokens, std::numeric_limits<int64_t>::max())};
  if (given.scheduling != nullptr) engine.policy = queue_policy_of(given.scheduling);
  engine.reuses_prefixes = given.forgets_prefixes == 0;
  if (given.name != nullptr) out.names = {given.name};
  return out;
}

std::string ClientEngine::describe() const {
  const ServedModel& served = model();
  const LoadedModel& loaded = answering_.loaded();
  const auto ends = served.tokenizer.end_of_generation();
  ordered_json out{{"name", served.name()},
                   {"path", loaded.path},
                   {"context_tokens", served.context_tokens},
                   {"vocab", served.vocab},
                   {"bos_token_id", nullptr},
                   {"eos_token_ids", std::vector<TokenId>(ends.begin(), ends.end())},
                   {"profile", loaded.runner->profile()},
                   {"isa", loaded.isa},
                   {"threads", loaded.pool->size()},
                   {"load_ms", loaded.load_ms},
                   {"has_chat_template", served.chat_template != nullptr},
                   {"warnings", answering_.warnings()}};
  if (const auto bos = served.tokenizer.special().bos) out["bos_token_id"] = *bos;
  return dump_json(out);
}

std::string ClientEngine::describe_stats() {
  const EngineStats stats = engine().stats();
  return dump_json({{"running", stats.running},
                    {"waiting", stats.waiting},
                    {"kv_blocks", stats.kv_blocks},
                    {"kv_blocks_used", stats.kv_blocks_used},
                    {"prefix_asked_tokens", stats.prefix_asked_tokens},
                    {"prefix_found_tokens", stats.prefix_found_tokens},
                    {"preemptions", stats.preemptions},
                    {"steps", stats.steps},
                    {"step_tokens", stats.step_tokens}});
}

void ClientEngine::enter(ClientRequest& request) {
  const std::lock_guard lock(mutex_);
  requests_.insert(&request);
}

void ClientEngine::leave(ClientRequest& request) {
  const std::lock_guard lock(mutex_);
  requests_.erase(&request);
}

void ClientEngine::cancel_all() {
  const std::lock_guard lock(mutex_);
  for (ClientRequest* request : requests_) request->cancel();
}

}  // namespace arion

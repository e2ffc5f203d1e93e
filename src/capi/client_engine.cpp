#include "capi/client_engine.h"

#include <nlohmann/json.hpp>

#include "api/answer_format.h"
#include "capi/client_request.h"

namespace arion {

using nlohmann::ordered_json;

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

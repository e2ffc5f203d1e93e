// The functions of arion/arion.h.
#include "arion/arion.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>

#include "base/utf8.h"
#include "capi/client_engine.h"
#include "capi/client_request.h"
#include "capi/engine_options.h"
#include "capi/status.h"
#include "text/detokenizer.h"

struct arion_engine {
  std::shared_ptr<arion::ClientEngine> engine;
};

struct arion_request {
  arion::ClientRequest request;
  std::atomic_flag is_waiting{};  // a thread is in arion_request_next
};

namespace arion {
namespace {

// Longer time-outs than a year are that long: the clock has an end.
constexpr int64_t kMaxTimeoutMs = int64_t{365} * 24 * 3600 * 1000;

struct CFree {
  void operator()(void* memory) const { std::free(memory); }
};
template <typename T>
using CArray = std::unique_ptr<T[], CFree>;

// For arion_free; with room for one more, which is 0.
template <typename T>
CArray<T> copy_array(std::span<const T> source) {
  CArray<T> copy(static_cast<T*>(std::calloc(source.size() + 1, sizeof(T))));
  if (!copy) throw std::bad_alloc();
  std::ranges::copy(source, copy.get());
  return copy;
}

// A result, and where it goes.
template <typename T>
struct Output {
  T** data;
  size_t* count;

  bool is_wanted() const { return data != nullptr && count != nullptr; }
};

template <typename T>
void hand_out(CArray<T>& array, size_t count, const Output<T>& out) {
  *out.data = array.release();
  *out.count = count;
}

template <typename T, typename Source>
void hand_out_copy(const Source& source, const Output<T>& out) {
  auto copy = copy_array<T>(source);
  hand_out(copy, source.size(), out);
}

std::string_view require_text(const char* text, size_t length, const char* name) {
  return {&require(text, name), length};
}

ClientEngine& engine_of(arion_engine* handle) {
  return *require(handle, "engine").engine;
}

std::string decode_tokens(const Tokenizer& tokenizer, std::span<const TokenId> tokens, int flags) {
  for (const TokenId token : tokens) {
    if (token < 0 || token >= tokenizer.size()) {
      fail(ErrorCode::bad_input, "tokens contain {}, expected 0 to {}", token,
           tokenizer.size() - 1);
    }
  }
  return repair_utf8(decode_bytes(tokenizer, tokens,
                                  {.show_control = (flags & ARION_SHOW_CONTROL) != 0,
                                   .continues_text = (flags & ARION_CONTINUES) != 0}));
}

void check_flags(int flags, int known) {
  if ((flags & ~known) != 0) fail(ErrorCode::usage, "flags {}: unknown to this function", flags);
}

LoadProgress progress_of(const arion_engine_options* options) {
  constexpr size_t kEnd = offsetof(arion_engine_options, progress_data) + sizeof(void*);
  if (options == nullptr || options->size < kEnd || options->progress == nullptr) return {};
  return [call = options->progress, data = options->progress_data](uint64_t done, uint64_t total) {
    if (call(data, done, total) != 0) fail(ErrorCode::failed, "loading the model was cancelled");
  };
}

GenerationRequest parse_request(int kind, std::string_view json, const ServedModel& model) {
  if (kind != ARION_COMPLETION && kind != ARION_CHAT) {
    fail(ErrorCode::usage, "kind is {}, expected ARION_COMPLETION or ARION_CHAT", kind);
  }
  const Dialect dialect = kind == ARION_CHAT ? Dialect::chat : Dialect::completion;
  return parse_generation(dialect, JsonObject(json), model);
}

int wait_for_event(arion_request& handle, int64_t timeout_ms, const arion_event*& event) {
  event = nullptr;
  if (handle.is_waiting.test_and_set()) {
    fail(ErrorCode::usage, "another thread waits for this request");
  }
  struct Reset {
    std::atomic_flag& flag;
    ~Reset() { flag.clear(); }
  } const reset{handle.is_waiting};
  ClientRequest& request = handle.request;
  if (request.has_ended()) return ARION_ENDED;
  std::optional<std::chrono::milliseconds> timeout;
  if (timeout_ms >= 0) timeout.emplace(std::min(timeout_ms, kMaxTimeoutMs));
  event = request.next(timeout);
  return event == nullptr ? ARION_TIMED_OUT : ARION_OK;
}

}  // namespace
}  // namespace arion

using namespace arion;

extern "C" {

const char* arion_version(void) {
  return ARION_VERSION;
}

int arion_abi_version(void) {
  return ARION_ABI_VERSION;
}

const char* arion_last_error(void) {
  return last_error();
}

int arion_free(void* memory) {
  std::free(memory);
  return ARION_OK;
}

int arion_engine_open(const char* model, const arion_engine_options* options,
                      arion_engine** engine) {
  return guarded([&] {
    arion_engine*& out = require(engine, "engine");
    const AnsweringOptions read = read_engine_options(&require(model, "model"), options);
    out = new arion_engine{std::make_shared<ClientEngine>(read, progress_of(options))};
    return ARION_OK;
  });
}

int arion_engine_close(arion_engine* engine) {
  return guarded([&] {
    const std::unique_ptr<arion_engine> owner(engine);
    if (owner) owner->engine->cancel_all();
    return ARION_OK;
  });
}

int arion_engine_info(arion_engine* engine, char** json, size_t* json_len) {
  return guarded([&] {
    hand_out_copy(engine_of(engine).describe(),
                  Output<char>{&require(json, "json"), &require(json_len, "json_len")});
    return ARION_OK;
  });
}

int arion_engine_stats(arion_engine* engine, char** json, size_t* json_len) {
  return guarded([&] {
    hand_out_copy(engine_of(engine).describe_stats(),
                  Output<char>{&require(json, "json"), &require(json_len, "json_len")});
    return ARION_OK;
  });
}

int arion_tokenize(arion_engine* engine, const char* text, size_t text_len, int flags,
                   int32_t** tokens, size_t* count) {
  return guarded([&] {
    const Output<int32_t> out{&require(tokens, "tokens"), &require(count, "count")};
    check_flags(flags, ARION_NO_SPECIAL | ARION_PLAIN_TEXT);
    const Tokenizer& tokenizer = engine_of(engine).model().tokenizer;
    hand_out_copy(tokenizer.encode(require_text(text, text_len, "text"),
                                   {.add_special = (flags & ARION_NO_SPECIAL) == 0,
                                    .parse_special = (flags & ARION_PLAIN_TEXT) == 0}),
                  out);
    return ARION_OK;
  });
}

int arion_detokenize(arion_engine* engine, const int32_t* tokens, size_t count, int flags,
                     char** text, size_t* text_len) {
  return guarded([&] {
    const Output<char> out{&require(text, "text"), &require(text_len, "text_len")};
    check_flags(flags, ARION_SHOW_CONTROL | ARION_CONTINUES);
    const Tokenizer& tokenizer = engine_of(engine).model().tokenizer;
    const std::span<const TokenId> ids(&require(tokens, "tokens"), count);
    hand_out_copy(decode_tokens(tokenizer, ids, flags), out);
    return ARION_OK;
  });
}

int arion_render_chat(arion_engine* engine, const char* json, size_t json_len, char** text,
                      size_t* text_len, int32_t** tokens, size_t* count) {
  return guarded([&] {
    const Output<char> text_out{text, text_len};
    const Output<int32_t> token_out{tokens, count};
    if (!text_out.is_wanted() && !token_out.is_wanted()) {
      fail(ErrorCode::usage, "text and tokens are both NULL");
    }
    const ServedModel& model = engine_of(engine).model();
    const JsonObject body(require_text(json, json_len, "json"));
    const Prompt prompt = render_messages(body, model);
    auto text_copy = copy_array<char>(prompt.text);
    auto token_copy = copy_array<int32_t>(prompt.tokens);
    if (text_out.is_wanted()) hand_out(text_copy, prompt.text.size(), text_out);
    if (token_out.is_wanted()) hand_out(token_copy, prompt.tokens.size(), token_out);
    return ARION_OK;
  });
}

int arion_request_start(arion_engine* engine, int kind, const char* json, size_t json_len,
                        arion_request** request) {
  return guarded([&] {
    arion_request*& out = require(request, "request");
    const std::shared_ptr<ClientEngine>& owner = require(engine, "engine").engine;
    GenerationRequest parsed =
        parse_request(kind, require_text(json, json_len, "json"), owner->model());
    out = new arion_request{{owner, std::move(parsed)}};
    return ARION_OK;
  });
}

int arion_request_next(arion_request* request, int64_t timeout_ms, const arion_event** event) {
  return guarded([&] {
    return wait_for_event(require(request, "request"), timeout_ms, require(event, "event"));
  });
}

int arion_request_prompt(const arion_request* request, size_t prompt, const int32_t** tokens,
                         size_t* count) {
  return guarded([&] {
    const auto prompts = require(request, "request").request.prompts();
    if (prompt >= prompts.size()) {
      fail(ErrorCode::usage, "prompt is {}, expected 0 to {}", prompt, prompts.size() - 1);
    }
    const std::vector<TokenId>& ids = prompts[prompt].tokens;
    const int32_t*& out = require(tokens, "tokens");
    require(count, "count") = ids.size();
    out = ids.data();
    return ARION_OK;
  });
}

int arion_request_size(const arion_request* request, size_t* prompts, size_t* n) {
  return guarded([&] {
    const ClientRequest& asked = require(request, "request").request;
    size_t& prompts_out = require(prompts, "prompts");
    require(n, "n") = asked.answers_per_prompt();
    prompts_out = asked.prompts().size();
    return ARION_OK;
  });
}

int arion_request_cancel(arion_request* request) {
  return guarded([&] {
    require(request, "request").request.cancel();
    return ARION_OK;
  });
}

int arion_request_free(arion_request* request) {
  return guarded([&] {
    delete request;
    return ARION_OK;
  });
}

}  // extern "C"

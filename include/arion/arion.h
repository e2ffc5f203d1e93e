/* Arion's C interface: load a model, ask it, read the answers as they grow.
 *
 *   arion_engine* engine;
 *   arion_request* request;
 *   const arion_event* event;
 *   const char json[] = "{\"prompt\": \"Once upon\", \"max_tokens\": 50}";
 *   if (arion_engine_open("model.gguf", NULL, &engine) != ARION_OK) return;
 *   if (arion_request_start(engine, ARION_COMPLETION, json, strlen(json), &request) == ARION_OK) {
 *     while (arion_request_next(request, -1, &event) == ARION_OK) {
 *       fwrite(event->text, 1, event->text_len, stdout);
 *     }
 *     arion_request_free(request);
 *   }
 *   arion_engine_close(engine);
 *
 * Errors. Every function but the constants returns a status, and never throws. After one from
 * ARION_FAILED to ARION_OVERLOADED, arion_last_error() has the reason, and nothing was stored
 * through the pointers given for results.
 *
 * Threads. One engine serves any number of threads; the requests of all of them share its steps.
 * Functions that take an engine may run at the same time as each other, but for
 * arion_engine_close, behind which the handle is gone. Of one request, arion_request_cancel may be
 * called by any thread at any time; everything else by one thread at a time.
 *
 * Memory. Texts and arrays that functions hand out through `char**` and `int32_t**` belong to the
 * caller, who gives them back to arion_free. What an event points to belongs to the request.
 *
 * Texts are UTF-8. Where a length goes with one, it need not end with NUL, and may contain it;
 * those that are handed out end with a NUL that the length does not count. */
#ifndef ARION_ARION_H
#define ARION_ARION_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ARION_API __attribute__((visibility("default")))
#else
#define ARION_API
#endif

/* Grows with every change that programs built before would notice. Members that are added at the
 * end of a struct with `size`, and new functions, are none. */
#define ARION_ABI_VERSION 1

enum {
  ARION_OK = 0,
  ARION_FAILED = 1,     /* the machine or a resource could not do it */
  ARION_USAGE = 2,      /* the call asks for something that does not exist; a pointer is NULL */
  ARION_BAD_INPUT = 3,  /* a file, prompt or request is malformed */
  ARION_OVERLOADED = 4, /* too much waits already; the same request may succeed later */
  /* Of arion_request_next; no errors. */
  ARION_TIMED_OUT = 100, /* nothing has come yet */
  ARION_ENDED = 101      /* all choices have ended, and all of their events were taken */
};

typedef struct arion_engine arion_engine;
typedef struct arion_request arion_request;

/* "1.2.3" of the library; ARION_ABI_VERSION as it was built. */
ARION_API const char* arion_version(void);
ARION_API int arion_abi_version(void);

/* Why the last call of this thread failed; "" if none has. Valid until its next call. */
ARION_API const char* arion_last_error(void);

/* Gives back what a function handed out. NULL is fine. */
ARION_API int arion_free(void* memory);

/* ---- Engines ---- */

/* Called while a model is loaded, on the thread that loads: bytes of weights done, and of all.
 * Anything but 0 ends loading with ARION_FAILED. */
typedef int (*arion_progress)(void* data, uint64_t done, uint64_t total);

/* Everything that is 0 or NULL has its default:
 *   arion_engine_options options = {0};
 *   options.size = sizeof options; */
typedef struct arion_engine_options {
  size_t size;            /* sizeof(arion_engine_options) */
  int32_t threads;        /* default: one per physical core */
  int32_t context;        /* tokens of prompt and answer; default: the model's, at most 32768 */
  int32_t max_sequences;  /* answered at the same time, each with room for a context; default: 16 */
  int32_t step_tokens;    /* computed in one step at most; default: 512 */
  int64_t target_step_us; /* longest step beside answers in progress; default: none */
  int32_t forgets_prefixes; /* not 0: every prompt is computed from its beginning */
  int32_t max_queue;        /* requests that may wait; default: any number */
  int64_t max_queue_tokens; /* of their prompts together; default: any number */
  const char* isa;          /* generic, avx2, avxvnni, avx512, avx512bf16; default: the best */
  const char* activations;  /* int8, bf16 or fp32; default: by the format of the weights */
  const char* kv;           /* type of the KV cache: f32, f16 or bf16; default: f16 */
  const char* scheduling;   /* fcfs, priority or fair; default: fcfs */
  const char* name;         /* that requests may use as "model"; default: that of the file */
  arion_progress progress;  /* default: none */
  void* progress_data;
  /* How many times as long as without others' prompts answers in progress may wait for a token; at
   * most 1000, or INFINITY: as long as it takes. Default: 2.15, none with target_step_us. */
  double decode_slowdown;
  const char*
      compiled; /* auto, off or a file of arion compile; default: ARION_COMPILED, else auto */
} arion_engine_options;

/* `model`: a GGUF file, a Hugging Face folder, or the name of a model that quickstart fetched.
 * `options` may be NULL. */
ARION_API int arion_engine_open(const char* model, const arion_engine_options* options,
                                arion_engine** engine);

/* Cancels what is in flight. Requests stay valid, deliver what has come and end; they are freed as
 * ever, and with the last of them the model's memory. NULL is fine. */
ARION_API int arion_engine_close(arion_engine* engine);

/* What there is to know about the model, and what the engine does, as JSON objects:
 *   {"name", "path", "context_tokens", "vocab", "bos_token_id", "eos_token_ids", "profile", "isa",
 *    "threads", "load_ms", "has_chat_template", "warnings"}
 *   {"running", "waiting", "kv_blocks", "kv_blocks_used", "prefix_asked_tokens",
 *    "prefix_found_tokens", "preemptions", "steps", "step_tokens"} */
ARION_API int arion_engine_info(arion_engine* engine, char** json, size_t* json_len);
ARION_API int arion_engine_stats(arion_engine* engine, char** json, size_t* json_len);

/* ---- Text and tokens ---- */

enum {
  ARION_NO_SPECIAL = 1,   /* arion_tokenize adds no BOS and EOS */
  ARION_PLAIN_TEXT = 2,   /* arion_tokenize: spellings of control tokens are text like any other */
  ARION_SHOW_CONTROL = 4, /* arion_detokenize: control tokens by their spelling, not as nothing */
  ARION_CONTINUES = 8     /* arion_detokenize: text follows other text, so a space stays in front */
};

/* `flags`: any of those above, joined by |. */
ARION_API int arion_tokenize(arion_engine* engine, const char* text, size_t text_len, int flags,
                             int32_t** tokens, size_t* count);
/* What is no UTF-8 shows as U+FFFD. */
ARION_API int arion_detokenize(arion_engine* engine, const int32_t* tokens, size_t count, int flags,
                               char** text, size_t* text_len);

/* The prompt that the model's chat template makes of {"messages", "add_generation_prompt",
 * "continue_final_message", "chat_template_kwargs", "documents"}, as text and as tokens; either
 * pair of results may be NULL. */
ARION_API int arion_render_chat(arion_engine* engine, const char* json, size_t json_len,
                                char** text, size_t* text_len, int32_t** tokens, size_t* count);

/* ---- Requests ---- */

enum { ARION_COMPLETION = 1, ARION_CHAT = 2 };

enum {
  ARION_FINISH_NONE = 0,      /* more will come */
  ARION_FINISH_STOP = 1,      /* an end token, a stop token or a stop string */
  ARION_FINISH_LENGTH = 2,    /* max_tokens, or the end of the context */
  ARION_FINISH_CANCELLED = 3, /* by arion_request_cancel or arion_engine_close */
  ARION_FINISH_ERROR = 4      /* see arion_event.error */
};

typedef struct arion_token_logprob {
  int32_t token;
  float logprob; /* natural logarithm, -infinity for tokens that are not allowed */
} arion_token_logprob;

/* Of a token and its rivals, under the model. */
typedef struct arion_logprobs {
  arion_token_logprob chosen;
  int32_t rank;                   /* of the token: 1 is the most probable */
  const arion_token_logprob* top; /* the most probable ones, as many as asked for, by rank */
  size_t top_count;
} arion_logprobs;

/* What is new of one choice. A pointer whose length or count is 0 may be NULL. */
typedef struct arion_event {
  size_t size;      /* of the struct as the library has it */
  size_t choice;    /* prompt * n + number of the answer to it */
  const char* text; /* whole characters, ended by NUL */
  size_t text_len;
  const int32_t* tokens; /* a stop token included */
  size_t token_count;
  const arion_logprobs* logprobs; /* one per token if asked for ("logprobs"), else none */
  size_t logprob_count;
  /* In the first event of a choice, of the prompt's tokens but the first if asked for
   * ("prompt_logprobs"; "echo" with "logprobs"). */
  const arion_logprobs* prompt_logprobs;
  size_t prompt_logprob_count;
  uint64_t seed; /* of all choices: asked for, or drawn; with it the answers come again */
  /* In the last event of a choice. */
  int32_t finish;          /* ARION_FINISH_... */
  int32_t stop_token;      /* which of "stop_token_ids" ended the answer; -1: none */
  const char* stop_string; /* which of "stop" did; NULL: none */
  size_t stop_string_len;
  const char* error; /* why the answer ended in an error or was cancelled; NULL: unknown or none */
  size_t error_len;
  int64_t prompt_tokens, cached_tokens; /* of the choice's prompt; found in the cache of prefixes */
  int64_t completion_tokens;            /* of its answer */
} arion_event;

/* `json`: the body that `arion serve` takes at /v1/completions or /v1/chat/completions, with
 * OpenAI's and vLLM's fields ("stream" and "stream_options" mean nothing here). Reads, tokenises
 * and checks it on the calling thread. */
ARION_API int arion_request_start(arion_engine* engine, int kind, const char* json, size_t json_len,
                                  arion_request** request);

/* Waits for the next event of any choice: for so many milliseconds, or for ever where that is
 * negative. ARION_OK: *event is valid until the next call on this request. ARION_TIMED_OUT,
 * ARION_ENDED: *event is NULL. */
ARION_API int arion_request_next(arion_request* request, int64_t timeout_ms,
                                 const arion_event** event);

/* The tokens of a prompt, valid as long as the request; how many prompts there are, and answers to
 * each. */
ARION_API int arion_request_prompt(const arion_request* request, size_t prompt,
                                   const int32_t** tokens, size_t* count);
ARION_API int arion_request_size(const arion_request* request, size_t* prompts, size_t* n);

/* Choices that have not ended end with ARION_FINISH_CANCELLED. */
ARION_API int arion_request_cancel(arion_request* request);

/* Cancels what has not ended. NULL is fine. */
ARION_API int arion_request_free(arion_request* request);

#ifdef __cplusplus
}
#endif

#endif /* ARION_ARION_H */

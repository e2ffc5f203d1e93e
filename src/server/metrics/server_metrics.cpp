#include "server/metrics/server_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "sequence/sequence.h"

namespace arion {
namespace {

// The bounds of vLLM's histograms (vllm/v1/metrics/loggers.py), which dashboards rely on.
constexpr double kFirstTokenBounds[] = {.001, .005, .01, .02, .04, .06, .08, .1, .25, .5,  .75,
                                        1,    2.5,  5,   7.5, 10,  20,  40,  80, 160, 640, 2560};
constexpr double kTokenBounds[] = {.01, .025, .05, .075, .1,  .15, .2, .3, .4, .5,
                                   .75, 1,    2.5, 5,    7.5, 10,  20, 40, 80};
constexpr double kRequestBounds[] = {.3, .5, .8, 1,  1.5, 2,   2.5, 5,   10,   15,  20,
                                     30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680};
constexpr double kChoiceBounds[] = {1, 2, 5, 10, 20};
constexpr double kStepBounds[] = {1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384};

// 1, 2, 5, 10, ... up to `limit`.
std::vector<double> token_bounds(int limit) {
  std::vector<double> bounds;
  for (double power = 1; power <= limit; power *= 10) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      if (digit * power <= limit) bounds.push_back(digit * power);
    }
  }
  return bounds;
}

double seconds(int64_t microseconds) {
  return static_cast<double>(microseconds) / 1e6;
}

// A label's value between quotes.
std::string escape_label(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

// Lines with the labels that all of them have.
class ServerMetrics::Writer {
 public:
  explicit Writer(std::string labels) : labels_(std::move(labels)) {}

  void head(const char* name, const char* type, const char* help) {
    fmt::format_to(std::back_inserter(out_), "# HELP {} {}\n# TYPE {} {}\n", name, help, name,
                   type);
  }
  template <typename Number>
  void line(const char* name, Number value, const std::string& more = {}) {
    fmt::format_to(std::back_inserter(out_), "{}{{{}{}}} {}\n", name, labels_, more, value);
  }
  template <typename Number>
  void gauge(const char* name, const char* help, Number value) {
    head(name, "gauge", help);
    line(name, value);
  }
  template <typename Number>
  void counter(const char* name, const char* help, Number value) {
    head(name, "counter", help);
    line(name, value);
  }
  void histogram(const char* name, const char* help, const Histogram& histogram) {
    head(name, "histogram", help);
    histogram.write(out_, name, labels_);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string labels_, out_;
};

ServerMetrics::ServerMetrics(std::string model, int context_tokens)
    : labels_(fmt::format("model_name=\"{}\",engine=\"0\"", escape_label(model))),
      first_token_(kFirstTokenBounds),
      inter_token_(kTokenBounds),
      per_output_token_(kTokenBounds),
      end_to_end_(kRequestBounds),
      queue_(kRequestBounds),
      inference_(kRequestBounds),
      prefill_(kRequestBounds),
      decode_(kRequestBounds),
      prompt_(token_bounds(context_tokens)),
      output_(token_bounds(context_tokens)),
      max_output_(token_bounds(context_tokens)),
      params_max_(token_bounds(context_tokens)),
      computed_(token_bounds(context_tokens)),
      params_n_(kChoiceBounds),
      step_tokens_(kStepBounds) {}

void ServerMetrics::add_accepted(int n, int64_t max_tokens) {
  params_n_.observe(n);
  params_max_.observe(static_cast<double>(max_tokens));
}

void ServerMetrics::add_first_token(std::chrono::duration<double> since_arrival) {
  first_token_.observe(since_arrival.count());
  ++output_tokens_;
}

void ServerMetrics::add_later_tokens(std::chrono::duration<double> interval, uint64_t tokens) {
  inter_token_.observe(interval.count() / static_cast<double>(tokens), tokens);
  output_tokens_ += static_cast<int64_t>(tokens);
}

void ServerMetrics::add_finished(FinishReason reason, const RequestSummary& summary,
                                 int64_t output_tokens,
                                 std::chrono::duration<double> since_arrival) {
  ++finished_[static_cast<size_t>(reason)];
  prompt_tokens_ += summary.prompt_tokens;
  cached_tokens_ += summary.cached_tokens;
  prompt_.observe(summary.prompt_tokens);
  output_.observe(static_cast<double>(output_tokens));
  max_output_.observe(static_cast<double>(output_tokens));
  computed_.observe(summary.prompt_tokens - summary.cached_tokens);
  end_to_end_.observe(since_arrival.count());
  queue_.observe(seconds(summary.queue_us));
  prefill_.observe(seconds(summary.prompt_us));
  decode_.observe(seconds(summary.decode_us));
  inference_.observe(seconds(summary.prompt_us + summary.decode_us));
  if (output_tokens > 1) {
    per_output_token_.observe(seconds(summary.decode_us) / static_cast<double>(output_tokens - 1));
  }
}

void ServerMetrics::add_steps(const EngineStats& engine) {
  const int64_t steps = engine.steps - last_stats_.steps;
  const int64_t tokens = engine.step_tokens - last_stats_.step_tokens;
  last_stats_ = engine;
  if (steps <= 0) return;
  step_tokens_.observe(static_cast<double>(tokens) / static_cast<double>(steps),
                       static_cast<uint64_t>(steps));
}

std::string ServerMetrics::write(const EngineStats& engine) const {
  Writer w(labels_);
  w.gauge("vllm:num_requests_running", "Requests in the batch of the engine", engine.running);
  w.gauge("vllm:num_requests_waiting", "Requests that wait for a place in it", engine.waiting);
  const double usage = static_cast<double>(engine.kv_blocks_used) / std::max(1, engine.kv_blocks);
  w.gauge("vllm:kv_cache_usage_perc", "Share of the KV cache in use, 1 is all of it", usage);
  w.head("vllm:cache_config_info", "gauge", "How the KV cache is divided");
  w.line("vllm:cache_config_info", 1,
         fmt::format(",block_size=\"{}\",num_gpu_blocks=\"{}\"", kBlockTokens, engine.kv_blocks));
  w.counter("vllm:prefix_cache_queries_total", "Prompt tokens looked up in the prefix cache",
            engine.prefix_asked_tokens);
  w.counter("vllm:prefix_cache_hits_total", "Prompt tokens found in the prefix cache",
            engine.prefix_found_tokens);
  w.counter("vllm:num_preemptions_total", "Preemptions of requests", engine.preemptions);
  w.counter("vllm:prompt_tokens_total", "Tokens of prompts", prompt_tokens_);
  w.counter("vllm:prompt_tokens_cached_total", "Tokens of prompts that were cached",
            cached_tokens_);
  w.counter("vllm:generation_tokens_total", "Tokens of answers", output_tokens_);
  w.head("vllm:request_success_total", "counter", "Requests that ended, by reason");
  using enum FinishReason;
  for (const auto& [reason, name] : {std::pair(stop, "stop"), std::pair(length, "length"),
                                     std::pair(cancelled, "abort"), std::pair(error, "error")}) {
    w.line("vllm:request_success_total", finished_[static_cast<size_t>(reason)],
           fmt::format(",finished_reason=\"{}\"", name));
  }
  w.histogram("vllm:time_to_first_token_seconds", "From arrival to the first token", first_token_);
  w.histogram("vllm:inter_token_latency_seconds", "Between tokens of an answer", inter_token_);
  w.histogram("vllm:request_time_per_output_token_seconds", "Mean time per token of a request",
              per_output_token_);
  w.histogram("vllm:e2e_request_latency_seconds", "From arrival to the end", end_to_end_);
  w.histogram("vllm:request_queue_time_seconds", "Waiting for the engine", queue_);
  w.histogram("vllm:request_inference_time_seconds", "In the engine's batch", inference_);
  w.histogram("vllm:request_prefill_time_seconds", "Computing the prompt", prefill_);
  w.histogram("vllm:request_decode_time_seconds", "From the first token to the last", decode_);
  w.histogram("vllm:request_prompt_tokens", "Tokens of a prompt", prompt_);
  w.histogram("vllm:request_generation_tokens", "Tokens of an answer", output_);
  w.histogram("vllm:request_max_num_generation_tokens", "Tokens of the longest answer",
              max_output_);
  w.histogram("vllm:request_params_max_tokens", "The parameter max_tokens", params_max_);
  w.histogram("vllm:request_prefill_kv_computed_tokens", "Prompt tokens that were not cached",
              computed_);
  w.histogram("vllm:request_params_n", "The parameter n", params_n_);
  w.histogram("vllm:iteration_tokens_total", "Tokens per step of the engine", step_tokens_);
  return w.take();
}

}  // namespace arion

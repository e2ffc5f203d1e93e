// What a server counts, under vLLM's names.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <string>

#include "engine/engine_stats.h"
#include "engine/request.h"
#include "server/metrics/histogram.h"

namespace arion {

// Of the I/O thread. One of its requests is one of the engine's: a choice.
class ServerMetrics {
 public:
  ServerMetrics(std::string model, int context_tokens);

  // A request of `n` choices per prompt was accepted; max_tokens is cut to what the context allows.
  void add_accepted(int n, int64_t max_tokens);
  void add_first_token(std::chrono::duration<double> since_arrival);
  // `tokens` more, so long after the one before.
  void add_later_tokens(std::chrono::duration<double> interval, uint64_t tokens);
  void add_finished(FinishReason reason, const RequestSummary& summary, int64_t output_tokens,
                    std::chrono::duration<double> since_arrival);

  // The tokens of the engine's steps since the last call; a mean of them where there were several.
  void add_steps(const EngineStats& engine);
  // From arrival to the end; 0 when nothing has ended yet.
  double mean_request_seconds() const { return end_to_end_.mean(); }

  // The text format of Prometheus.
  std::string write(const EngineStats& engine) const;

 private:
  class Writer;

  std::string labels_;
  int64_t prompt_tokens_ = 0, cached_tokens_ = 0, output_tokens_ = 0;
  std::array<uint64_t, 5> finished_{};  // by FinishReason
  Histogram first_token_, inter_token_, per_output_token_, end_to_end_, queue_, inference_,
      prefill_, decode_;                                            // seconds
  Histogram prompt_, output_, max_output_, params_max_, computed_;  // tokens
  Histogram params_n_;
  Histogram step_tokens_;
  EngineStats last_stats_;
};

}  // namespace arion

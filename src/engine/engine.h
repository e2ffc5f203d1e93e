// The engine: one thread that steps the model for all requests.
//
// Requests come in by one queue, events leave by the clients' sinks; nothing else is shared. Which
// token ends an answer is decided on the engine's thread alone. By batch invariance and sampling
// without state, the answer to a request does not depend on what else runs.
#pragma once
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "engine/engine_stats.h"
#include "engine/request_state.h"
#include "engine/scheduler.h"
#include "engine/step_cost.h"
#include "runtime/model_runner.h"

namespace arion {

struct EngineOptions {
  int max_sequences = 64;  // running at the same time
  // Of steps that others' decoding waits for, see SchedulerLimits.
  double decode_slowdown = 2.15;
  int64_t target_step_us = 0;
  QueuePolicy policy = QueuePolicy::fcfs;
  QueueLimits queue;
  bool reuses_prefixes = true;
  bool checks_integrity = false;  // of all bookkeeping whenever nothing is left to do
};

// submit and cancel may be called by any thread.
class Engine {
 public:
  // Runner and tokenizer must outlive the engine; the runner belongs to its thread until then.
  // Throws Error when the runner's KV pools are too small for a step.
  Engine(ModelRunner& runner, const Tokenizer& tokenizer, const EngineOptions& options = {});
  // Cancels what is in flight; every request has had its last event when this returns.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Throws Error for a request that cannot be served, for one too many (overloaded), and after a
  // failure of the engine itself.
  RequestId submit(Request request, Sink sink);
  // Takes effect before the next step. Unknown and finished requests are ignored.
  void cancel(RequestId request);

  // Of each sequence of a request: prompt, or negative prompt, and answer together.
  int context_tokens() const { return context_; }
  int guided_context_tokens() const { return guided_context_; }  // of requests with guidance
  // As of the last change.
  EngineStats stats() const;

 private:
  struct Inbox {
    std::vector<std::unique_ptr<RequestState>> submitted;
    std::vector<RequestId> cancelled;
    bool is_stopping = false;

    bool empty() const { return submitted.empty() && cancelled.empty() && !is_stopping; }
  };

  void loop();
  void serve();
  Inbox receive();
  void take_in(Inbox& inbox);
  int step();
  void advance(const BatchPlan& plan, const StepResult& result);
  void sample();
  void end_expired();
  void end(RequestId request, const std::string& why);
  void fail_runs(const BatchPlan& plan, const std::string& message);
  void update_stats(int step_tokens);
  void finish_all(FinishReason reason, const std::string& message);
  void forget_finished();

  ModelRunner& runner_;
  const Tokenizer& tokenizer_;
  const bool checks_integrity_;
  QueueBounds bounds_;
  Scheduler scheduler_;
  int vocab_;           // tokens that can be sampled
  int context_;         // tokens
  int guided_context_;  // tokens

  // Of the engine's thread.
  std::unordered_map<RequestId, std::unique_ptr<RequestState>> requests_;
  std::vector<Sampler> samplers_{1};  // one per worker
  std::vector<RequestState*> ready_;  // to be sampled in the current step
  StepCost cost_;

  std::atomic<RequestId> next_id_ = 1;
  mutable std::mutex mutex_;
  std::condition_variable inbox_changed_;
  Inbox inbox_;          // guarded by mutex_
  EngineStats stats_;    // guarded by mutex_
  std::string failure_;  // guarded by mutex_; why the engine stopped by itself
  std::thread thread_;   // last: starts when all else is there
};

}  // namespace arion

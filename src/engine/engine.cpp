// The loop of the engine's thread: take requests in, step, hand out tokens, forget the finished.
#include "engine/engine.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/numerics_mode.h"

namespace arion {
namespace {

int64_t microseconds_since(Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - time).count();
}

SchedulerLimits limits_of(const ModelRunner& runner, const EngineOptions& options) {
  return {.max_sequences = options.max_sequences,
          .budget_tokens = runner.max_step_tokens(),
          .budget_logit_rows = runner.max_step_logit_rows(),
          .decode_slowdown = options.decode_slowdown,
          .target_step_us = options.target_step_us,
          .policy = options.policy,
          .reuses_prefixes = options.reuses_prefixes};
}

}  // namespace

Engine::Engine(ModelRunner& runner, const Tokenizer& tokenizer, const EngineOptions& options)
    : runner_(runner),
      tokenizer_(tokenizer),
      checks_integrity_(options.checks_integrity),
      bounds_(options.queue),
      scheduler_(limits_of(runner, options), runner.kv_groups(), runner.pools()),
      // Models may have more rows of logits than there are tokens.
      vocab_(std::min(runner.vocab_size(), tokenizer.size())),
      context_(std::min(runner.context_length(), scheduler_.max_sequence_tokens())),
      guided_context_(std::min(runner.context_length(), scheduler_.max_pair_tokens())),
      thread_([this] { loop(); }) {}

Engine::~Engine() {
  {
    const std::lock_guard lock(mutex_);
    inbox_.is_stopping = true;
  }
  inbox_changed_.notify_one();
  thread_.join();
}

RequestId Engine::submit(Request request, Sink sink) {
  const RequestId id = next_id_++;
  const int context = request.guidance.is_on() ? guided_context_ : context_;
  auto state = std::make_unique<RequestState>(id, std::move(request), std::move(sink), tokenizer_,
                                              vocab_, context);
  state->wait_in(bounds_.enter(state->sequence().size()));
  {
    const std::lock_guard lock(mutex_);
    if (!failure_.empty()) {
      fail(ErrorCode::failed, "the engine has stopped after a failure: {}", failure_);
    }
    inbox_.submitted.push_back(std::move(state));
  }
  inbox_changed_.notify_one();
  return id;
}

void Engine::cancel(RequestId request) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) inbox_.cancelled.push_back(request);
  }
  inbox_changed_.notify_one();
}

// Whatever goes wrong, every request hears its end. After a failure of the bookkeeping the blocks
// are not given back: nobody may use the runner any more.
void Engine::loop() {
  const NumericsMode mode;  // sampling computes here
  try {
    serve();
    return;
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    failure_ = error.what();
    for (auto& state : inbox_.submitted) requests_.emplace(state->id(), std::move(state));
    inbox_.submitted.clear();
  }
  finish_all(FinishReason::error, failure_);  // nobody writes failure_ any more
}

void Engine::serve() {
  for (;;) {
    Inbox inbox = receive();
    take_in(inbox);
    if (inbox.is_stopping) {
      for (auto& [id, state] : requests_) scheduler_.cancel(state->sequence());
      return finish_all(FinishReason::cancelled, {});
    }
    update_stats(requests_.empty() ? 0 : step());
    if (checks_integrity_ && requests_.empty()) scheduler_.check_integrity();
  }
}

// What came since the last call; waits for something if there is nothing to do.
Engine::Inbox Engine::receive() {
  std::unique_lock lock(mutex_);
  inbox_changed_.wait(lock, [&] { return !inbox_.empty() || !requests_.empty(); });
  return std::exchange(inbox_, {});
}

void Engine::take_in(Inbox& inbox) {
  for (auto& state : inbox.submitted) {
    if (const FinishReason reason = state->finish_at_start(); reason != FinishReason::none) {
      state->finish(reason);
      continue;
    }
    scheduler_.add(state->sequence());
    requests_.emplace(state->id(), std::move(state));
  }
  for (const RequestId id : inbox.cancelled) {
    if (requests_.contains(id)) end(id, {});
  }
  end_expired();
}

void Engine::end_expired() {
  const Clock::time_point now = Clock::now();
  std::vector<RequestId> expired;
  for (const auto& [id, state] : requests_) {
    if (state->has_expired(now)) expired.push_back(id);
  }
  for (const RequestId id : expired) end(id, "its deadline has passed");
}

void Engine::end(RequestId request, const std::string& why) {
  const auto at = requests_.find(request);
  scheduler_.cancel(at->second->sequence());
  at->second->finish(FinishReason::cancelled, why);
  requests_.erase(at);
}

// Returns how many tokens it has computed.
int Engine::step() {
  const Clock::time_point begin = Clock::now();
  const int64_t now_us =
      std::chrono::duration_cast<std::chrono::microseconds>(begin.time_since_epoch()).count();
  const BatchPlan& plan = scheduler_.plan(now_us, cost_);
  CHECK(!plan.empty());
  const StepLoad load = load_of(plan);
  for (const Run& run : plan.runs) requests_.at(run.sequence->id)->leave_queue();
  bool is_computed = true;
  try {
    advance(plan, runner_.run(plan));
  } catch (const std::exception& error) {
    is_computed = false;
    fail_runs(plan, error.what());
  }
  if (is_computed) {
    scheduler_.commit();
  } else {
    scheduler_.abandon();
  }
  cost_.add(load, static_cast<double>(microseconds_since(begin)));
  forget_finished();
  return load.tokens;
}

void Engine::update_stats(int step_tokens) {
  const PrefixCounts& prefixes = scheduler_.prefix_counts();
  const std::lock_guard lock(mutex_);
  stats_.running = static_cast<int>(requests_.size()) - scheduler_.waiting();
  stats_.waiting = scheduler_.waiting();
  stats_.prefix_asked_tokens = prefixes.asked_tokens;
  stats_.prefix_found_tokens = prefixes.found_tokens;
  stats_.preemptions = scheduler_.preemptions();
  stats_.steps += step_tokens > 0 ? 1 : 0;
  stats_.step_tokens += step_tokens;
  const auto used = [](const KvPool& pool) { return pool.blocks() - pool.available_blocks(); };
  const auto fullest = std::ranges::max_element(runner_.pools(), {}, [&](const KvPool& pool) {
    return static_cast<double>(used(pool)) / pool.blocks();
  });
  stats_.kv_blocks = fullest->blocks();
  stats_.kv_blocks_used = used(*fullest);
}

EngineStats Engine::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

void Engine::advance(const BatchPlan& plan, const StepResult& result) {
  CHECK(result.rows == plan.logit_rows());
  int row = 0;
  ready_.clear();
  for (const Run& run : plan.runs) {
    if (run.logits == LogitsRows::none) continue;
    RequestState& state = *requests_.at(run.sequence->id);
    const StepResult rows{
        .logits = result.row(row), .stride = result.stride, .rows = run.logit_rows()};
    if (state.take_logits(run, rows)) ready_.push_back(&state);
    row += run.logit_rows();
  }
  sample();
  for (RequestState* state : ready_) {
    if (state->advance() != FinishReason::none) {
      state->sequence().state = Sequence::State::finished;
    }
  }
  for (RequestState* state : ready_) state->flush();
}

// Requests do not depend on each other, so any worker may take any of them.
void Engine::sample() {
  WorkerPool* workers = ready_.size() > 1 ? runner_.workers() : nullptr;
  if (workers == nullptr) {
    for (RequestState* state : ready_) state->sample(samplers_.front());
    return;
  }
  samplers_.resize(static_cast<size_t>(workers->size()));
  std::atomic<size_t> next{0};
  workers->run([&](int worker) {
    Sampler& sampler = samplers_[static_cast<size_t>(worker)];
    for (size_t i = next.fetch_add(1); i < ready_.size(); i = next.fetch_add(1)) {
      ready_[i]->sample(sampler);
    }
  });
}

// Ends the requests of a step that could not be computed; others go on.
void Engine::fail_runs(const BatchPlan& plan, const std::string& message) {
  for (const Run& run : plan.runs) {
    RequestState& state = *requests_.at(run.sequence->id);
    if (state.sequence().state == Sequence::State::finished) {
      state.flush();  // its last event may have been sent before the failure
      continue;
    }
    state.sequence().state = Sequence::State::finished;
    state.finish(FinishReason::error, message);
  }
}

void Engine::finish_all(FinishReason reason, const std::string& message) {
  for (auto& [id, state] : requests_) state->finish(reason, message);
  requests_.clear();
}

void Engine::forget_finished() {
  std::erase_if(requests_, [](auto& entry) {
    return entry.second->sequence().state == Sequence::State::finished;
  });
}

}  // namespace arion

// Clients, padded batches and recomputation are made by what is asked of the engine and when; the
// engine itself is the one that serves.
#include "load_bench.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <thread>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "engine/event_queue.h"

namespace arion::app {
namespace {

using Clock = std::chrono::steady_clock;

// What one request is to be.
struct Task {
  std::vector<TokenId> prompt;
  int output_tokens = 0;
};

// What is left to chance; a function of the seed.
class Draws {
 public:
  explicit Draws(uint64_t seed) : random_(seed) {}

  int length(const LengthRange& range) {
    const double share = uniform();
    if (!range.is_logarithmic) {
      return range.low + static_cast<int>(share * (range.high - range.low + 1));
    }
    const double low = std::log(range.low), high = std::log(range.high + 1.0);
    return std::clamp(static_cast<int>(std::exp(low + share * (high - low))), range.low,
                      range.high);
  }
  std::vector<TokenId> tokens(int count, int vocab) {
    std::vector<TokenId> out(static_cast<size_t>(count));
    for (TokenId& id : out) id = static_cast<TokenId>(random_() % static_cast<uint64_t>(vocab));
    return out;
  }
  // Seconds between two events of a Poisson process.
  double interval(double rate) { return -std::log(1 - uniform()) / rate; }

 private:
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }  // in [0, 1)

  std::mt19937_64 random_;
};

std::vector<Task> make_tasks(const LoadBenchOptions& options, int vocab) {
  Draws draws(options.seed);
  const std::vector<TokenId> shared = draws.tokens(options.shared_prefix, vocab);
  std::vector<Task> tasks(static_cast<size_t>(options.requests));
  for (Task& task : tasks) {
    task.prompt = shared;
    const std::vector<TokenId> own = draws.tokens(draws.length(options.input), vocab);
    task.prompt.insert(task.prompt.end(), own.begin(), own.end());
    task.output_tokens = draws.length(options.output);
  }
  return tasks;
}

// The tasks on their way through an engine.
class LoadRun {
 public:
  LoadRun(Engine& engine, const std::vector<Task>& tasks, bool has_kv)
      : engine_(engine), tasks_(tasks), has_kv_(has_kv), start_(Clock::now()) {
    result_.requests.resize(tasks.size());
    for (size_t i = 0; i < tasks.size(); ++i) {
      result_.requests[i].prompt_tokens = static_cast<int>(tasks[i].prompt.size());
    }
    made_.resize(tasks.size());
  }

  // Seconds since the start.
  double now() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  size_t in_flight() const { return flights_.size(); }
  LoadResult& result() { return result_; }

  // Makes a request at `made`, with a prompt and an answer padded to these lengths.
  void submit(size_t index, double made, int prompt_tokens = 0, int output_tokens = 0) {
    made_[index] = made;
    Flight flight{.index = index, .tokens = tasks_[index].prompt};
    const int padding = prompt_tokens - static_cast<int>(flight.tokens.size());
    if (padding > 0) flight.tokens.insert(flight.tokens.end(), static_cast<size_t>(padding), 0);
    flight.remaining = std::max(output_tokens, tasks_[index].output_tokens);
    send(std::move(flight));
  }

  // Waits for the next event. Returns whether a task has ended by it.
  bool receive() { return take(queue_.pop()); }
  // The same, but waits so many seconds at most, and never more than a minute.
  bool receive_within(double seconds) {
    const double ms = std::ceil(std::clamp(seconds, 0.0, 60.0) * 1000);
    const auto event = queue_.pop(std::chrono::milliseconds(static_cast<int64_t>(ms)));
    return event && take(*event);
  }

 private:
  struct Flight {
    size_t index;
    std::vector<TokenId> tokens;  // prompt and answer so far
    int remaining = 0;            // tokens of the answer
  };

  bool take(const TokenEvent& event) {
    if (event.finish == FinishReason::error || event.finish == FinishReason::cancelled) {
      fail(ErrorCode::failed, "a request failed: {}", event.error);
    }
    const auto at = flights_.find(event.request);
    note_tokens(at->second, event);
    if (event.finish == FinishReason::none) return false;
    Flight flight = std::move(at->second);
    flights_.erase(at);
    result_.requests[flight.index].cached_tokens += event.summary.cached_tokens;
    if (flight.remaining == 0) return true;
    send(std::move(flight));
    return false;
  }

  // Without KV every token is a request of its own, which computes all before it again.
  void send(Flight flight) {
    Request request{.tokens = flight.tokens, .max_tokens = has_kv_ ? flight.remaining : 1};
    request.sampling.temperature = 0;
    request.ignores_end = true;
    const RequestId id = engine_.submit(std::move(request), queue_.sink());
    flights_.emplace(id, std::move(flight));
  }

  void note_tokens(Flight& flight, const TokenEvent& event) {
    LoadedRequest& request = result_.requests[flight.index];
    const double time = now();
    for (const TokenId token : event.tokens) {
      flight.tokens.push_back(token);
      --flight.remaining;
      if (request.output_tokens == tasks_[flight.index].output_tokens) continue;  // padding
      ++request.output_tokens;
      request.token_seconds.push_back(time - made_[flight.index]);
      result_.seconds = time;
    }
  }

  Engine& engine_;
  const std::vector<Task>& tasks_;
  const bool has_kv_;
  const Clock::time_point start_;
  EventQueue queue_;
  std::unordered_map<RequestId, Flight> flights_;
  std::vector<double> made_;  // when each request was made
  LoadResult result_;
};

void run_clients(LoadRun& run, size_t tasks, size_t clients) {
  size_t next = 0;
  while (next < std::min(tasks, clients)) run.submit(next++, run.now());
  while (run.in_flight() > 0) {
    if (run.receive() && next < tasks) run.submit(next++, run.now());
  }
}

void run_arrivals(LoadRun& run, size_t tasks, double rate, uint64_t seed) {
  Draws draws(seed + 1);
  double arrival = 0;
  for (size_t next = 0; next < tasks || run.in_flight() > 0;) {
    if (next < tasks && run.now() >= arrival) {
      run.submit(next++, arrival);
      arrival += draws.interval(rate);
    } else if (next < tasks) {
      run.receive_within(arrival - run.now());
    } else {
      run.receive();
    }
  }
}

// A client whose answer is complete asks again, but has to wait for the next batch.
void run_batches(LoadRun& run, const std::vector<Task>& tasks, size_t clients) {
  std::vector<double> asked(clients, 0.0);
  for (size_t begin = 0; begin < tasks.size(); begin += clients) {
    const size_t end = std::min(begin + clients, tasks.size());
    size_t prompt = 0;
    int output = 0;
    for (size_t i = begin; i < end; ++i) {
      prompt = std::max(prompt, tasks[i].prompt.size());
      output = std::max(output, tasks[i].output_tokens);
    }
    for (size_t i = begin; i < end; ++i) {
      run.submit(i, asked[i - begin], static_cast<int>(prompt), output);
    }
    while (run.in_flight() > 0) run.receive();
    for (size_t i = begin; i < end; ++i) {
      asked[i - begin] += run.result().requests[i].token_seconds.back();
    }
  }
}

// The last event of an answer comes before the engine has counted its step.
EngineStats final_stats(const Engine& engine) {
  EngineStats stats = engine.stats();
  while (stats.running > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    stats = engine.stats();
  }
  return stats;
}

// The context that the longest request needs.
int needed_context(const LoadBenchOptions& options) {
  return options.shared_prefix + options.input.high + options.output.high;
}

}  // namespace

LoadResult measure_load(const LoadOptions& load, const LoadBenchOptions& options,
                        const GlobalOptions& global) {
  check_load_bench_options(options);
  LoadOptions chosen = load;
  chosen.kv_sequences = options.clients;
  if (chosen.context == 0) chosen.context = needed_context(options);
  if (chosen.context < needed_context(options)) {
    fail(ErrorCode::usage, "-c is {}, but requests have up to {} tokens", chosen.context,
         needed_context(options));
  }
  LoadedModel loaded = load_model(chosen, global);
  const ModelText text = read_model_text(loaded.path, loaded.metadata());
  Engine engine(*loaded.runner, text.tokenizer,
                {.max_sequences = options.clients,
                 .decode_slowdown = options.decode_slowdown,
                 .queue = {.requests = options.requests},
                 .reuses_prefixes = options.has_prefixes && options.has_kv});
  const std::vector<Task> tasks = make_tasks(options, loaded.runner->vocab_size());
  LoadRun run(engine, tasks, options.has_kv);
  const auto clients = static_cast<size_t>(options.clients);
  if (options.is_static) {
    run_batches(run, tasks, clients);
  } else if (options.rate > 0) {
    run_arrivals(run, tasks.size(), options.rate, options.seed);
  } else {
    run_clients(run, tasks.size(), clients);
  }
  LoadResult result = std::move(run.result());
  const EngineStats stats = final_stats(engine);
  result.steps = stats.steps;
  result.preemptions = stats.preemptions;
  result.computed_tokens = stats.step_tokens;
  return result;
}

}  // namespace arion::app

// Clients, padded batches and recomputation are made by what is asked of the engine and when; the
// engine itself is the one that serves.
#include "load_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <optional>
#include <random>
#include <thread>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "engine/event_queue.h"

namespace arion::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMaxLength = 1 << 20;

// What one request is to be.
struct Task {
  std::vector<TokenId> prompt;
  int output_tokens = 0;
};

class Lengths {
 public:
  explicit Lengths(uint64_t seed) : random_(seed) {}

  int draw(const LengthRange& range) {
    const double share = static_cast<double>(random_() >> 11) * 0x1p-53;
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
  double interval(double rate) {
    return -std::log(1 - static_cast<double>(random_() >> 11) * 0x1p-53) / rate;
  }

 private:
  std::mt19937_64 random_;
};

std::vector<Task> make_tasks(const LoadBenchOptions& options, int vocab) {
  Lengths lengths(options.seed);
  const std::vector<TokenId> shared = lengths.tokens(options.shared_prefix, vocab);
  std::vector<Task> tasks(static_cast<size_t>(options.requests));
  for (Task& task : tasks) {
    task.prompt = shared;
    const std::vector<TokenId> own = lengths.tokens(lengths.draw(options.input), vocab);
    task.prompt.insert(task.prompt.end(), own.begin(), own.end());
    task.output_tokens = lengths.draw(options.output);
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

  // The next event, or nothing after `patience`. Returns the task that has ended by it.
  std::optional<size_t> receive(double patience) {
    const auto wait = std::chrono::milliseconds(static_cast<int64_t>(std::ceil(patience * 1000)));
    auto event = queue_.pop(wait);
    if (!event) return std::nullopt;
    const auto at = flights_.find(event->request);
    if (event->finish == FinishReason::error || event->finish == FinishReason::cancelled) {
      fail(ErrorCode::failed, "a request failed: {}", event->error);
    }
    Flight& flight = at->second;
    note_tokens(flight, *event);
    if (event->finish == FinishReason::none) return std::nullopt;
    const size_t index = flight.index;
    result_.requests[index].cached_tokens += event->summary.cached_tokens;
    Flight ended = std::move(flight);
    flights_.erase(at);
    if (ended.remaining == 0) return index;
    send(std::move(ended));
    return std::nullopt;
  }

 private:
  struct Flight {
    size_t index;
    std::vector<TokenId> tokens;  // prompt and answer so far
    int remaining = 0;            // tokens of the answer
  };

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

constexpr double kForever = 3600;

void run_clients(LoadRun& run, size_t tasks, size_t clients) {
  size_t next = 0;
  while (next < std::min(tasks, clients)) run.submit(next++, run.now());
  while (run.in_flight() > 0) {
    if (run.receive(kForever) && next < tasks) run.submit(next++, run.now());
  }
}

void run_arrivals(LoadRun& run, size_t tasks, double rate, uint64_t seed) {
  Lengths intervals(seed + 1);
  double arrival = 0;
  for (size_t next = 0; next < tasks || run.in_flight() > 0;) {
    if (next < tasks && run.now() >= arrival) {
      run.submit(next++, arrival);
      arrival += intervals.interval(rate);
    } else {
      run.receive(next < tasks ? arrival - run.now() : kForever);
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
    while (run.in_flight() > 0) run.receive(kForever);
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

void check_options(const LoadBenchOptions& options) {
  if (!options.is_static) return;
  if (options.rate > 0) fail(ErrorCode::usage, "--static excludes --request-rate");
  if (!options.has_kv) fail(ErrorCode::usage, "--static excludes --no-kv");
}

}  // namespace

LengthRange parse_length_range(const std::string& text) {
  LengthRange range;
  std::string_view rest = text;
  range.is_logarithmic = rest.starts_with("log:");
  if (range.is_logarithmic) rest.remove_prefix(4);
  const auto read = [&](int& value) {
    const char* end = rest.data() + rest.size();
    const auto [at, error] = std::from_chars(rest.data(), end, value);
    if (error != std::errc() || value < 1 || value > kMaxLength) return false;
    rest.remove_prefix(static_cast<size_t>(at - rest.data()));
    return true;
  };
  bool is_good = read(range.low);
  range.high = range.low;
  if (is_good && rest.starts_with(':')) {
    rest.remove_prefix(1);
    is_good = read(range.high) && range.high >= range.low;
  }
  if (is_good && rest.empty()) return range;
  fail(ErrorCode::usage, "lengths '{}': expected N, LOW:HIGH or log:LOW:HIGH with 1 to {} tokens",
       text, kMaxLength);
}

void add_load_bench_options(CLI::App& command, LoadBenchOptions& options) {
  constexpr const char* kGroup = "With --load";
  const auto add = [&](const char* name, auto& value, const char* text) {
    return command.add_option(name, value, text)->group(kGroup)->capture_default_str();
  };
  const auto add_range = [&](const char* name, LengthRange& range, const char* text) {
    command
        .add_option_function<std::string>(
            name, [&range](const std::string& value) { range = parse_length_range(value); }, text)
        ->group(kGroup);
  };
  add("--num-prompts", options.requests, "Requests")->check(CLI::Range(1, 1 << 20));
  add("--max-concurrency", options.clients,
      "Requests that run at the same time; without --request-rate, clients that ask again at once")
      ->check(CLI::Range(1, 1024));
  add("--request-rate", options.rate, "Requests per second as a Poisson process; 0: clients")
      ->check(CLI::Range(0.0, 1e6));
  add_range("--input-len", options.input,
            "Tokens of prompts: N, LOW:HIGH or log:LOW:HIGH (default: 128)");
  add_range("--output-len", options.output, "Tokens of answers, likewise (default: 128)");
  add("--prefix-len", options.shared_prefix, "Tokens in front that all prompts share")
      ->check(CLI::Range(0, kMaxLength));
  add("--max-decode-slowdown", options.decode_slowdown, "As of arion serve")
      ->check(CLI::Range(0.0, 1000.0));
  add("--load-seed", options.seed, "Seed of prompts, lengths and arrivals");
  const auto add_flag = [&](const char* name, bool& value, const char* text, bool meaning) {
    command
        .add_flag_callback(
            name, [&value, meaning] { value = meaning; }, text)
        ->group(kGroup);
  };
  add_flag("--static", options.is_static, "Padded batches that start and end together", true);
  add_flag("--no-prefix", options.has_prefixes, "Compute every prompt from its beginning", false);
  add_flag("--no-kv", options.has_kv, "Compute all tokens again for every token", false);
}

LoadResult measure_load(const LoadOptions& load, const LoadBenchOptions& options,
                        const GlobalOptions& global) {
  check_options(options);
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

// Gaps between the tokens of running answers while a long prompt is computed and alone, in turns.
//   latency_bench MODEL.gguf [STREAMS = 4] [PROMPT = 4096] [ROUNDS = 5] [THREADS = 0] [SLOWDOWN]
// SLOWDOWN is the engine's if not given.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "assembly/loaded_model.h"
#include "assembly/model_text.h"
#include "base/error.h"
#include "engine/engine.h"
#include "engine/event_queue.h"

namespace arion {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point time) {
  return std::chrono::duration<double>(Clock::now() - time).count();
}

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
}

// Random tokens, so that nothing is found in the prefix tree.
std::vector<TokenId> random_tokens(int count, int vocab, uint64_t& state) {
  std::vector<TokenId> tokens(static_cast<size_t>(count));
  for (TokenId& token : tokens) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    token = static_cast<TokenId>((state >> 33) % static_cast<uint64_t>(vocab));
  }
  return tokens;
}

class Bench {
 public:
  Bench(Engine& engine, int vocab, int streams, int prompt)
      : engine_(engine), vocab_(vocab), streams_(streams), prompt_(prompt) {}

  struct Round {
    double gap_alone, gap_beside;  // seconds, 95th percentile
    double solo, beside;           // seconds until the prompt's first token
  };

  Round run() {
    Round round{};
    round.solo = prompt_seconds(nullptr);
    const auto beside = [&](Gaps& gaps) { round.beside = prompt_seconds(&gaps); };
    const Gaps::Result with_prompt = stream(beside);
    // The same answers alone, to the same depth.
    const Gaps::Result alone = stream([&](Gaps& gaps) { gaps.collect(with_prompt.tokens); });
    round.gap_beside = with_prompt.p95;
    round.gap_alone = alone.p95;
    return round;
  }

 private:
  // The times of tokens of several requests.
  class Gaps {
   public:
    Gaps(EventQueue& queue, std::vector<RequestId> ids)
        : queue_(queue), ids_(std::move(ids)), last_(ids_.size()) {}

    struct Result {
      int tokens;
      double p95;  // seconds
    };

    void clear() { gaps_.clear(); }
    Result result() const { return {static_cast<int>(gaps_.size()), quantile(gaps_, 0.95)}; }
    void collect(int tokens) {
      while (tokens > 0) tokens -= take(queue_.pop());
    }
    // Everything that has come until now.
    void collect_pending() {
      while (auto event = queue_.pop(std::chrono::milliseconds(0))) take(std::move(*event));
    }
    void drain() {
      for (size_t ended = 0; ended < ids_.size();) {
        ended += queue_.pop().finish != FinishReason::none ? 1 : 0;
      }
    }

   private:
    int take(const TokenEvent& event) {
      const auto index = static_cast<size_t>(std::ranges::find(ids_, event.request) - ids_.begin());
      const auto now = Clock::now();
      if (last_[index] != Clock::time_point()) {
        gaps_.push_back(std::chrono::duration<double>(now - last_[index]).count());
      }
      last_[index] = now;
      return static_cast<int>(event.tokens.size());
    }

    EventQueue& queue_;
    std::vector<RequestId> ids_;
    std::vector<Clock::time_point> last_;
    std::vector<double> gaps_;
  };

  RequestId submit(std::vector<TokenId> tokens, int max_tokens, EventQueue& queue) {
    Request request{.tokens = std::move(tokens), .max_tokens = max_tokens};
    request.sampling.temperature = 0;
    request.ignores_end = true;
    return engine_.submit(std::move(request), queue.sink());
  }

  // Answers of all streams, while `measure` collects what it wants.
  template <class Measure>
  Gaps::Result stream(const Measure& measure) {
    std::vector<RequestId> ids;
    EventQueue queue;
    for (int i = 0; i < streams_; ++i) {
      ids.push_back(submit(random_tokens(16, vocab_, state_), 100'000, queue));
    }
    Gaps gaps(queue, ids);
    gaps.collect(streams_ * 16);  // the prompts and a few tokens
    gaps.clear();
    measure(gaps);
    for (const RequestId id : ids) engine_.cancel(id);
    const Gaps::Result result = gaps.result();
    gaps.drain();
    return result;
  }

  double prompt_seconds(Gaps* gaps) {
    EventQueue queue;
    const auto start = Clock::now();
    submit(random_tokens(prompt_, vocab_, state_), 1, queue);
    for (;;) {
      const auto event = queue.pop(std::chrono::milliseconds(1));
      if (gaps != nullptr) gaps->collect_pending();
      if (event) return seconds_since(start);
    }
  }

  Engine& engine_;
  int vocab_, streams_, prompt_;
  uint64_t state_ = 1;
};

struct Settings {
  int streams, prompt, rounds, threads;
  double slowdown;
};

void run(const std::string& path, const Settings& settings) {
  LoadOptions options{.model = path, .threads = settings.threads};
  options.context = settings.prompt + 2048;
  options.kv_sequences = settings.streams + 1;
  options.logit_rows = kGenerationLogitRows;
  LoadedModel loaded = load_model(options);
  const ModelText text = read_model_text(loaded.path, loaded.metadata());
  Engine engine(*loaded.runner, text.tokenizer, {.decode_slowdown = settings.slowdown});
  Bench bench(engine, std::min(loaded.runner->vocab_size(), text.tokenizer.size()),
              settings.streams, settings.prompt);
  bench.run();  // warms up
  std::vector<double> gaps, rates;
  for (int i = 0; i < settings.rounds; ++i) {
    const Bench::Round round = bench.run();
    gaps.push_back(round.gap_beside / round.gap_alone);
    rates.push_back(round.solo / round.beside);
    fmt::print(
        "gap p95 {:.1f} ms alone, {:.1f} ms beside ({:.2f}x); prompt {:.0f} tokens/s alone, "
        "{:.0f} beside ({:.2f}x)\n",
        round.gap_alone * 1e3, round.gap_beside * 1e3, gaps.back(), settings.prompt / round.solo,
        settings.prompt / round.beside, rates.back());
  }
  fmt::print("medians: gap {:.2f}x, rate of the prompt {:.2f}x\n", quantile(gaps, 0.5),
             quantile(rates, 0.5));
}

}  // namespace
}  // namespace arion

int main(int argc, char** argv) {
  const auto number = [&](int index, double otherwise) {
    return argc > index ? std::atof(argv[index]) : otherwise;
  };
  if (argc < 2) {
    fmt::print("usage: latency_bench MODEL [STREAMS] [PROMPT] [ROUNDS] [THREADS] [SLOWDOWN]\n");
    return 2;
  }
  const auto whole = [&](int index, int otherwise) {
    return static_cast<int>(number(index, otherwise));
  };
  try {
    arion::run(argv[1], {whole(2, 4), whole(3, 4096), whole(4, 5), whole(5, 0),
                         number(6, arion::EngineOptions{}.decode_slowdown)});
  } catch (const std::exception& error) {
    fmt::print("{}\n", error.what());
    return 1;
  }
  return 0;
}

// Sampling a step's rows, beside one read of the same logits.
//
//   sampler_bench [rows] [vocab] [threads]      default: 64 rows of 150,000 tokens, 2 threads
//
// Alternating runs of a read of all logits and of Sampler::sample on every row, on the same
// threads. Prints the median time of both and the median ratio of the two in a run.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/worker_pool.h"
#include "percentile.h"
#include "sample/sampler.h"

namespace {

using namespace arion;
using app::median;

constexpr int kRepeats = 15;
constexpr size_t kHistory = 1000;  // tokens

struct Setting {
  const char* name;
  SamplingParams params;
};

std::vector<Setting> settings() {
  const PenaltyParams penalties{.repetition = 1.1f, .presence = 0.2f, .frequency = 0.1f};
  return {{"greedy", {.temperature = 0}},
          {"temperature", {.temperature = 0.8f}},
          {"top-k, top-p, penalties", {.top_k = 40, .top_p = 0.95f, .penalties = penalties}},
          {"top-p", {.top_p = 0.95f}},
          {"min-p", {.min_p = 0.05f}},
          {"typical-p", {.typical_p = 0.95f}},
          {"top-n-sigma", {.top_n_sigma = 1}},
          {"mirostat 2", {.mirostat = {.version = 2}}},
          {"top-k, 20 log probabilities", {.top_k = 40, .logprobs = 20}}};
}

// Roughly a model's logits: a normal bulk and an exponential upper tail.
void fill(std::vector<float>& logits) {
  uint64_t state = 1;
  const auto uniform = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (static_cast<float>(state >> 40) + 0.5f) * 0x1p-24f;
  };
  for (float& logit : logits) {
    const float bulk = (uniform() + uniform() + uniform() + uniform() - 2) * 4;
    logit = bulk + (uniform() < 0.002f ? -3 * std::log(uniform()) : 0);
  }
}

double milliseconds(WorkerPool& pool, int rows, const auto& job) {
  const auto begin = std::chrono::steady_clock::now();
  std::atomic<int> next{0};
  pool.run([&](int worker) {
    for (int row = next.fetch_add(1); row < rows; row = next.fetch_add(1)) job(worker, row);
  });
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

uint64_t read(const float* row, size_t count) {
  uint64_t any[16] = {};
  const auto* words = reinterpret_cast<const uint64_t*>(row);
  for (size_t i = 0; i + 16 <= count / 2; i += 16) {
    for (size_t lane = 0; lane < 16; ++lane) any[lane] |= words[i + lane];
  }
  for (size_t lane = 1; lane < 16; ++lane) any[0] |= any[lane];
  return any[0];
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, int otherwise) {
    return argc > i ? std::max(1, std::atoi(argv[i])) : otherwise;
  };
  const int rows = argument(1, 64), threads = argument(3, 2);
  const auto vocab = static_cast<size_t>(argument(2, 150000));
  std::vector<float> logits(static_cast<size_t>(rows) * vocab);
  fill(logits);
  std::vector<TokenId> history;
  for (size_t i = 0; i < kHistory; ++i) {
    history.push_back(static_cast<TokenId>(i * i * 7919 % vocab));
  }
  WorkerPool pool(threads);
  std::vector<Sampler> samplers(static_cast<size_t>(threads));
  std::vector<uint64_t> sink(static_cast<size_t>(rows));
  std::printf("%d rows of %zu tokens, %d threads\n%-28s %9s %9s %7s\n", rows, vocab, threads, "",
              "read ms", "sample ms", "ratio");
  for (const Setting& setting : settings()) {
    std::vector<double> reading, sampling, ratio;
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      reading.push_back(milliseconds(pool, rows, [&](int, int row) {
        const auto at = static_cast<size_t>(row);
        sink[at] = read(&logits[at * vocab], vocab);
      }));
      sampling.push_back(milliseconds(pool, rows, [&](int worker, int row) {
        const auto at = static_cast<size_t>(row);
        const Sample sample = samplers[static_cast<size_t>(worker)].sample(
            {&logits[at * vocab], vocab}, setting.params,
            {.seed = at, .position = static_cast<uint32_t>(repeat)}, {.tokens = history});
        sink[at] += static_cast<uint64_t>(sample.token);
      }));
      ratio.push_back(sampling.back() / reading.back());
    }
    std::printf("%-28s %9.2f %9.2f %7.2f\n", setting.name, median(reading), median(sampling),
                median(ratio));
  }
  return sink[0] == 0;  // keeps the reads alive
}

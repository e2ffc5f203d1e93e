// A text cut into windows of tokens, and what evaluation computes from their logits.
#pragma once
#include <CLI/CLI.hpp>
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/worker_pool.h"
#include "runtime/graph_runner.h"
#include "text/tokenizer.h"

namespace arion::app {

struct WindowOptions {
  std::string file;
  int size = 512;      // tokens of a window, BOS included
  int max_tokens = 0;  // of the text; 0 = all
};

// Adds --file, --ctx and --max-tokens.
void add_window_options(CLI::App& command, WindowOptions& options);

// The tokens of the file in full windows: BOS, if the model adds one, and the next tokens. Control
// text in the file is plain text. Throws Error{usage} when not even one window is full.
std::vector<std::vector<TokenId>> read_windows(const Tokenizer& tokenizer,
                                               const WindowOptions& options);

// The first scored position of a window: its first half only gives context.
inline int first_scored(int window) {
  return window / 2;
}

// log softmax of one row, in fp64 and in a fixed order whatever the number of workers.
class LogSoftmax {
 public:
  LogSoftmax(WorkerPool& pool, std::span<const float> logits);
  double operator[](size_t token) const { return static_cast<double>(logits_[token]) - offset_; }

 private:
  std::span<const float> logits_;
  double offset_ = 0;  // largest logit + log of the sum
};

// Sum over the vocabulary of f(chunk begin, chunk end), chunks of 4096 in order.
template <typename Function>
double sum_chunks(WorkerPool& pool, size_t size, const Function& function) {
  constexpr size_t kChunk = 4096;
  std::vector<double> parts((size + kChunk - 1) / kChunk);
  pool.for_each(static_cast<int>(parts.size()), [&](int i) {
    const size_t begin = static_cast<size_t>(i) * kChunk;
    parts[static_cast<size_t>(i)] = function(begin, std::min(begin + kChunk, size));
  });
  double sum = 0;
  for (double part : parts) sum += part;
  return sum;
}

}  // namespace arion::app

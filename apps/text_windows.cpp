// Options and cutting of evaluation windows, and their log probabilities by chunks on the pool.
#include "text_windows.h"

#include <cmath>

#include "base/error.h"
#include "base/real_math.h"
#include "input_file.h"
#include "number_option.h"
#include "text_option.h"

namespace arion::app {

void add_window_options(CLI::App& command, WindowOptions& options) {
  command.add_option("--file", options.file, "Text to evaluate on")->required()->check(not_empty());
  command.add_option("-c,--ctx", options.size, "Tokens of a window; the second half is scored")
      ->check(number_from(4, 1 << 20))
      ->capture_default_str();
  command.add_option("--max-tokens", options.max_tokens, "Tokens of the text to use; 0: all")
      ->check(number_from(0, 1 << 30))
      ->capture_default_str();
}

std::vector<std::vector<TokenId>> read_windows(const Tokenizer& tokenizer,
                                               const WindowOptions& options) {
  const std::string text = read_input_file(options.file, "--file");
  if (text.empty()) fail(ErrorCode::usage, "--file: '{}' is empty", options.file);
  std::vector<TokenId> tokens =
      tokenizer.encode(text, {.add_special = false, .parse_special = false});
  if (options.max_tokens > 0 && std::cmp_greater(tokens.size(), options.max_tokens)) {
    tokens.resize(static_cast<size_t>(options.max_tokens));
  }
  std::vector<TokenId> prefix;
  if (tokenizer.adds_bos() && tokenizer.special().bos) prefix.push_back(*tokenizer.special().bos);
  const size_t taken = static_cast<size_t>(options.size) - prefix.size();
  std::vector<std::vector<TokenId>> windows;
  for (size_t at = 0; at + taken <= tokens.size(); at += taken) {
    std::vector<TokenId> window = prefix;
    window.insert(window.end(), tokens.begin() + static_cast<std::ptrdiff_t>(at),
                  tokens.begin() + static_cast<std::ptrdiff_t>(at + taken));
    windows.push_back(std::move(window));
  }
  if (windows.empty() && std::cmp_equal(tokens.size(), options.max_tokens)) {
    fail(ErrorCode::usage, "--max-tokens {} is less than one window of {} (--ctx)",
         options.max_tokens, options.size);
  }
  if (windows.empty()) {
    fail(ErrorCode::usage, "{} has {} tokens, fewer than one window of {}", options.file,
         tokens.size(), options.size);
  }
  return windows;
}

LogSoftmax::LogSoftmax(WorkerPool& pool, std::span<const float> logits) : logits_(logits) {
  const double largest = static_cast<double>(*std::ranges::max_element(logits));
  const double sum = sum_chunks(pool, logits.size(), [&](size_t begin, size_t end) {
    double part = 0;
    for (size_t i = begin; i < end; ++i) {
      part += real::exp(static_cast<double>(logits[i]) - largest);
    }
    return part;
  });
  offset_ = largest + real::log(sum);
  if (!std::isfinite(offset_)) {
    fail(ErrorCode::bad_input,
         "the model computed logits that are not numbers; the weights may be damaged, compare the "
         "file's checksum");
  }
}

}  // namespace arion::app

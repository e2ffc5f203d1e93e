// Asking an engine over a runner without a model, and what the answers must be.
#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/event_queue.h"
#include "engine/fake_runner.h"
#include "engine/fake_tokenizer.h"
#include "sample/guidance.h"

namespace arion::test {

struct Answer {
  std::vector<TokenId> tokens;
  std::string text;
  std::vector<TokenLogprobs> logprobs, prompt_logprobs;
  TokenEvent last;
  int ends = 0;  // events with a finish reason: one, if all is well

  void add(TokenEvent event) {
    tokens.insert(tokens.end(), event.tokens.begin(), event.tokens.end());
    text += event.text;
    for (TokenLogprobs& l : event.logprobs) logprobs.push_back(std::move(l));
    for (TokenLogprobs& l : event.prompt_logprobs) prompt_logprobs.push_back(std::move(l));
    if (event.finish == FinishReason::none) return;
    ++ends;
    last = std::move(event);
  }
};

// Waits for the ends of so many requests.
inline std::map<RequestId, Answer> collect(EventQueue& queue, size_t requests) {
  std::map<RequestId, Answer> answers;
  for (size_t ended = 0; ended < requests;) {
    TokenEvent event = queue.pop();
    ended += event.finish != FinishReason::none ? 1 : 0;
    answers[event.request].add(std::move(event));
  }
  return answers;
}

inline Answer ask(Engine& engine, Request request) {
  EventQueue queue;
  engine.submit(std::move(request), queue.sink());
  return collect(queue, 1).begin()->second;
}

// The answers to requests that come at once, in their order.
inline std::vector<Answer> ask_all(ModelRunner& runner, const Tokenizer& tokenizer,
                                   const EngineOptions& options,
                                   std::span<const Request> requests) {
  EventQueue queue;
  std::vector<RequestId> ids;
  Engine engine(runner, tokenizer, options);
  for (const Request& request : requests) ids.push_back(engine.submit(request, queue.sink()));
  std::map<RequestId, Answer> answers = collect(queue, requests.size());
  std::vector<Answer> in_order;
  for (const RequestId id : ids) in_order.push_back(std::move(answers.at(id)));
  return in_order;
}

inline std::vector<TokenId> bytes_of(const std::string& text) {
  std::vector<TokenId> tokens;
  for (const char c : text) tokens.push_back(static_cast<uint8_t>(c));
  return tokens;
}

inline Request seeded(std::vector<TokenId> prompt, uint64_t seed, int max_tokens) {
  return {.tokens = std::move(prompt), .max_tokens = max_tokens, .sampling = {.seed = seed}};
}

// What the runner without a model says after these tokens.
inline void hash_logits(std::span<const TokenId> tokens, int window, std::span<float> logits) {
  const size_t seen = window > 0 ? static_cast<size_t>(window) : tokens.size();
  hash_model(tokens.last(std::min(seen, tokens.size())), logits);
}

// What a request must give, from the model, guidance and the sampler alone.
inline std::vector<TokenId> expected_tokens(const Request& request, int window, int vocab) {
  Sampler sampler;
  std::vector<TokenId> history = request.tokens, negative = request.guidance.negative_tokens;
  std::vector<float> logits(static_cast<size_t>(vocab)), others(logits.size());
  SamplerState state = initial_state(request.sampling);
  for (int i = 0; i < request.max_tokens; ++i) {
    hash_logits(history, window, logits);
    if (request.guidance.is_on()) {
      hash_logits(negative, window, others);
      apply_guidance(logits, others, request.guidance.scale);
    }
    const SampleKey key{.seed = *request.sampling.seed,
                        .choice = request.choice,
                        .position = static_cast<uint32_t>(history.size())};
    const Sample sample =
        sampler.sample(logits, request.sampling, key,
                       {.tokens = history, .prompt_tokens = request.tokens.size(), .state = state});
    state = sample.state;
    history.push_back(sample.token);
    negative.push_back(sample.token);
    if (history.back() == kEos) break;
  }
  return {history.begin() + static_cast<ptrdiff_t>(request.tokens.size()), history.end()};
}

// After "A" the fixture of the corpus says "BC" as two tokens, then "DEF" "GH" "I" "J" "K" and EOS.
inline FakeOptions stop_fixture() {
  return {.model = [](std::span<const TokenId> visible, std::span<float> logits) {
    static const std::vector<TokenId> kChain = {'A', 'B', 'C', 258, 259, 'I', 'J', 'K', kEos};
    std::fill(logits.begin(), logits.end(), 0.0f);
    const auto at = std::find(kChain.begin(), kChain.end() - 1, visible.back());
    logits[static_cast<size_t>(at == kChain.end() - 1 ? TokenId{'?'} : *(at + 1))] = 20;
  }};
}

inline Request greedy_a(int max_tokens, std::vector<std::string> stops = {}) {
  return {.tokens = {'A'},
          .max_tokens = max_tokens,
          .sampling = {.temperature = 0},
          .stop_strings = std::move(stops)};
}

}  // namespace arion::test

// Small models for clients of the shared library.
#pragma once
#include <string>

#include "apps/chat_models.h"
#include "arion/arion.hpp"
#include "temp_dir.h"

namespace arion::test {

// A file that lives as long as the test.
class ModelFile {
 public:
  explicit ModelFile(const ChatModel& model = {})
      : path_(folder_.write("tiny.gguf", chatml_model(model)).string()) {}
  const std::string& path() const { return path_; }

 private:
  TempDir folder_;
  std::string path_;
};

// A model that answers for long, one request at a time.
inline constexpr ChatModel kLongModel{.context = 50'000};
inline const std::string kLongRequest =
    R"({"prompt":"a","max_tokens":49000,"temperature":1,"seed":1,"ignore_eos":true})";

inline client::EngineOptions quick_engine() {
  client::EngineOptions options;
  options.threads = 1;
  options.max_sequences = 4;
  return options;
}

// Deterministic answers that no end token cuts.
inline client::SamplingParams seeded_params(int max_tokens) {
  client::SamplingParams params;
  params.max_tokens = max_tokens;
  params.temperature = 1;
  params.seed = 7;
  params.ignore_eos = true;
  return params;
}

}  // namespace arion::test

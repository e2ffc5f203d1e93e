// A model with all that answers requests of the API in this process: weights, tokenizer, chat
// template, defaults and engine.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "api/served_model.h"
#include "assembly/loaded_model.h"
#include "assembly/model_text.h"
#include "engine/engine.h"

namespace arion {

// Answers at the same time.
inline constexpr int kDefaultSequences = 16, kMaxSequences = 1024;
inline constexpr int kMaxStepTokens = 1 << 16;
// See SchedulerLimits::decode_slowdown.
inline constexpr double kMaxDecodeSlowdown = 1000;

struct AnsweringOptions {
  LoadOptions load;  // but kv_sequences and logit_rows, which follow from the engine's options
  EngineOptions engine;
  std::vector<std::string> names;  // that requests may use; none: that of the file
};

// Where requests say nothing, sampling is as the model file recommends, else as OpenAI and vLLM
// have it: the model's own distribution.
class AnsweringEngine {
 public:
  // Throws Error as load_model, make_chat_template and Engine do.
  explicit AnsweringEngine(const AnsweringOptions& options, const LoadProgress& on_progress = {});
  AnsweringEngine(const AnsweringEngine&) = delete;
  AnsweringEngine& operator=(const AnsweringEngine&) = delete;

  Engine& engine() { return engine_; }
  const ServedModel& model() const { return model_; }
  const LoadedModel& loaded() const { return loaded_; }
  // What of the model was left out, a message each.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  LoadedModel loaded_;
  ModelText text_;
  std::optional<ChatTemplate> chat_template_;
  std::vector<std::string> warnings_;
  Engine engine_;
  ServedModel model_;
};

}  // namespace arion

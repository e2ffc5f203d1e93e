#include "assembly/answering_engine.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <utility>

#include "assembly/recommended_sampling.h"
#include "sample/presets.h"

namespace arion {
namespace {

LoadOptions for_engine(LoadOptions load, const EngineOptions& engine) {
  load.kv_sequences = engine.max_sequences;
  load.logit_rows = kGenerationLogitRows;
  return load;
}

SamplingParams default_sampling(const GgufMetadata& metadata, std::vector<std::string>& warnings) {
  SamplingParams params;
  apply_preset("vllm", params);
  RecommendedSampling recommended = read_recommended_sampling(metadata);
  recommended.apply_to(params);
  std::ranges::move(recommended.ignored, std::back_inserter(warnings));
  return params;
}

std::vector<std::string> names_of(const AnsweringOptions& options, const LoadedModel& loaded) {
  if (!options.names.empty()) return options.names;
  return {std::filesystem::path(loaded.path).stem().string()};
}

}  // namespace

AnsweringEngine::AnsweringEngine(const AnsweringOptions& options, const LoadProgress& on_progress)
    : loaded_(load_model(for_engine(options.load, options.engine), on_progress)),
      text_(read_model_text(loaded_.path, loaded_.metadata())),
      chat_template_(make_chat_template(text_)),
      engine_(*loaded_.runner, text_.tokenizer, options.engine),
      model_{.names = names_of(options, loaded_),
             .tokenizer = text_.tokenizer,
             .chat_template = chat_template_ ? &*chat_template_ : nullptr,
             .template_source = text_.templates.standard,
             .sampling = default_sampling(loaded_.metadata(), warnings_),
             .context_tokens = engine_.context_tokens(),
             .vocab = std::min(loaded_.runner->vocab_size(), text_.tokenizer.size()),
             .created = static_cast<int64_t>(std::time(nullptr))} {
  if (!chat_template_) warnings_.push_back("the model has no known chat format");
}

}  // namespace arion

// How answers are to be made: flags of `run`, and settings within a chat.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "chat_session.h"
#include "sampling_options.h"

namespace arion::app {

// As asked for, before the model has been looked at.
struct AnswerSettings {
  SamplingOptions sampling;
  AnswerOptions answer;
};

// Adds -n, --stop, --stop-id, --min-tokens, --ignore-eos, --show-control and the sampling options.
void add_answer_options(CLI::App& command, AnswerSettings& settings);

// What the settings mean for a model. Throws Error{usage} for values that do not go together.
AnswerOptions resolve_settings(AnswerSettings settings, const GgufMetadata& metadata,
                               const Tokenizer& tokenizer);

// The settings with one of them changed: `name` is that of a flag without its dashes, and the same
// values are accepted; no value is needed where the flag takes none. Throws Error{usage}.
AnswerSettings change_setting(AnswerSettings settings, const std::string& name,
                              const std::string& value);
// What can be changed.
std::vector<std::string> setting_names();

}  // namespace arion::app

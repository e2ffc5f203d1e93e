// The model that a server offers, as its API needs to know it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "chat/chat_template.h"
#include "sequence/sampling_params.h"
#include "text/tokenizer.h"

namespace arion {

struct ServedModel {
  std::vector<std::string> names;  // at least one; the first is what answers say
  const Tokenizer& tokenizer;
  const ChatTemplate* chat_template = nullptr;  // null: no chats
  std::string template_source;                  // of the standard template, where known
  SamplingParams sampling;                      // where requests say nothing
  int context_tokens = 0;                       // prompt and answer together
  int vocab = 0;                                // tokens that can be sampled
  int64_t created = 0;                          // Unix time

  const std::string& name() const { return names.front(); }
};

}  // namespace arion

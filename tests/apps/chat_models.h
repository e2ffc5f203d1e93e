// Models that chat, random as their answers are.
#pragma once
#include <string>
#include <vector>

#include "model/edit_model.h"
#include "test_data.h"

namespace arion::test {

struct ChatModel {
  uint32_t context = 512;
  bool writes_controls = false;  // escape sequences instead of small letters
};

// The tiny model with two of its letters turned into the marks of ChatML.
inline std::string chatml_model(const ChatModel& wanted = {}) {
  const std::string bytes = read_file(tiny());
  const GgufFile file = open_in_memory(bytes);
  const GgufMetadata& metadata = file.metadata();
  std::vector<std::string> tokens;
  for (const auto token : metadata.require_strings("tokenizer.ggml.tokens")) {
    tokens.emplace_back(token);
  }
  for (size_t letter = 4; wanted.writes_controls && letter < 30; ++letter) {
    tokens[letter] = "\x1b[" + std::to_string(letter) + "J";
  }
  tokens[60] = "<|im_start|>";
  tokens[61] = "<|im_end|>";
  std::vector<int32_t> types(tokens.size(), 1);
  for (const size_t control : {1, 2, 60, 61}) types[control] = 3;
  types[0] = 2;
  return edit_model(bytes, {.drop = {"tokenizer.ggml.tokens", "tokenizer.ggml.token_type",
                                     "llama.context_length"},
                            .add = [&](GgufWriter& writer) {
                              writer.add_strings("tokenizer.ggml.tokens", tokens);
                              writer.add_i32s("tokenizer.ggml.token_type", types);
                              writer.add_u32("llama.context_length", wanted.context);
                            }});
}

}  // namespace arion::test

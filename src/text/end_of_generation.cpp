// Files name one end token, chat models end turns with another one: spellings fill the gap.
#include "text/end_of_generation.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace arion {
namespace {

constexpr std::string_view kEndSpellings[] = {
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|flush|>",
    "<|calls|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "</s>",
    "<|eom_id|>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<|end_of_text|>",
    "<end_of_utterance>",
    "<eos>",
    "<turn|>",
    "<|tool_response>",
    "<｜end▁of▁sentence｜>",
    "[e~[",
    "<|fim_pad|>",
    "<fim-pad>",
    "<fim_pad>",
    "<|fim_repo|>",
    "<|repo_name|>",
    "<fim-repo>",
    "<REPO>",
    "<reponame>",
    "<|file_sep|>",
};

}  // namespace

bool is_end_spelling(std::string_view token) {
  return std::find(std::begin(kEndSpellings), std::end(kEndSpellings), token) !=
         std::end(kEndSpellings);
}

std::vector<int32_t> find_end_of_generation(const Vocabulary& vocabulary) {
  std::vector<int32_t> ids;
  const SpecialIds& special = vocabulary.special;
  for (const auto& id : {special.eos, special.eot, special.eom, special.fim_padding,
                         special.fim_repository, special.fim_separator}) {
    if (id) ids.push_back(*id);
  }
  std::ranges::copy_if(special.ends, std::back_inserter(ids), [&](int32_t id) {
    return id >= 0 && static_cast<size_t>(id) < vocabulary.tokens.size();
  });
  bool has_return = false, has_call = false;
  std::optional<int32_t> message_end;
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const std::string& token = vocabulary.tokens[id];
    if (!is_end_spelling(token)) continue;
    // Gemma has "</s>" as a visible HTML tag.
    if (token == "</s>" && vocabulary.type(id) == TokenType::user_defined) continue;
    has_return |= token == "<|return|>";
    has_call |= token == "<|call|>";
    if (token == "<|end|>") message_end = static_cast<int32_t>(id);
    ids.push_back(static_cast<int32_t>(id));
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  // In the harmony format an answer has several messages: <|end|> only ends one of them.
  if (has_return && has_call && message_end) std::erase(ids, *message_end);
  return ids;
}

}  // namespace arion

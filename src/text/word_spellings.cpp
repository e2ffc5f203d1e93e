#include "text/word_spellings.h"

#include <algorithm>
#include <set>

namespace arion {

std::vector<std::vector<int32_t>> spell_words(const Tokenizer& tokenizer,
                                              std::span<const std::string> words) {
  std::set<std::vector<int32_t>> spellings;
  for (const std::string& word : words) {
    for (const std::string& text : {word, " " + word}) {
      spellings.insert(tokenizer.encode(text, {.add_special = false}));
    }
  }
  spellings.erase(std::vector<int32_t>());
  return {spellings.begin(), spellings.end()};
}

std::vector<int32_t> tokens_with(const Tokenizer& tokenizer, std::span<const std::string> texts) {
  std::vector<int32_t> tokens;
  for (int32_t id = 0; id < tokenizer.size(); ++id) {
    const std::string_view bytes = tokenizer.bytes(id);
    const bool is_found = std::ranges::any_of(
        texts, [&](const std::string& text) { return bytes.find(text) != std::string_view::npos; });
    if (is_found) tokens.push_back(id);
  }
  return tokens;
}

}  // namespace arion

#include "text/word_spellings.h"

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

}  // namespace arion

// How byte-level BPE cuts a text into words before merging: the splits by name, and their scanner.
#pragma once
#include <cstdint>
#include <string_view>

namespace arion {

// Families of regexes; the scanner is hand-written, the regexes are in pre_tokenizer.cpp.
enum class Split : uint8_t {
  gpt2,
  digits_gpt2,  // StarCoder, SmolLM: each number character alone, then gpt2
  llama3,
  qwen2,    // llama3 with single number characters
  generic,  // "default": files older than the pre-tokenizer key
};

struct PreTokenizer {
  std::string_view name;  // value of tokenizer.ggml.pre
  Split split;
  bool ignores_merges = false;  // a word that is a token is taken whole, whatever the merges say
  bool adds_bos = false;        // default if the file does not say
};

// Throws Error listing the supported names. An empty name means "default".
const PreTokenizer& find_pre_tokenizer(std::string_view name);

// Cuts a text into words, in order and without loss: the words joined are the text. Ill-formed
// UTF-8 counts as U+FFFD, one per maximal subpart. Linear in the text.
class WordScanner {
 public:
  WordScanner(Split split, std::string_view text);
  // The next word, empty at the end.
  std::string_view next();

 private:
  std::string_view take(const char* end);
  const char* generic_part_end() const;
  std::string_view next_number();

  Split split_;
  const char* at_;
  const char* part_end_;  // end of the piece that an earlier step of the split made
  const char* end_;
  const char* number_end_ = nullptr;  // `generic`: at_ is inside a run of number characters
};

}  // namespace arion

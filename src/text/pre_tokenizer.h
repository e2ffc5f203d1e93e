// How BPE cuts a text into words and symbols before merging, by the name a model file gives.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace arion {

// What BPE merges, and how tokens and merges spell it.
enum class SymbolKind : uint8_t {
  bytes,           // GPT-2's alphabet of 256 printable characters
  characters,      // UTF-8 characters; one without a token becomes the tokens of its bytes
  visible_spaces,  // the same with U+2581 for a space
  no_white_space,  // characters; white space is dropped
};

struct PreTokenizerTraits {
  bool ignores_merges = false;  // a word that is a token is taken whole, whatever the merges say
  bool adds_bos = false;        // defaults if the file does not say
  bool adds_separator = false;
  SymbolKind symbols = SymbolKind::bytes;
};

struct PreTokenizer {
  std::string_view name;                      // value of tokenizer.ggml.pre
  std::span<const std::string_view> regexes;  // for WordSplitter
  PreTokenizerTraits traits = {};
};

// Throws Error listing the supported names. An empty name means "default".
const PreTokenizer& find_pre_tokenizer(std::string_view name);
// All of them.
std::span<const PreTokenizer> pre_tokenizers();

}  // namespace arion

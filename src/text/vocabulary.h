// What a tokenizer is made of, as model files carry it. Plain data: a loader fills it, `validate`
// checks it, `Tokenizer` takes it over.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace arion {

// Values of tokenizer.ggml.token_type.
enum class TokenType : int32_t {
  undefined = 0,
  normal = 1,
  unknown = 2,
  control = 3,       // never made from plain text, not shown
  user_defined = 4,  // cut out of any text before the algorithm sees it, shown
  unused = 5,
  byte = 6,  // spelled <0xXX>, stands for one byte
};

// Absent where the file has no such key or gives 0xFFFFFFFF.
struct SpecialIds {
  std::optional<int32_t> bos, eos, eot, eom, unknown, separator, padding, mask;
  std::optional<int32_t> fim_prefix, fim_suffix, fim_middle, fim_padding, fim_repository,
      fim_separator;
  // More tokens that end an answer; ids that are no token say nothing.
  std::vector<int32_t> ends;
};

struct Vocabulary {
  // tokenizer.ggml.model: "gpt2" (BPE with merges), "gemma4" (the same over characters), "llama"
  // (SentencePiece BPE), "t5" (SentencePiece unigram), "bert" (WordPiece) or "rwkv" (longest
  // match).
  std::string model;
  std::string pre;  // tokenizer.ggml.pre; empty means "default"
  // Position is the id. Two tokens may be spelled alike: encoding gives the lowest id.
  std::vector<std::string> tokens;
  std::vector<float> scores;        // one per token, or empty for "gpt2" and "bert"
  std::vector<TokenType> types;     // one per token, or empty: all normal
  std::vector<std::string> merges;  // "left right", best first; where has_merges()
  SpecialIds special;
  // Absent: the default of the model and pre-tokenizer.
  std::optional<bool> add_bos, add_eos, add_space_prefix;
  // Normalization of SentencePiece; see Charsmap.
  std::string precompiled_charsmap;
  std::optional<bool> remove_extra_whitespaces;

  TokenType type(size_t id) const { return types.empty() ? TokenType::normal : types[id]; }
};

// Whether the model is BPE with a list of merges.
inline bool has_merges(const Vocabulary& vocabulary) {
  return vocabulary.model == "gpt2" || vocabulary.model == "gemma4";
}

// Throws Error naming the key of the first thing that is wrong.
void validate(const Vocabulary& vocabulary);

// The value of a byte token's spelling, "<0x0A>" -> 10; nothing if it is not one.
std::optional<uint8_t> parse_byte_token(std::string_view token);

}  // namespace arion

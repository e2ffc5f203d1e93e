// Words as the tokens that could write them, and tokens by what they write.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace arion {

// Every word as it is encoded with and without a space before it; no sequence twice, none empty.
std::vector<std::vector<int32_t>> spell_words(const Tokenizer& tokenizer,
                                              std::span<const std::string> words);

// The tokens whose bytes contain one of the texts, ascending.
std::vector<int32_t> tokens_with(const Tokenizer& tokenizer, std::span<const std::string> texts);

}  // namespace arion

// Single tokens and log probabilities as JSON shows them.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sample/logprobs.h"
#include "text/tokenizer.h"

namespace arion {

// Bytes of a token by itself; of control tokens their spelling.
std::string token_bytes(const Tokenizer& tokenizer, TokenId token);

// Text that names a token in lists: its characters, or "bytes:\xe2\x80" where they are incomplete,
// so that different tokens have different names. With `spells_id` "token_id:5".
std::string token_name(const Tokenizer& tokenizer, TokenId token, bool spells_id);

// JSON has no infinity: forbidden tokens are -9999.
double json_logprob(float logprob);

// [226, 128, 152]
nlohmann::ordered_json byte_list(const std::string& bytes);

// Unicode characters of well-formed text.
size_t count_characters(std::string_view text);

}  // namespace arion

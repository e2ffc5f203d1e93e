// Merges of a vocabulary that only ranks its tokens.
#pragma once
#include <string>
#include <vector>

#include "text/pipeline/word_models.h"

namespace arion {

// A tiktoken vocabulary: bytes of tokens by rank; an empty string is a rank without token. Two
// neighbours merge if what they make is a token, lowest rank first. For each token the last merge
// that makes it, in GPT-2's spelling, best first: with these rules BPE gives the same ids. Throws
// Error if the tokens are too long to find out.
MergeList merges_of_ranks(const std::vector<std::string>& tokens);

}  // namespace arion

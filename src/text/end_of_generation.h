// Which tokens end an answer.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace arion {

// The ids, ascending: those the files name (eos, eot, eom, ends, fim padding, repository,
// separator) and tokens with a spelling that model families use for it.
std::vector<int32_t> find_end_of_generation(const Vocabulary& vocabulary);

// Whether model families spell the end of an answer like this.
bool is_end_spelling(std::string_view token);

}  // namespace arion

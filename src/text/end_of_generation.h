// Which tokens end an answer.
#pragma once
#include <cstdint>
#include <vector>

#include "text/vocabulary.h"

namespace arion {

// The ids, ascending: those the file names (eos, eot, eom, fim padding, repository, separator) and
// tokens with a spelling that model families use for it.
std::vector<int32_t> find_end_of_generation(const Vocabulary& vocabulary);

}  // namespace arion

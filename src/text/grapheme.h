// Grapheme clusters: what a reader takes for one character.
#pragma once
#include <cstddef>
#include <string_view>

namespace arion {

// Bytes of the first extended grapheme cluster of a text (UAX #29), which must not be empty.
size_t first_grapheme(std::string_view text);

}  // namespace arion

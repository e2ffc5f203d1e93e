// Cuts a template into tokens.
#pragma once
#include <string_view>
#include <vector>

#include "jinja/token.h"

namespace arion::jinja {

// `source` is valid UTF-8. White space around tags is handled as Jinja does with trim_blocks and
// lstrip_blocks. Ends with a token of kind `end`. Throws Error naming line and column.
std::vector<Token> tokenize(std::string_view source);

}  // namespace arion::jinja

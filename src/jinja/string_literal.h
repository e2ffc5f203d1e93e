// Escapes in the string literals of templates.
#pragma once
#include <string>
#include <string_view>

#include "jinja/token.h"

namespace arion::jinja {

// Python's escapes, except for characters by name. Throws Error naming `at` for a broken one.
std::string unescape(std::string_view literal, Position at);

}  // namespace arion::jinja

// JSON from outside, parsed with limits.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace arion {

// Throws Error{bad_input} naming `name`: malformed text, a key twice in one object, values nested
// more than 64 deep.
nlohmann::json parse_json(std::string_view text, const std::string& name);

}  // namespace arion

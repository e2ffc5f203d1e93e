// Keys that clients must show.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace arion {

// In a time that depends on the lengths alone.
bool is_equal_secret(std::string_view given, std::string_view secret);

// Whether either header holds one of the keys: "Bearer KEY" or "KEY".
bool has_key(std::span<const std::string> keys, std::string_view authorization,
             std::string_view x_api_key);

}  // namespace arion

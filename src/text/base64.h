// Base64 as of RFC 4648, section 4.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace arion {

// Nothing if `text` is not base64 with padding.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace arion

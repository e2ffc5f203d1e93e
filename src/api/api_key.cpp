#include "api/api_key.h"

#include <cctype>
#include <cstdint>

namespace arion {
namespace {

// What follows "Bearer ", whose letters may be of any case.
std::string_view bearer_token(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() < kScheme.size()) return {};
  for (size_t i = 0; i < kScheme.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(authorization[i])) != kScheme[i]) return {};
  }
  authorization.remove_prefix(kScheme.size());
  const size_t first = authorization.find_first_not_of(' ');
  return first == std::string_view::npos ? std::string_view() : authorization.substr(first);
}

}  // namespace

bool is_equal_secret(std::string_view given, std::string_view secret) {
  volatile uint8_t difference = given.size() == secret.size() ? 0 : 1;
  for (size_t i = 0; i < secret.size(); ++i) {
    const char other = i < given.size() ? given[i] : '\0';
    difference = difference | static_cast<uint8_t>(secret[i] ^ other);
  }
  return difference == 0;
}

bool has_key(std::span<const std::string> keys, std::string_view authorization,
             std::string_view x_api_key) {
  const std::string_view bearer = bearer_token(authorization);
  bool is_known = false;
  for (const std::string& key : keys) {
    const bool by_bearer = is_equal_secret(bearer, key),
               by_header = is_equal_secret(x_api_key, key);
    is_known = is_known || by_bearer || by_header;
  }
  return is_known;
}

}  // namespace arion

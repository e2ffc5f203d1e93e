#include "api/token_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/utf8.h"

namespace arion {

using nlohmann::ordered_json;

std::string token_bytes(const Tokenizer& tokenizer, TokenId token) {
  if (tokenizer.is_control(token)) return tokenizer.spelling(token);
  return std::string(tokenizer.bytes(token));
}

std::string token_name(const Tokenizer& tokenizer, TokenId token, bool spells_id) {
  if (spells_id) return fmt::format("token_id:{}", token);
  const std::string bytes = token_bytes(tokenizer, token);
  if (repair_utf8(bytes) == bytes) return bytes;
  std::string name = "bytes:";
  for (const char byte : bytes)
    fmt::format_to(std::back_inserter(name), "\\x{:02x}", static_cast<uint8_t>(byte));
  return name;
}

double json_logprob(float logprob) {
  constexpr double kForbidden = -9999;
  return logprob >= kForbidden ? static_cast<double>(logprob) : kForbidden;
}

ordered_json byte_list(const std::string& bytes) {
  ordered_json list = ordered_json::array();
  for (const char byte : bytes) list.push_back(static_cast<uint8_t>(byte));
  return list;
}

size_t count_characters(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; }));
}

}  // namespace arion

// The algorithm that turns plain text between special tokens into ids.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace arion {

// Implementations are immutable after construction: thread-safe.
class TokenModel {
 public:
  TokenModel() = default;
  TokenModel(const TokenModel&) = delete;
  TokenModel& operator=(const TokenModel&) = delete;
  virtual ~TokenModel() = default;
  // Appends the ids of `text`: any bytes, not empty, with the start of the whole text or a special
  // token in front and the end or a special token behind. Never gives ids of control tokens.
  virtual void encode(std::string_view text, std::vector<int32_t>& ids) const = 0;
  // The bytes that a token stands for in a text.
  virtual std::string_view bytes(int32_t id) const = 0;
};

}  // namespace arion

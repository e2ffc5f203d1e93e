// Reading of protocol buffers in their wire format, without a schema compiler.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace arion {

// Walks the fields of one message, which must outlive it. Holds no memory and never recurses;
// lengths are checked against the message.
class ProtobufReader {
 public:
  explicit ProtobufReader(std::string_view message) : rest_(message) {}

  struct Field {
    uint32_t number;
    // By wire type: varint and fixed values are in `value`, strings and messages in `bytes`.
    enum class Kind : uint8_t { varint, fixed64, bytes, fixed32 } kind;
    uint64_t value = 0;
    std::string_view bytes;

    // The value of a float field.
    float as_float() const;
  };

  // The next field, or nothing at the end of the message. Throws Error{bad_input} if the bytes are
  // no message.
  std::optional<Field> next();

 private:
  uint64_t read_varint();
  uint64_t read_fixed(size_t bytes);
  std::string_view read_bytes(uint64_t length);

  std::string_view rest_;
};

}  // namespace arion

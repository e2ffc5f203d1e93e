// Tags, varints and lengths (protobuf.dev, "Encoding").
#include "text/protobuf.h"

#include <bit>

#include "base/error.h"

namespace arion {
namespace {

[[noreturn]] void fail_message(const char* what) {
  fail(ErrorCode::bad_input, "protocol buffer: {}; the file may be truncated or of another kind",
       what);
}

}  // namespace

float ProtobufReader::Field::as_float() const {
  if (kind != Kind::fixed32) fail_message("a field is no float where one is expected");
  return std::bit_cast<float>(static_cast<uint32_t>(value));
}

uint64_t ProtobufReader::read_varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) fail_message("it ends inside a number");
    const uint8_t byte = static_cast<uint8_t>(rest_[0]);
    rest_.remove_prefix(1);
    value |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return value;
  }
  fail_message("a number has more than 10 bytes");
}

uint64_t ProtobufReader::read_fixed(size_t bytes) {
  const std::string_view raw = read_bytes(bytes);
  uint64_t value = 0;
  for (size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<uint8_t>(raw[i]);
  return value;
}

std::string_view ProtobufReader::read_bytes(uint64_t length) {
  if (length > rest_.size()) fail_message("a field is longer than what contains it");
  const std::string_view bytes = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return bytes;
}

std::optional<ProtobufReader::Field> ProtobufReader::next() {
  if (rest_.empty()) return std::nullopt;
  const uint64_t tag = read_varint();
  const uint64_t number = tag >> 3;
  if (number == 0 || number >= 1u << 29) fail_message("a field has an impossible number");
  Field field = {.number = static_cast<uint32_t>(number), .kind = Field::Kind::varint, .bytes = {}};
  switch (tag & 7) {
    case 0:
      field.value = read_varint();
      return field;
    case 1:
      field.kind = Field::Kind::fixed64;
      field.value = read_fixed(8);
      return field;
    case 2:
      field.kind = Field::Kind::bytes;
      field.bytes = read_bytes(read_varint());
      return field;
    case 5:
      field.kind = Field::Kind::fixed32;
      field.value = read_fixed(4);
      return field;
    default:
      fail_message("a field has a wire type that is not in use");
  }
}

}  // namespace arion

// libFuzzer entry of the safetensors reader: what it accepts must be readable to the last byte.
#include "base/error.h"
#include "io/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    volatile unsigned sum = 0;
    for (const auto& tensor :
         arion::parse_safetensors(std::as_bytes(std::span(data, size)), "fuzz")) {
      for (const std::byte value : tensor.data) sum = sum + static_cast<unsigned>(value);
    }
  } catch (const arion::Error&) {
  }
  return 0;
}

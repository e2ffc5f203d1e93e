// libFuzzer entry of the GGUF reader.
#include "fuzz/gguf.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  arion::test::fuzz_gguf(std::as_bytes(std::span(data, size)));
  return 0;
}

// libFuzzer entry of the detokenizer, the encoder and the stop strings.
#include "fuzz/detokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  arion::test::fuzz_detokenizer({reinterpret_cast<const char*>(data), size});
  return 0;
}

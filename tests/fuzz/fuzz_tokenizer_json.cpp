// libFuzzer entry of the reader of tokenizer.json.
#include "fuzz/tokenizer_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  arion::test::fuzz_tokenizer_json({reinterpret_cast<const char*>(data), size});
  return 0;
}

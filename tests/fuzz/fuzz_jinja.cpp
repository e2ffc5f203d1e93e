// libFuzzer entry of the template language.
#include <cstddef>
#include <cstdint>

#include "fuzz/jinja.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  arion::test::fuzz_jinja({reinterpret_cast<const char*>(data), size});
  return 0;
}

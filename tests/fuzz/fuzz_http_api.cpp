// libFuzzer entry of the bodies of HTTP requests.
#include <cstddef>
#include <cstdint>

#include "fuzz/http_api.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  arion::test::fuzz_http_api({reinterpret_cast<const char*>(data), size});
  return 0;
}

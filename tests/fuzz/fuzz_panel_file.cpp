// libFuzzer entry of the reader of compiled models.
#include "fuzz/panel_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  arion::test::fuzz_panel_file(std::as_bytes(std::span(data, size)));
  return 0;
}

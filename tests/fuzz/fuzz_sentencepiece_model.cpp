// libFuzzer entry of the reader of SentencePiece models.
#include "fuzz/sentencepiece_model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  arion::test::fuzz_sentencepiece_model({reinterpret_cast<const char*>(data), size});
  return 0;
}

// What the fuzzer of SentencePiece models does with one input: read it, then encode and decode with
// it.
#pragma once
#include <string_view>

#include "base/check.h"
#include "base/error.h"
#include "text/detokenizer.h"
#include "text/sentencepiece_model.h"

namespace arion::test {

// A refusal is a fine answer, a crash or any other exception is not.
inline void fuzz_sentencepiece_model(std::string_view input) {
  constexpr std::string_view kText =
      "Hello  w\u00f6rld\n\u4f60\u597d <s>\u0301 12\xff\xe2\x96 \u2581</s> ";
  try {
    const Tokenizer tokenizer(read_sentencepiece_model(input, "input"));
    const auto ids = tokenizer.encode(kText);
    for (const int32_t id : ids) CHECK(id >= 0 && id < tokenizer.size());
    decode_bytes(tokenizer, ids);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    CHECK(error.what()[0] != '\0');
  }
}

}  // namespace arion::test

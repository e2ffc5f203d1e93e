// What the fuzzer of tokenizer.json does with one input: read it, then encode and decode with it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/error.h"
#include "text/detokenizer.h"
#include "text/pipeline/configured.h"
#include "text/pipeline/tokenizer_json.h"

namespace arion::test {

// A refusal is a fine answer, a crash or any other exception is not.
inline void fuzz_tokenizer_json(std::string_view input) {
  // The file, then behind a zero byte the text; a file alone gets a text with something of all.
  constexpr std::string_view kText =
      "Hello  w\u00f6rld\n\u4f60\u597d <s>\u0301 12\xff\xe2\x96 ''s</s>";
  const size_t zero = input.find('\0');
  const std::string_view text = zero == std::string_view::npos ? kText : input.substr(zero + 1);
  try {
    const Tokenizer tokenizer =
        make_tokenizer(read_tokenizer_json(input.substr(0, zero), "input"), {});
    for (const bool special : {false, true}) {
      const auto ids = tokenizer.encode(text, {.add_special = special, .parse_special = special});
      for (const int32_t id : ids) CHECK(id >= 0 && id < tokenizer.size());
      decode_bytes(tokenizer, ids, {.show_control = special});
      Detokenizer detokenizer(tokenizer);
      for (const int32_t id : ids) detokenizer.push(id);
    }
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    CHECK(error.what()[0] != '\0');
  }
}

}  // namespace arion::test

// What tests of whole tokenizers share.
#pragma once
#include <filesystem>

#include "test_data.h"
#include "text/tokenizer.h"

namespace arion {

inline constexpr EncodeOptions kPlain = {.add_special = false, .parse_special = false};

inline std::filesystem::path tokenizer_dir() {
  return test::corpus_dir() / "data" / "tokenizers";
}

}  // namespace arion

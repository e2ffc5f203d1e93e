// Token ids to text, one at a time.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "text/tokenizer.h"
#include "text/utf8_assembler.h"

namespace arion {

struct DetokenizeOptions {
  bool show_control = false;    // control tokens as their spelling instead of nothing
  bool continues_text = false;  // ids follow text that is there already: keep a leading space
};

// Not thread-safe; the tokenizer must outlive it.
class Detokenizer {
 public:
  explicit Detokenizer(const Tokenizer& tokenizer, DetokenizeOptions options = {});

  // The bytes of the next token, exactly: perhaps half a character. Valid until the next call.
  std::string_view push_bytes(int32_t id);
  // The same, but only characters that are complete; ill-formed bytes show as U+FFFD.
  std::string push(int32_t id);
  // What was still waiting for bytes. Only for `push`.
  std::string finish();

 private:
  const Tokenizer& tokenizer_;
  DetokenizeOptions options_;
  bool strips_space_;  // the next text starts with the space that encoding put there
  Utf8Assembler assembler_;
};

// All at once, exact bytes: the inverse of Tokenizer::encode.
std::string decode_bytes(const Tokenizer& tokenizer, std::span<const int32_t> ids,
                         DetokenizeOptions options = {});

}  // namespace arion

// The inverse of encoding: bytes of tokens, less the spaces that encoding added.
#include "text/detokenizer.h"

namespace arion {

Detokenizer::Detokenizer(const Tokenizer& tokenizer, DetokenizeOptions options)
    : tokenizer_(tokenizer),
      options_(options),
      strips_space_(tokenizer.has_space_prefix() && !options.continues_text) {}

std::string_view Detokenizer::push_bytes(int32_t id) {
  std::string_view bytes = tokenizer_.bytes(id);
  const bool is_control = tokenizer_.is_control(id);
  if (!tokenizer_.prefixes_every_part()) {
    if (is_control && !options_.show_control) return {};
    if (is_control) strips_space_ = false;
  } else if (is_control || tokenizer_.type(id) == TokenType::user_defined) {
    strips_space_ = tokenizer_.has_space_prefix();
    return is_control && !options_.show_control ? std::string_view() : bytes;
  }
  if (strips_space_ && !bytes.empty()) {
    if (bytes[0] == ' ') bytes.remove_prefix(1);
    strips_space_ = false;
  }
  return bytes;
}

std::string Detokenizer::push(int32_t id) {
  std::string text;
  assembler_.push(push_bytes(id), text);
  return text;
}

std::string Detokenizer::finish() {
  std::string text;
  assembler_.finish(text);
  return text;
}

std::string decode_bytes(const Tokenizer& tokenizer, std::span<const int32_t> ids,
                         DetokenizeOptions options) {
  if (tokenizer.text_model() != nullptr && !options.continues_text) {
    return tokenizer.text_model()->decode(ids, options.show_control);
  }
  Detokenizer detokenizer(tokenizer, options);
  std::string bytes;
  for (const int32_t id : ids) bytes += detokenizer.push_bytes(id);
  return bytes;
}

}  // namespace arion

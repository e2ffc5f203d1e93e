// Keeps the cut-off end of the bytes seen, writes the rest.
#include "text/utf8_assembler.h"

#include "text/unicode.h"

namespace arion {

void Utf8Assembler::push(std::string_view bytes, std::string& text) {
  std::string joined;
  if (!waiting_.empty()) {
    joined = waiting_;
    joined += bytes;
    bytes = joined;
    waiting_.clear();
  }
  while (!bytes.empty()) {
    const Utf8Char c = decode_utf8(bytes);
    if (c.is_cut) {
      waiting_ = bytes;
      return;
    }
    if (c.is_valid) {
      text += bytes.substr(0, c.length);
    } else {
      append_utf8(text, kReplacement);
    }
    bytes.remove_prefix(c.length);
  }
}

void Utf8Assembler::finish(std::string& text) {
  if (!waiting_.empty()) append_utf8(text, kReplacement);
  waiting_.clear();
}

}  // namespace arion

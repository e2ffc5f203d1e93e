// Turns bytes that arrive in pieces into text made of whole characters.
#pragma once
#include <string>
#include <string_view>

namespace arion {

// Ill-formed bytes become U+FFFD, one per maximal subpart (Unicode 16, section 3.9). What comes
// out does not depend on how the bytes were cut. Not thread-safe.
class Utf8Assembler {
 public:
  // Appends to `text` the characters that `bytes` complete; at most 3 bytes wait for more.
  void push(std::string_view bytes, std::string& text);
  // No more bytes will come: a waiting beginning of a character is ill-formed.
  void finish(std::string& text);

 private:
  std::string waiting_;
};

}  // namespace arion

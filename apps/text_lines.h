// The lines of a text.
#pragma once
#include <algorithm>
#include <cstddef>
#include <string_view>

namespace arion::app {

inline bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

// Calls use(line, number) for each, without its line feed, counted from 1.
template <typename Use>
void for_each_line(std::string_view text, Use use) {
  size_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    use(text.substr(begin, end - begin), ++number);
    begin = end + 1;
  }
}

}  // namespace arion::app

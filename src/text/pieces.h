// A text cut into pieces.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace arion {

// Pieces lie in the text in ascending order; what is between them is dropped.
struct Pieces {
  struct Range {
    size_t begin, end;
    bool starts_text;  // its first character is the first one of the whole text
  };
  std::string text;
  std::vector<Range> ranges;

  std::string_view operator[](size_t i) const {
    return std::string_view(text).substr(ranges[i].begin, ranges[i].end - ranges[i].begin);
  }
  size_t size() const { return ranges.size(); }
};

}  // namespace arion

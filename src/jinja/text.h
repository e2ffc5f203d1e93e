// Bytes that remember where they came from: the template, or values given to it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace arion::jinja {

enum class Origin : uint8_t {
  markup,  // written by the template, or a value that is trusted like it
  input,   // message content and other values from outside
};

// UTF-8 where the source was. Each byte has an origin; what is built from marked text keeps the
// marks of its parts.
class Text {
 public:
  // Bytes [begin, end) came from input.
  struct Range {
    size_t begin, end;
    bool operator==(const Range&) const = default;
  };

  Text() = default;
  explicit Text(std::string bytes, Origin origin = Origin::markup);

  std::string_view bytes() const { return bytes_; }
  size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  // Ascending, not adjacent.
  const std::vector<Range>& input_ranges() const { return input_; }
  bool has_input() const { return !input_.empty(); }
  Origin origin_at(size_t at) const;
  // The origin of text derived from this one as a whole.
  Origin origin() const { return has_input() ? Origin::input : Origin::markup; }

  void append(std::string_view bytes, Origin origin = Origin::markup);
  void append(const Text& text) { append(text, 0, text.size()); }
  void append(const Text& text, size_t begin, size_t end);
  Text substr(size_t begin, size_t end) const;
  // Memory it takes, without the object itself.
  size_t heap_bytes() const { return bytes_.capacity() + input_.capacity() * sizeof(Range); }

 private:
  void mark_input(size_t begin, size_t end);

  std::string bytes_;
  std::vector<Range> input_;
};

}  // namespace arion::jinja

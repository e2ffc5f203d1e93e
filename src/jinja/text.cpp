#include "jinja/text.h"

#include <algorithm>
#include <utility>

namespace arion::jinja {

Text::Text(std::string bytes, Origin origin) : bytes_(std::move(bytes)) {
  if (origin == Origin::input) mark_input(0, bytes_.size());
}

void Text::mark_input(size_t begin, size_t end) {
  if (begin == end) return;
  if (!input_.empty() && input_.back().end == begin) {
    input_.back().end = end;
  } else {
    input_.push_back({begin, end});
  }
}

Origin Text::origin_at(size_t at) const {
  const auto after =
      std::upper_bound(input_.begin(), input_.end(), at,
                       [](size_t value, const Range& range) { return value < range.begin; });
  const bool is_input = after != input_.begin() && at < std::prev(after)->end;
  return is_input ? Origin::input : Origin::markup;
}

void Text::append(std::string_view bytes, Origin origin) {
  const size_t begin = bytes_.size();
  bytes_ += bytes;
  if (origin == Origin::input) mark_input(begin, bytes_.size());
}

void Text::append(const Text& text, size_t begin, size_t end) {
  const size_t base = bytes_.size();
  bytes_ += text.bytes().substr(begin, end - begin);
  auto range = std::partition_point(text.input_.begin(), text.input_.end(),
                                    [&](const Range& r) { return r.end <= begin; });
  for (; range != text.input_.end() && range->begin < end; ++range) {
    mark_input(base + std::max(range->begin, begin) - begin,
               base + std::min(range->end, end) - begin);
  }
}

Text Text::substr(size_t begin, size_t end) const {
  Text part;
  part.append(*this, begin, end);
  return part;
}

}  // namespace arion::jinja

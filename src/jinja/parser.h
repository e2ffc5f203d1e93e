// Templates to syntax trees.
#pragma once
#include <string_view>

#include "jinja/ast.h"

namespace arion::jinja {

// `source` is valid UTF-8. Constants are made in `heap`, which must outlive the tree. Names have
// their places. Throws Error naming line and column.
Tree parse_template(std::string_view source, Heap& heap);

}  // namespace arion::jinja

// The filters, tests and global functions that templates have.
#pragma once
#include <string_view>

#include "jinja/runtime.h"
#include "jinja/value.h"

namespace arion::jinja {

using Filter = Value (*)(Runtime& runtime, const Value& subject, const Arguments& arguments);
using Test = bool (*)(Runtime& runtime, const Value& subject, const Arguments& arguments);

// Null where there is none.
Filter find_filter(std::string_view name);
Test find_test(std::string_view name);

// A function such as `range` or `namespace`; missing where there is none.
Value find_global(Heap& heap, std::string_view name);

}  // namespace arion::jinja

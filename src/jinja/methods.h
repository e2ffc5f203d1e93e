// Methods of strings, dicts, lists and numbers.
#pragma once
#include <string_view>

#include "jinja/runtime.h"
#include "jinja/value.h"

namespace arion::jinja {

using Method = Value (*)(Runtime& runtime, const Value& self, const Arguments& arguments);

// Null where the type has no such method.
Method find_string_method(std::string_view name);
Method find_container_method(Kind kind, std::string_view name);

}  // namespace arion::jinja

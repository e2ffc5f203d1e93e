// JSON to values and back, as Python's json module does it.
#pragma once
#include <string>
#include <string_view>

#include "jinja/value.h"

namespace arion::jinja {

struct JsonStyle {
  bool ensure_ascii = false;
  bool sort_keys = false;
  bool has_indent = false;
  std::string indent;  // of one level
  std::string item_separator = ", ";
  std::string key_separator = ": ";
};

// json.dumps(). Throws Error for values JSON has not.
Text to_json(Heap& heap, const Value& value, const JsonStyle& style);

// Parses one JSON document. Integers are exact, the last of equal keys wins, strings get `origin`.
// Throws Error{bad_input} naming the place for what is no JSON, and for more than 500 levels.
Value parse_json(Heap& heap, std::string_view json, Origin origin);

}  // namespace arion::jinja

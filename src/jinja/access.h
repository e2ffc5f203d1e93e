// Attributes, items and slices, as Jinja's sandbox finds them.
#pragma once
#include "jinja/runtime.h"
#include "jinja/value.h"

namespace arion::jinja {

// `object.name`: attribute or method, then item. Undefined where there is neither, and for what the
// sandbox forbids: methods that change a list or dict, names with underscores.
Value get_attribute(Runtime& runtime, const Value& object, const Value& name);
// `object[index]`: item, then attribute.
Value get_item(Runtime& runtime, const Value& object, const Value& index);

// Bounds of a slice; none: from the end that the step says.
struct Slice {
  Value start, stop, step;
};
Value get_slice(Runtime& runtime, const Value& object, const Slice& slice);

// A method or attribute of the type itself, without items; nothing where there is none.
std::optional<Value> find_type_attribute(Runtime& runtime, const Value& object,
                                         std::string_view name);

}  // namespace arion::jinja

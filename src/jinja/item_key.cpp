#include "jinja/item_key.h"

#include <algorithm>

#include "jinja/access.h"
#include "jinja/numbers.h"
#include "jinja/text_ops.h"

namespace arion::jinja {

ItemKey::ItemKey(Runtime& runtime, const Value& attribute, LetterCase letter_case,
                 std::optional<Value> fallback)
    : runtime_(runtime), letter_case_(letter_case), fallback_(std::move(fallback)) {
  Heap& heap = runtime.heap();
  if (attribute.is_missing() || attribute.is_none()) return;
  if (!attribute.is_string()) {
    parts_.push_back(attribute);
    return;
  }
  for (const Text& part : split(heap, attribute.text(), ".", -1)) {
    const bool is_index = is_digits(part.bytes());
    parts_.push_back(is_index ? make_integer(heap, *parse_int(part.bytes(), 10))
                              : make_string(heap, part));
  }
}

Value ItemKey::of(const Value& item) const {
  Value value = item;
  for (const Value& part : parts_) {
    value = get_item(runtime_, value, part);
    if (value.is_undefined() && fallback_) value = *fallback_;
  }
  if (letter_case_ == LetterCase::keep || !value.is_string()) return value;
  return make_string(runtime_.heap(), change_case(value.text(), Casing::lower));
}

ItemKeys::ItemKeys(Runtime& runtime, const Value& attributes, LetterCase letter_case)
    : runtime_(runtime) {
  if (!attributes.is_string()) {
    keys_.emplace_back(runtime, attributes, letter_case);
    return;
  }
  for (Text& part : split(runtime.heap(), attributes.text(), ",", -1)) {
    keys_.emplace_back(runtime, make_string(runtime.heap(), std::move(part)), letter_case);
  }
}

Value ItemKeys::of(const Value& item) const {
  std::vector<Value> values;
  for (const ItemKey& key : keys_) values.push_back(key.of(item));
  return make_list(runtime_.heap(), std::move(values));
}

}  // namespace arion::jinja

// len(), iter() and list() of values.
#include <algorithm>

#include "base/error.h"
#include "base/utf8.h"
#include "jinja/operators.h"

namespace arion::jinja {
namespace {

Iterator iterate_items(const std::vector<Value>& items) {
  return [&items, at = size_t{0}]() mutable -> std::optional<Value> {
    if (at == items.size()) return std::nullopt;
    return items[at++];
  };
}

Iterator iterate_string(Heap& heap, const Text& text) {
  return [&heap, &text, at = size_t{0}]() mutable -> std::optional<Value> {
    if (at == text.size()) return std::nullopt;
    const size_t begin = at;
    at += decode_utf8(text.bytes().substr(at)).length;
    return make_string(heap, text.substr(begin, at));
  };
}

Iterator iterate_dict(Heap& heap, const DictObject& dict, ViewOf what) {
  return [&heap, &dict, what, at = size_t{0}]() mutable -> std::optional<Value> {
    if (at == dict.size()) return std::nullopt;
    const auto& [key, value] = dict.entries()[at++];
    if (what == ViewOf::keys) return key;
    if (what == ViewOf::values) return value;
    return make_tuple(heap, {key, value});
  };
}

Iterator iterate_range(const RangeObject& range) {
  return [&range, at = int64_t{0}, length = range.length()]() mutable -> std::optional<Value> {
    if (at == length) return std::nullopt;
    return Value::integer(range.at(at++));
  };
}

}  // namespace

std::optional<int64_t> find_length(const Value& value) {
  const auto size = [](size_t n) { return static_cast<int64_t>(n); };
  switch (value.kind()) {
    case Kind::undefined:
      return 0;
    case Kind::string:
      return size(value.as_string().length);
    case Kind::list:
    case Kind::tuple:
      return size(value.items().size());
    case Kind::dict:
      return size(value.as_dict().size());
    case Kind::view:
      return size(value.as_view().dict.as_dict().size());
    case Kind::range:
      return value.as_range().length();
    default:
      return std::nullopt;
  }
}

int64_t length(const Value& value) {
  const auto found = find_length(value);
  if (!found) {
    fail(ErrorCode::bad_input, "object of type '{}' has no len()", type_name(value));
  }
  return *found;
}

bool is_iterable(const Value& value) {
  return value.is(Kind::generator) || find_length(value).has_value();
}

Iterator iterate(Heap& heap, const Value& value) {
  switch (value.kind()) {
    case Kind::undefined:
      return [] { return std::nullopt; };
    case Kind::string:
      return iterate_string(heap, value.text());
    case Kind::list:
    case Kind::tuple:
      return iterate_items(value.items());
    case Kind::dict:
      return iterate_dict(heap, value.as_dict(), ViewOf::keys);
    case Kind::view:
      return iterate_dict(heap, value.as_view().dict.as_dict(), value.as_view().what);
    case Kind::range:
      return iterate_range(value.as_range());
    case Kind::generator:
      return [&generator = value.as_generator()] { return generator.next(); };
    default:
      fail(ErrorCode::bad_input, "'{}' object is not iterable", type_name(value));
  }
}

std::vector<Value> collect(Heap& heap, const Value& value) {
  std::vector<Value> items;
  if (value.is_sequence()) {
    heap.spend(value.items().size());
    return value.items();
  }
  const Iterator next = iterate(heap, value);
  while (const auto item = next()) {
    heap.spend();
    heap.charge(sizeof(Value));
    items.push_back(*item);
  }
  return items;
}

}  // namespace arion::jinja

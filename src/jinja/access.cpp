#include "jinja/access.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "jinja/methods.h"
#include "jinja/operators.h"
#include "jinja/text_ops.h"

namespace arion::jinja {
namespace {

constexpr std::string_view kListChanges[] = {"append", "clear",  "extend",  "insert",
                                             "pop",    "remove", "reverse", "sort"};
constexpr std::string_view kDictChanges[] = {"clear", "pop", "popitem", "setdefault", "update"};
constexpr std::string_view kObjectAttributes[] = {
    "__class__",  "__delattr__", "__dir__",         "__doc__",           "__eq__",
    "__format__", "__ge__",      "__gt__",          "__getattribute__",  "__hash__",
    "__init__",   "__le__",      "__lt__",          "__init_subclass__", "__ne__",
    "__new__",    "__reduce__",  "__reduce_ex__",   "__repr__",          "__setattr__",
    "__sizeof__", "__str__",     "__subclasshook__"};

template <typename List>
bool is_one_of(std::string_view name, const List& list) {
  return std::ranges::find(list, name) != std::end(list);
}

bool is_forbidden(const Value& object, std::string_view name) {
  if (object.is(Kind::name_space)) return false;
  if (is_one_of(name, kObjectAttributes)) return true;
  return (object.is(Kind::list) && is_one_of(name, kListChanges)) ||
         (object.is_dict() && is_one_of(name, kDictChanges));
}

Value bind(Runtime& runtime, const Value& self, std::string_view name, Method method) {
  return make_function(runtime.heap(), std::string(name),
                       [self, method](Runtime& r, const Arguments& arguments) {
                         return method(r, self, arguments);
                       });
}

std::optional<Value> number_attribute(const Value& number, std::string_view name) {
  const bool is_real = number.is(Kind::real);
  if (name == "real")
    return number.is(Kind::boolean) ? Value::integer(number.as_integer()) : number;
  if (name == "imag") return is_real ? Value::real(0) : Value::integer(0);
  if (is_real) return std::nullopt;
  if (name == "numerator") return number;
  if (name == "denominator") return Value::integer(1);
  return std::nullopt;
}

std::optional<Value> range_attribute(const RangeObject& range, std::string_view name) {
  if (name == "start") return Value::integer(range.start);
  if (name == "stop") return Value::integer(range.stop);
  if (name == "step") return Value::integer(range.step);
  return std::nullopt;
}

std::optional<Value> callable_attribute(const CallableObject& callable, std::string_view name) {
  for (const auto& [key, value] : callable.attributes) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::optional<int64_t> wrap_index(const Value& index, int64_t length) {
  if (!index.is_small_integer()) return std::nullopt;
  int64_t at = index.as_integer();
  if (at < 0) at += length;
  if (at < 0 || at >= length) return std::nullopt;
  return at;
}

Value character_at(Heap& heap, const Value& string, size_t index) {
  const Text& text = string.text();
  if (string.as_string().is_ascii()) return make_like(heap, string, text.substr(index, index + 1));
  heap.spend(index / 16);
  const size_t begin = byte_offset(text.bytes(), index);
  const size_t end = begin + byte_offset(text.bytes().substr(begin), 1);
  return make_like(heap, string, text.substr(begin, end));
}

// Nothing where Python raises TypeError or LookupError.
std::optional<Value> find_item(Runtime& runtime, const Value& object, const Value& index) {
  Heap& heap = runtime.heap();
  switch (object.kind()) {
    case Kind::dict: {
      if (index.is(Kind::list) || index.is_dict() || index.is(Kind::view)) return std::nullopt;
      spend_for_key(runtime.heap(), index);
      const Value* value = object.as_dict().find(index);
      if (value == nullptr) return std::nullopt;
      return *value;
    }
    case Kind::list:
    case Kind::tuple:
      if (const auto at = wrap_index(index, length(object))) {
        return object.items()[static_cast<size_t>(*at)];
      }
      return std::nullopt;
    case Kind::string:
      if (const auto at = wrap_index(index, length(object))) {
        return character_at(heap, object, static_cast<size_t>(*at));
      }
      return std::nullopt;
    case Kind::range:
      if (const auto at = wrap_index(index, length(object))) {
        return Value::integer(object.as_range().at(*at));
      }
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

Value forbidden(Runtime& runtime, const Value& object, const Value& name) {
  const Value value = make_undefined(
      runtime.heap(), fmt::format("access to attribute '{}' of '{}' object is unsafe.",
                                  name.bytes(), type_name(object)));
  return value;
}

int64_t slice_bound(const Value& value, int64_t fallback) {
  if (value.is_missing() || value.is_none()) return fallback;
  if (value.is(Kind::big_integer)) {
    return value.as_big().is_negative() ? std::numeric_limits<int64_t>::min()
                                        : std::numeric_limits<int64_t>::max();
  }
  if (value.is_undefined()) fail_undefined(value);
  if (!value.is_small_integer()) {
    fail(ErrorCode::bad_input,
         "slice indices must be integers or None or have an __index__ method");
  }
  return value.as_integer();
}

struct Indices {
  int64_t start, stop, step, count;
};

// Python's slice.indices().
Indices resolve(const Slice& slice, int64_t length) {
  const int64_t step = std::max(slice_bound(slice.step, 1), -std::numeric_limits<int64_t>::max());
  if (step == 0) fail(ErrorCode::bad_input, "slice step cannot be zero");
  const int64_t low = step < 0 ? -1 : 0, high = step < 0 ? length - 1 : length;
  const auto clamp = [&](int64_t bound) {
    if (bound < 0) return bound < -length ? low : std::max(bound + length, low);
    return std::min(bound, high);
  };
  const int64_t largest = std::numeric_limits<int64_t>::max();
  const int64_t start = clamp(slice_bound(slice.start, step < 0 ? largest : 0));
  // No stop: to the very end, which counting down is in front of the first.
  const bool has_stop = !slice.stop.is_missing() && !slice.stop.is_none();
  const int64_t stop = has_stop ? clamp(slice_bound(slice.stop, 0)) : (step < 0 ? -1 : length);
  return {start, stop, step, RangeObject(start, stop, step).length()};
}

Value slice_string(Heap& heap, const Value& string, const Indices& indices) {
  const Text& text = string.text();
  heap.spend(static_cast<uint64_t>(indices.count) / 16);
  const auto index = [](int64_t at) { return static_cast<size_t>(at); };
  std::vector<size_t> offsets;  // of every character, where they are not those of the bytes
  if (!string.as_string().is_ascii()) {
    heap.spend(text.size() / 16);
    for (size_t at = 0; at < text.size(); ++at) {
      if ((text.bytes()[at] & 0xC0) != 0x80) offsets.push_back(at);
    }
    offsets.push_back(text.size());
  }
  const auto offset = [&](int64_t at) { return offsets.empty() ? index(at) : offsets[index(at)]; };
  if (indices.count == 0) return make_like(heap, string, Text());
  if (indices.step == 1) {
    return make_like(heap, string, text.substr(offset(indices.start), offset(indices.stop)));
  }
  Text result;
  for (int64_t i = 0; i < indices.count; ++i) {
    const int64_t at = indices.start + i * indices.step;
    result.append(text, offset(at), offset(at + 1));
  }
  return make_like(heap, string, std::move(result));
}

Value slice_items(Heap& heap, const Value& sequence, const Indices& indices) {
  heap.spend(static_cast<uint64_t>(indices.count));
  std::vector<Value> items;
  items.reserve(static_cast<size_t>(indices.count));
  for (int64_t i = 0; i < indices.count; ++i) {
    items.push_back(sequence.items()[static_cast<size_t>(indices.start + i * indices.step)]);
  }
  return sequence.is(Kind::list) ? make_list(heap, std::move(items))
                                 : make_tuple(heap, std::move(items));
}

}  // namespace

std::optional<Value> find_type_attribute(Runtime& runtime, const Value& object,
                                         std::string_view name) {
  if (is_forbidden(object, name))
    return forbidden(runtime, object, make_string(runtime.heap(), name));
  if (object.is_string()) {
    if (const Method method = find_string_method(name)) return bind(runtime, object, name, method);
    return std::nullopt;
  }
  if (const Method method = find_container_method(object.kind(), name)) {
    return bind(runtime, object, name, method);
  }
  switch (object.kind()) {
    case Kind::boolean:
    case Kind::integer:
    case Kind::big_integer:
    case Kind::real:
      return number_attribute(object, name);
    case Kind::tuple:
      if (!object.as_list().is_group) return std::nullopt;
      if (name == "grouper") return object.items()[0];
      if (name == "list") return object.items()[1];
      return std::nullopt;
    case Kind::range:
      return range_attribute(object.as_range(), name);
    case Kind::name_space: {
      const Value* value = object.as_namespace().attributes.find(name);
      if (value == nullptr) return std::nullopt;
      return *value;
    }
    case Kind::callable:
      return callable_attribute(object.as_callable(), name);
    case Kind::object:
      return object.as_object().attribute(runtime, name);
    default:
      return std::nullopt;
  }
}

Value get_attribute(Runtime& runtime, const Value& object, const Value& name) {
  if (object.is_undefined()) fail_undefined(object);
  if (const auto value = find_type_attribute(runtime, object, name.bytes())) return *value;
  if (const auto value = find_item(runtime, object, name)) return *value;
  return make_undefined(runtime.heap(), object, name);
}

Value get_item(Runtime& runtime, const Value& object, const Value& index) {
  if (object.is_undefined()) fail_undefined(object);
  if (const auto value = find_item(runtime, object, index)) return *value;
  if (index.is_string()) {
    if (const auto value = find_type_attribute(runtime, object, index.bytes())) return *value;
  }
  return make_undefined(runtime.heap(), object, index);
}

Value get_slice(Runtime& runtime, const Value& object, const Slice& slice) {
  Heap& heap = runtime.heap();
  switch (object.kind()) {
    case Kind::undefined:
      fail_undefined(object);
    case Kind::string:
      return slice_string(heap, object, resolve(slice, length(object)));
    case Kind::list:
    case Kind::tuple:
      return slice_items(heap, object, resolve(slice, length(object)));
    case Kind::range: {
      const RangeObject& range = object.as_range();
      const Indices indices = resolve(slice, range.length());
      // A step over the end is as good as one just there, and cannot overflow.
      const int64_t most = range.length() + 1;
      return Value(Kind::range,
                   heap.make<RangeObject>(range.at(indices.start), range.at(indices.stop),
                                          range.step * std::clamp(indices.step, -most, most)));
    }
    case Kind::dict:
      fail(ErrorCode::bad_input, "unhashable type: 'slice'");
    default:
      fail(ErrorCode::bad_input, "'{}' object is not subscriptable", type_name(object));
  }
}

}  // namespace arion::jinja

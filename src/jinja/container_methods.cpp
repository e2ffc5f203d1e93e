// The methods of dict, list, tuple, range and numbers. Those that change something are forbidden.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/error.h"
#include "jinja/arguments.h"
#include "jinja/methods.h"
#include "jinja/operators.h"

namespace arion::jinja {
namespace {

Value dict_get(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Bound bound("get", arguments, {"key", "default"}, 1);
  spend_for_key(runtime.heap(), bound[0]);
  const Value* value = self.as_dict().find(bound[0]);
  return value != nullptr ? *value : bound.get(1, Value::none());
}

template <ViewOf what>
Value dict_view(Runtime& runtime, const Value& self, const Arguments& arguments) {
  Bound("dict", arguments, {});
  return Value(Kind::view, runtime.heap().make<ViewObject>(self, what));
}

Value copy(Runtime&, const Value& self, const Arguments& arguments) {
  Bound("copy", arguments, {});
  return self;  // neither can be changed
}

Value sequence_count(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Bound bound("count", arguments, {"value"}, 1);
  int64_t count = 0;
  for (const Value& item : collect(runtime.heap(), self)) {
    if (equals(runtime.heap(), item, bound[0])) ++count;
  }
  return Value::integer(count);
}

Value sequence_index(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Bound bound("index", arguments, {"value", "start", "stop"}, 1);
  const std::vector<Value> items = collect(runtime.heap(), self);
  const int64_t size = static_cast<int64_t>(items.size());
  const auto clamp = [&](int64_t at) { return at < 0 ? std::max<int64_t>(at + size, 0) : at; };
  const int64_t stop = std::min(clamp(bound.integer(2).value_or(size)), size);
  for (int64_t i = clamp(bound.integer(1).value_or(0)); i < stop; ++i) {
    if (equals(runtime.heap(), items[static_cast<size_t>(i)], bound[0])) return Value::integer(i);
  }
  Text shown = repr_text(runtime.heap(), bound[0]);
  fail(ErrorCode::bad_input, "{} is not in the {}", shown.bytes(), type_name(self));
}

Value int_bit_length(Runtime&, const Value& self, const Arguments& arguments) {
  Bound("bit_length", arguments, {});
  return Value::integer(static_cast<int64_t>(to_big(self).bit_count()));
}

Value number_conjugate(Runtime& runtime, const Value& self, const Arguments& arguments) {
  Bound("conjugate", arguments, {});
  return apply_sign(runtime.heap(), '+', self);
}

Value float_is_integer(Runtime&, const Value& self, const Arguments& arguments) {
  Bound("is_integer", arguments, {});
  return Value::boolean(std::isfinite(self.as_real()) &&
                        self.as_real() == std::trunc(self.as_real()));
}

struct ContainerMethod {
  std::string_view name;
  Method method;
};

constexpr ContainerMethod kDict[] = {{"copy", copy},
                                     {"get", dict_get},
                                     {"items", dict_view<ViewOf::items>},
                                     {"keys", dict_view<ViewOf::keys>},
                                     {"values", dict_view<ViewOf::values>}};
constexpr ContainerMethod kList[] = {
    {"copy", copy}, {"count", sequence_count}, {"index", sequence_index}};
constexpr ContainerMethod kTuple[] = {{"count", sequence_count}, {"index", sequence_index}};
constexpr ContainerMethod kInteger[] = {{"bit_length", int_bit_length},
                                        {"conjugate", number_conjugate}};
constexpr ContainerMethod kReal[] = {{"conjugate", number_conjugate},
                                     {"is_integer", float_is_integer}};

template <typename Table>
Method find(const Table& table, std::string_view name) {
  const auto entry = std::ranges::find(table, name, &ContainerMethod::name);
  return entry != std::end(table) ? entry->method : nullptr;
}

}  // namespace

Method find_container_method(Kind kind, std::string_view name) {
  switch (kind) {
    case Kind::dict:
      return find(kDict, name);
    case Kind::list:
      return find(kList, name);
    case Kind::tuple:
    case Kind::range:
      return find(kTuple, name);
    case Kind::boolean:
    case Kind::integer:
    case Kind::big_integer:
      return find(kInteger, name);
    case Kind::real:
      return find(kReal, name);
    default:
      return nullptr;
  }
}

}  // namespace arion::jinja

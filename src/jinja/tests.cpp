// The tests behind `is`.
#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "jinja/arguments.h"
#include "jinja/builtins.h"
#include "jinja/methods.h"
#include "jinja/operators.h"

namespace arion::jinja {
namespace {

// A test without arguments.
template <bool (*holds)(const Value&)>
bool plain(Runtime&, const Value& subject, const Arguments& arguments) {
  Bound("test", arguments, {});
  return holds(subject);
}

bool is_boolean(const Value& value) {
  return value.is(Kind::boolean);
}
bool is_callable(const Value& value) {
  // An undefined value has a __call__, if one that raises.
  return value.is(Kind::callable) || value.is(Kind::object) || value.is_undefined();
}
bool is_defined(const Value& value) {
  return !value.is_undefined();
}
bool is_escaped(const Value& value) {
  return value.is_string() && value.as_string().is_markup;
}
bool is_false(const Value& value) {
  return is_boolean(value) && !value.as_bool();
}
bool is_float(const Value& value) {
  return value.is(Kind::real);
}
bool is_integer(const Value& value) {
  return value.is_integer() && !is_boolean(value);
}
bool is_mapping(const Value& value) {
  return value.is_dict();
}
bool is_none(const Value& value) {
  return value.is_none();
}
bool is_number(const Value& value) {
  return value.is_number();
}
bool is_sequence(const Value& value) {
  // A length and items by index; views have no items.
  return find_length(value).has_value() && !value.is(Kind::view);
}
bool is_string(const Value& value) {
  return value.is_string();
}
bool is_true(const Value& value) {
  return is_boolean(value) && value.as_bool();
}
bool is_undefined(const Value& value) {
  return value.is_undefined();
}

// By a method of the value's text.
bool text_is(Runtime& runtime, const Value& subject, std::string_view method) {
  const Value text = make_string(runtime.heap(), str_text(runtime.heap(), subject));
  return find_string_method(method)(runtime, text, {}).as_bool();
}

bool test_lower(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  Bound("lower", arguments, {});
  return text_is(runtime, subject, "islower");
}

bool test_upper(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  Bound("upper", arguments, {});
  return text_is(runtime, subject, "isupper");
}

bool has_remainder(Runtime& runtime, const Value& subject, const Value& divisor,
                   int64_t remainder) {
  Heap& heap = runtime.heap();
  return equals(heap, apply(heap, BinaryOp::modulo, subject, divisor), Value::integer(remainder));
}

bool test_odd(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  Bound("odd", arguments, {});
  return has_remainder(runtime, subject, Value::integer(2), 1);
}

bool test_even(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  Bound("even", arguments, {});
  return has_remainder(runtime, subject, Value::integer(2), 0);
}

bool test_divisibleby(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const Bound bound("divisibleby", arguments, {"num"}, 1);
  return has_remainder(runtime, subject, bound[0], 0);
}

bool test_eq(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const Bound bound("eq", arguments, {"other"}, 1);
  return equals(runtime.heap(), subject, bound[0]);
}

bool test_ne(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  return !test_eq(runtime, subject, arguments);
}

template <Order order>
bool test_ordered(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const Bound bound("comparison", arguments, {"other"}, 1);
  return is_ordered(runtime.heap(), order, subject, bound[0]);
}

bool test_in(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const Bound bound("in", arguments, {"seq"}, 1);
  return contains(runtime.heap(), bound[0], subject);
}

bool test_sameas(Runtime&, const Value& subject, const Arguments& arguments) {
  const Bound bound("sameas", arguments, {"other"}, 1);
  return is_same(subject, bound[0]);
}

bool test_iterable(Runtime&, const Value& subject, const Arguments& arguments) {
  Bound("iterable", arguments, {});
  return is_iterable(subject) || subject.is(Kind::object);
}

std::string_view name_of(Runtime& runtime, const Value& value) {
  spend_for_key(runtime.heap(), value);
  // Whether something unhashable is a name is an error in Python.
  hash_key(value);
  return value.is_string() ? value.bytes() : std::string_view();
}

bool test_filter(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  Bound("filter", arguments, {});
  return find_filter(name_of(runtime, subject)) != nullptr;
}

bool test_test(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  Bound("test", arguments, {});
  return find_test(name_of(runtime, subject)) != nullptr;
}

struct NamedTest {
  std::string_view name;
  Test test;
};

// Sorted by name.
constexpr NamedTest kTests[] = {
    {"!=", test_ne},
    {"<", test_ordered<Order::less>},
    {"<=", test_ordered<Order::less_equal>},
    {"==", test_eq},
    {">", test_ordered<Order::greater>},
    {">=", test_ordered<Order::greater_equal>},
    {"boolean", plain<is_boolean>},
    {"callable", plain<is_callable>},
    {"defined", plain<is_defined>},
    {"divisibleby", test_divisibleby},
    {"eq", test_eq},
    {"equalto", test_eq},
    {"escaped", plain<is_escaped>},
    {"even", test_even},
    {"false", plain<is_false>},
    {"filter", test_filter},
    {"float", plain<is_float>},
    {"ge", test_ordered<Order::greater_equal>},
    {"greaterthan", test_ordered<Order::greater>},
    {"gt", test_ordered<Order::greater>},
    {"in", test_in},
    {"integer", plain<is_integer>},
    {"iterable", test_iterable},
    {"le", test_ordered<Order::less_equal>},
    {"lessthan", test_ordered<Order::less>},
    {"lower", test_lower},
    {"lt", test_ordered<Order::less>},
    {"mapping", plain<is_mapping>},
    {"ne", test_ne},
    {"none", plain<is_none>},
    {"number", plain<is_number>},
    {"odd", test_odd},
    {"sameas", test_sameas},
    {"sequence", plain<is_sequence>},
    {"string", plain<is_string>},
    {"test", test_test},
    {"true", plain<is_true>},
    {"undefined", plain<is_undefined>},
    {"upper", test_upper},
};

}  // namespace

Test find_test(std::string_view name) {
  const auto entry = std::ranges::lower_bound(kTests, name, {}, &NamedTest::name);
  return entry != std::end(kTests) && entry->name == name ? entry->test : nullptr;
}

}  // namespace arion::jinja

// Arithmetic on any values, comparison, membership, hashing.
#include "jinja/operators.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "jinja/format.h"
#include "jinja/text_ops.h"

namespace arion::jinja {

void fail_undefined(const Value& value) {
  fail(ErrorCode::bad_input, "{}", value.as_undefined().message());
}

namespace {

void check_nesting(int depth) {
  if (depth > kMaxValueNesting) fail(ErrorCode::bad_input, "maximum recursion depth exceeded");
}

[[noreturn]] void fail_operands(BinaryOp op, const Value& a, const Value& b) {
  fail(ErrorCode::bad_input, "unsupported operand type(s) for {}: '{}' and '{}'", symbol(op),
       type_name(a), type_name(b));
}

Value add_strings(Heap& heap, const Value& a, const Value& b) {
  const bool is_markup = a.as_string().is_markup || b.as_string().is_markup;
  Text sum = is_markup ? escape_unless_markup(heap, a) : a.text();
  if (is_markup) {
    sum.append(escape_unless_markup(heap, b));
    return make_markup(heap, std::move(sum));
  }
  sum.append(b.text());
  return make_string(heap, std::move(sum));
}

Value add_sequences(Heap& heap, const Value& a, const Value& b) {
  heap.spend(a.items().size() + b.items().size());
  std::vector<Value> sum = a.items();
  sum.insert(sum.end(), b.items().begin(), b.items().end());
  return a.is(Kind::list) ? make_list(heap, std::move(sum)) : make_tuple(heap, std::move(sum));
}

Value add(Heap& heap, const Value& a, const Value& b) {
  if (a.is_string() && b.is_string()) return add_strings(heap, a, b);
  if (a.is_sequence() && a.kind() == b.kind()) return add_sequences(heap, a, b);
  if (a.is_string() || a.is_sequence()) {
    const std::string_view type = a.is_string() ? "str" : type_name(a);
    fail(ErrorCode::bad_input, "can only concatenate {} (not \"{}\") to {}", type, type_name(b),
         type);
  }
  fail_operands(BinaryOp::add, a, b);
}

// How often something is repeated, refusing what could not be held.
size_t repetitions(Heap& heap, const Value& times, size_t bytes_each) {
  if (times.is(Kind::big_integer)) {
    if (times.as_big().is_negative()) return 0;
    fail(ErrorCode::bad_input, "cannot fit 'int' into an index-sized integer");
  }
  const int64_t count = std::max<int64_t>(times.as_integer(), 0);
  const int64_t most =
      static_cast<int64_t>(heap.limits().memory_bytes / std::max<size_t>(bytes_each, 1));
  if (count > most && bytes_each > 0) heap.charge(heap.limits().memory_bytes + 1);
  return bytes_each > 0 ? static_cast<size_t>(count) : 0;
}

Value repeat(Heap& heap, const Value& value, const Value& times) {
  if (value.is_string()) {
    const size_t count = repetitions(heap, times, value.text().size());
    heap.spend(count);
    Text result;
    for (size_t i = 0; i < count; ++i) result.append(value.text());
    return value.as_string().is_markup ? make_markup(heap, std::move(result))
                                       : make_string(heap, std::move(result));
  }
  const size_t count = repetitions(heap, times, value.items().size() * sizeof(Value));
  heap.spend(count * value.items().size());
  std::vector<Value> result;
  for (size_t i = 0; i < count; ++i) {
    result.insert(result.end(), value.items().begin(), value.items().end());
  }
  return value.is(Kind::list) ? make_list(heap, std::move(result))
                              : make_tuple(heap, std::move(result));
}

bool is_repeatable(const Value& value) {
  return value.is_string() || value.is_sequence();
}

Value multiply(Heap& heap, const Value& a, const Value& b) {
  if (is_repeatable(a) && b.is_integer()) return repeat(heap, a, b);
  if (is_repeatable(b) && a.is_integer()) return repeat(heap, b, a);
  if (is_repeatable(a) || is_repeatable(b)) {
    fail(ErrorCode::bad_input, "can't multiply sequence by non-int of type '{}'",
         type_name(is_repeatable(a) ? b : a));
  }
  fail_operands(BinaryOp::multiply, a, b);
}

bool equals(Heap& heap, const Value& a, const Value& b, int depth);

bool equal_items(Heap& heap, const Value& a, const Value& b, int depth) {
  if (a.items().size() != b.items().size()) return false;
  for (size_t i = 0; i < a.items().size(); ++i) {
    if (!equals(heap, a.items()[i], b.items()[i], depth + 1)) return false;
  }
  return true;
}

bool equal_dicts(Heap& heap, const DictObject& a, const DictObject& b, int depth) {
  if (a.size() != b.size()) return false;
  for (const auto& [key, value] : a.entries()) {
    spend_for_key(heap, key);
    const Value* other = b.find(key);
    if (other == nullptr || !equals(heap, value, *other, depth + 1)) return false;
  }
  return true;
}

bool equal_ranges(const RangeObject& a, const RangeObject& b) {
  const int64_t length = a.length();
  if (length != b.length()) return false;
  return length == 0 || (a.start == b.start && (length == 1 || a.step == b.step));
}

bool equals(Heap& heap, const Value& a, const Value& b, int depth) {
  heap.spend();
  check_nesting(depth);
  if (a.is_number() && b.is_number()) return compare_numbers(a, b) == 0;
  if (a.kind() != b.kind()) return false;
  if (a.is_undefined() || a.is_none()) return true;
  if (a.object() == b.object()) return true;
  switch (a.kind()) {
    case Kind::string:
      if (a.bytes().size() != b.bytes().size()) return false;
      heap.spend(a.bytes().size() / 16);
      return a.bytes() == b.bytes();
    case Kind::list:
    case Kind::tuple:
      return equal_items(heap, a, b, depth);
    case Kind::dict:
      return equal_dicts(heap, a.as_dict(), b.as_dict(), depth);
    case Kind::range:
      return equal_ranges(a.as_range(), b.as_range());
    default:
      return false;
  }
}

std::string_view spelling(Order order) {
  constexpr std::string_view kSpellings[] = {"<", "<=", ">", ">="};
  return kSpellings[static_cast<size_t>(order)];
}

bool holds(Order order, std::partial_ordering result) {
  switch (order) {
    case Order::less:
      return result < 0;
    case Order::less_equal:
      return result <= 0;
    case Order::greater:
      return result > 0;
    case Order::greater_equal:
      break;
  }
  return result >= 0;
}

bool is_ordered(Heap& heap, Order order, const Value& a, const Value& b, int depth) {
  heap.spend();
  check_nesting(depth);
  if (a.is_undefined()) fail_undefined(a);
  if (b.is_undefined()) fail_undefined(b);
  if (a.is_number() && b.is_number()) return holds(order, compare_numbers(a, b));
  // The order of UTF-8 is that of the code points.
  if (a.is_string() && b.is_string()) {
    heap.spend(std::min(a.bytes().size(), b.bytes().size()) / 16);
    return holds(order, a.bytes() <=> b.bytes());
  }
  if (!a.is_sequence() || a.kind() != b.kind()) {
    fail(ErrorCode::bad_input, "'{}' not supported between instances of '{}' and '{}'",
         spelling(order), type_name(a), type_name(b));
  }
  const size_t common = std::min(a.items().size(), b.items().size());
  for (size_t i = 0; i < common; ++i) {
    if (equals(heap, a.items()[i], b.items()[i], depth + 1)) continue;
    return is_ordered(heap, order, a.items()[i], b.items()[i], depth + 1);
  }
  return holds(order, a.items().size() <=> b.items().size());
}

uint64_t mix(uint64_t hash, uint64_t value) {
  return (hash ^ value) * 0x9E3779B97F4A7C15u + (hash >> 29);
}

uint64_t hash_key(const Value& key, int depth) {
  check_nesting(depth);
  switch (key.kind()) {
    case Kind::boolean:
    case Kind::integer:
      return mix(1, static_cast<uint64_t>(key.as_integer()));
    case Kind::real: {
      const double value = key.as_real();
      constexpr double kMost = 9e18;  // below 2^63
      if (value == std::floor(value) && std::abs(value) < kMost) {
        return mix(1, static_cast<uint64_t>(static_cast<int64_t>(value)));
      }
      return std::isfinite(value) && value == std::floor(value)
                 ? std::hash<std::string>()(BigInt::from_double(value).to_string())
                 : std::hash<double>()(value);
    }
    case Kind::big_integer:
      return std::hash<std::string>()(key.as_big().to_string());
    case Kind::string:
      return std::hash<std::string_view>()(key.bytes());
    case Kind::tuple: {
      uint64_t hash = 2;
      for (const Value& item : key.items()) hash = mix(hash, hash_key(item, depth + 1));
      return hash;
    }
    case Kind::list:
    case Kind::dict:
    case Kind::view:
      fail(ErrorCode::bad_input, "unhashable type: '{}'", type_name(key));
    case Kind::none:
    case Kind::undefined:
    case Kind::missing:
      return static_cast<uint64_t>(key.kind());
    default:
      return std::hash<const void*>()(key.object());
  }
}

bool is_same_key(const Value& a, const Value& b, int depth) {
  check_nesting(depth);
  if (a.is_number() && b.is_number()) return compare_numbers(a, b) == 0;
  if (a.kind() != b.kind()) return false;
  if (a.is_none() || a.is_undefined()) return true;
  if (a.is_string()) return a.bytes() == b.bytes();
  if (!a.is(Kind::tuple)) return a.object() == b.object();
  if (a.items().size() != b.items().size()) return false;
  for (size_t i = 0; i < a.items().size(); ++i) {
    if (!is_same_key(a.items()[i], b.items()[i], depth + 1)) return false;
  }
  return true;
}

}  // namespace

bool truth(const Value& value) {
  switch (value.kind()) {
    case Kind::missing:
    case Kind::undefined:
    case Kind::none:
      return false;
    case Kind::boolean:
    case Kind::integer:
      return value.as_integer() != 0;
    case Kind::big_integer:
      return true;
    case Kind::real:
      return value.as_real() != 0;
    default:
      return find_length(value).value_or(1) != 0;
  }
}

Value apply(Heap& heap, BinaryOp op, const Value& a, const Value& b) {
  if (op == BinaryOp::modulo && a.is_string()) return format_percent(heap, a, b);
  if (a.is_undefined()) fail_undefined(a);
  if (b.is_undefined()) fail_undefined(b);
  if (a.is_number() && b.is_number()) return calculate(heap, op, a, b);
  if (op == BinaryOp::add) return add(heap, a, b);
  if (op == BinaryOp::multiply) return multiply(heap, a, b);
  fail_operands(op, a, b);
}

Value apply_sign(Heap& heap, char sign, const Value& value) {
  if (value.is_undefined()) fail_undefined(value);
  if (!value.is_number()) {
    fail(ErrorCode::bad_input, "bad operand type for unary {}: '{}'", sign, type_name(value));
  }
  if (sign == '-') return negate(heap, value);
  return value.is(Kind::boolean) ? Value::integer(value.as_integer()) : value;
}

bool equals(Heap& heap, const Value& a, const Value& b) {
  return equals(heap, a, b, 0);
}

bool is_ordered(Heap& heap, Order order, const Value& a, const Value& b) {
  return is_ordered(heap, order, a, b, 0);
}

bool contains(Heap& heap, const Value& haystack, const Value& needle) {
  if (haystack.is_string()) {
    if (!needle.is_string()) {
      fail(ErrorCode::bad_input, "'in <string>' requires string as left operand, not {}",
           type_name(needle));
    }
    heap.spend(haystack.bytes().size() / 16);
    return find_bytes(haystack.bytes(), needle.bytes()) != std::string_view::npos;
  }
  if (haystack.is_dict()) {
    spend_for_key(heap, needle);
    return haystack.as_dict().find(needle) != nullptr;
  }
  if (!is_iterable(haystack)) {
    fail(ErrorCode::bad_input, "argument of type '{}' is not iterable", type_name(haystack));
  }
  const Iterator next = iterate(heap, haystack);
  while (const auto item = next()) {
    if (is_same(*item, needle) || equals(heap, *item, needle)) return true;
  }
  return false;
}

bool is_same(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::missing:
    case Kind::none:
      return true;
    case Kind::boolean:
    case Kind::integer:
      return a.as_integer() == b.as_integer();
    default:
      return a.object() == b.object();
  }
}

uint64_t hash_key(const Value& key) {
  return hash_key(key, 0);
}

void spend_for_key(Heap& heap, const Value& key) {
  if (key.is_string()) heap.spend(key.bytes().size() / 16);
  if (key.is(Kind::big_integer)) heap.spend(500);  // as arithmetic with such
  if (!key.is(Kind::tuple)) return;
  heap.spend(key.items().size());
  for (const Value& item : key.items()) spend_for_key(heap, item);
}

bool is_same_key(const Value& a, const Value& b) {
  return is_same_key(a, b, 0);
}

int64_t to_index(const Value& value, std::string_view what) {
  if (value.is_undefined()) fail_undefined(value);
  if (value.is_small_integer()) return value.as_integer();
  if (value.is(Kind::big_integer)) {
    fail(ErrorCode::bad_input, "{} does not fit into 64 bits", what);
  }
  fail(ErrorCode::bad_input, "{} must be an integer, not '{}'", what, type_name(value));
}

}  // namespace arion::jinja

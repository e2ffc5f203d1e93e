// What operators, str(), repr(), bool(), len() and iteration do with values.
#pragma once
#include <optional>
#include <string_view>

#include "jinja/numbers.h"
#include "jinja/value.h"

namespace arion::jinja {

// All throw Error where Python raises, with its message.

// Nesting of values that comparison, hashing and printing follow; Python gives up at about 1,000.
constexpr int kMaxValueNesting = 200;

// What every use of an undefined value but printing it does.
[[noreturn]] void fail_undefined(const Value& value);

bool truth(const Value& value);
Value apply(Heap& heap, BinaryOp op, const Value& a, const Value& b);
Value apply_sign(Heap& heap, char sign, const Value& value);

bool equals(Heap& heap, const Value& a, const Value& b);
enum class Order : uint8_t { less, less_equal, greater, greater_equal };
bool is_ordered(Heap& heap, Order order, const Value& a, const Value& b);
// `needle in haystack`
bool contains(Heap& heap, const Value& haystack, const Value& needle);
// `a is b`
bool is_same(const Value& a, const Value& b);

// str() and repr(). Parts keep their origin.
Text str_text(Heap& heap, const Value& value);
Text repr_text(Heap& heap, const Value& value);
Text quoted(const Text& text);  // repr() of a string
// Appends str(); cheap for strings.
void append_str(Heap& heap, Text& out, const Value& value);

// Nothing where Python raises TypeError.
std::optional<int64_t> find_length(const Value& value);
int64_t length(const Value& value);
bool is_iterable(const Value& value);
Iterator iterate(Heap& heap, const Value& value);
std::vector<Value> collect(Heap& heap, const Value& value);

uint64_t hash_key(const Value& key);
// Counts the work of hashing a key and comparing it with an equal one.
void spend_for_key(Heap& heap, const Value& key);
bool is_same_key(const Value& a, const Value& b);

// HTML: & < > ' " as markupsafe writes them.
Text escape_html(const Text& text);
// A string as markup, escaped unless it already is.
Text escape_unless_markup(Heap& heap, const Value& value);

// `value` as an index: an int or bool. Throws Error where Python does.
int64_t to_index(const Value& value, std::string_view what);

}  // namespace arion::jinja

// Values of the template language: Python's, as far as templates see them.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jinja/big_int.h"
#include "jinja/heap.h"
#include "jinja/text.h"

namespace arion::jinja {

class Runtime;
class DictObject;
struct AttributeObject;
struct BigObject;
struct CallableObject;
struct GeneratorObject;
struct ListObject;
struct NamespaceObject;
struct RangeObject;
struct StringObject;
struct UndefinedObject;
struct ViewObject;

enum class Kind : uint8_t {
  missing,    // a variable without a value; never seen by templates
  undefined,  // what a missing variable or attribute evaluates to
  none,
  boolean,
  integer,
  big_integer,  // does not fit 64 bits
  real,
  string,
  list,
  tuple,
  dict,
  view,  // keys(), values() and items() of a dict
  range,
  generator,
  name_space,
  callable,
  object,  // loop and cycler: attributes of their own
};

// Small, freely copied; points into a Heap. Objects other than namespaces, generators and loops
// never change once a template sees them.
class Value {
 public:
  Value() = default;  // missing
  static Value none() { return Value(Kind::none, nullptr); }
  static Value boolean(bool value) {
    Value v(Kind::boolean, nullptr);
    v.integer_ = value;
    return v;
  }
  static Value integer(int64_t value) {
    Value v(Kind::integer, nullptr);
    v.integer_ = value;
    return v;
  }
  static Value real(double value) {
    Value v(Kind::real, nullptr);
    v.real_ = value;
    return v;
  }
  Value(Kind kind, Object* object) : kind_(kind), object_(object) {}

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool is_missing() const { return kind_ == Kind::missing; }
  bool is_undefined() const { return kind_ == Kind::undefined; }
  bool is_none() const { return kind_ == Kind::none; }
  bool is_string() const { return kind_ == Kind::string; }
  bool is_dict() const { return kind_ == Kind::dict; }
  bool is_sequence() const { return kind_ == Kind::list || kind_ == Kind::tuple; }
  // Booleans are integers, as in Python.
  bool is_small_integer() const { return kind_ == Kind::integer || kind_ == Kind::boolean; }
  bool is_integer() const { return is_small_integer() || kind_ == Kind::big_integer; }
  bool is_number() const { return is_integer() || kind_ == Kind::real; }

  // Each for its kinds alone.
  bool as_bool() const { return integer_ != 0; }
  int64_t as_integer() const { return integer_; }
  double as_real() const { return real_; }
  const BigInt& as_big() const;
  const StringObject& as_string() const;
  const Text& text() const;
  std::string_view bytes() const { return text().bytes(); }
  const std::vector<Value>& items() const;  // list, tuple
  const ListObject& as_list() const;        // list, tuple
  const DictObject& as_dict() const;
  const UndefinedObject& as_undefined() const;
  const ViewObject& as_view() const;
  const RangeObject& as_range() const;
  GeneratorObject& as_generator() const;
  NamespaceObject& as_namespace() const;
  const CallableObject& as_callable() const;
  AttributeObject& as_object() const;
  const Object* object() const { return object_; }

 private:
  Kind kind_ = Kind::missing;
  union {
    int64_t integer_;
    double real_;
    Object* object_ = nullptr;
  };
};

struct BigObject : Object {
  explicit BigObject(BigInt big) : value(std::move(big)) {}
  BigInt value;
};

// Valid UTF-8.
struct StringObject : Object {
  StringObject(Text t, bool markup);
  bool is_ascii() const { return length == text.size(); }
  Text text;
  size_t length;   // in code points
  bool is_markup;  // HTML that needs no escaping: markupsafe's Markup
};

// Lists and tuples.
struct ListObject : Object {
  std::vector<Value> items;
  bool is_group = false;  // what `groupby` yields: a pair (grouper, list)
};

// Keys are hashable values; iteration in order of insertion.
class DictObject : public Object {
 public:
  using Entry = std::pair<Value, Value>;
  const std::vector<Entry>& entries() const { return entries_; }
  size_t size() const { return entries_.size(); }
  // Throw Error for keys that cannot be hashed. A value that is set again keeps its place.
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
  void set(const Value& key, const Value& value);

 private:
  static constexpr size_t kIndexedFrom = 8;  // a scan is faster up to here
  template <typename Matches>
  const Entry* find_entry(uint64_t hash, Matches matches) const;

  std::vector<Entry> entries_;
  std::vector<uint64_t> hashes_;
  std::multimap<uint64_t, uint32_t> index_;  // by hash; a tree, as chosen keys would share buckets
};

enum class ViewOf : uint8_t { keys, values, items };

struct ViewObject : Object {
  ViewObject(Value d, ViewOf k) : dict(d), what(k) {}
  Value dict;
  ViewOf what;
};

struct RangeObject : Object {
  RangeObject(int64_t first, int64_t end, int64_t s) : start(first), stop(end), step(s) {}
  int64_t length() const;
  int64_t at(int64_t index) const { return start + index * step; }
  int64_t start, stop, step;
};

using Iterator = std::function<std::optional<Value>()>;

// Yields each value once, however many look at it.
struct GeneratorObject : Object {
  GeneratorObject(Iterator n, const char* name) : next(std::move(n)), type_name(name) {}
  Iterator next;
  const char* type_name;  // of Python
};

struct NamespaceObject : Object {
  DictObject attributes;
};

// Remembers what was looked up, for the message of an operation on it.
struct UndefinedObject : Object {
  std::string message() const;
  std::string hint;  // the whole message, when not empty
  Value owner;       // missing: a variable
  Value name;
};

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

struct CallableObject : Object {
  using Function = std::function<Value(Runtime&, const Arguments&)>;
  CallableObject(std::string n, const char* type, Function f)
      : name(std::move(n)), type_name(type), call(std::move(f)) {}
  std::string name;
  const char* type_name;
  Function call;
  // Macros: name, arguments, ...; empty for all other functions.
  std::vector<std::pair<std::string, Value>> attributes;
};

struct AttributeObject : Object {
  virtual std::string_view type_name() const = 0;
  virtual std::string repr() const;  // the type in angle brackets
  // Nothing where there is no such attribute.
  virtual std::optional<Value> attribute(Runtime& runtime, std::string_view name) = 0;
  // What calling the object does; throws Error where it does nothing.
  virtual Value call(Runtime& runtime, const Arguments& arguments) = 0;
};

Value make_integer(Heap& heap, const BigInt& value);
// `text` is valid UTF-8.
Value make_string(Heap& heap, Text text);
Value make_string(Heap& heap, std::string_view text);
Value make_markup(Heap& heap, Text text);
// Markup where `string` is markup.
Value make_like(Heap& heap, const Value& string, Text text);
// Any bytes: what is not UTF-8 becomes U+FFFD.
Value make_string_from_bytes(Heap& heap, std::string_view bytes, Origin origin);
Value make_list(Heap& heap, std::vector<Value> items);
Value make_tuple(Heap& heap, std::vector<Value> items);
Value make_dict(Heap& heap, DictObject*& dict);
Value make_function(Heap& heap, std::string name, CallableObject::Function function);
Value make_generator(Heap& heap, Iterator next, const char* type_name = "generator");
Value make_undefined(Heap& heap, const Value& owner, const Value& name);
Value make_undefined(Heap& heap, std::string hint);

// Python's name of the type.
std::string_view type_name(const Value& value);

}  // namespace arion::jinja

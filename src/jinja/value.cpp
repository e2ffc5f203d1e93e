#include "jinja/value.h"

#include "base/error.h"
#include "base/utf8.h"
#include "jinja/numbers.h"
#include "jinja/operators.h"
#include "jinja/text_ops.h"

namespace arion::jinja {
namespace {

uint64_t hash_bytes(std::string_view bytes) {
  return std::hash<std::string_view>()(bytes);
}

Value make_string_object(Heap& heap, Text text, bool is_markup) {
  heap.charge(text.heap_bytes());
  return Value(Kind::string, heap.make<StringObject>(std::move(text), is_markup));
}

Value make_sequence(Heap& heap, std::vector<Value> items, Kind kind) {
  heap.charge(items.capacity() * sizeof(Value));
  ListObject* const list = heap.make<ListObject>();
  list->items = std::move(items);
  return Value(kind, list);
}

}  // namespace

const BigInt& Value::as_big() const {
  return static_cast<const BigObject*>(object_)->value;
}
const StringObject& Value::as_string() const {
  return *static_cast<const StringObject*>(object_);
}
const Text& Value::text() const {
  return as_string().text;
}
const std::vector<Value>& Value::items() const {
  return as_list().items;
}
const ListObject& Value::as_list() const {
  return *static_cast<const ListObject*>(object_);
}
const DictObject& Value::as_dict() const {
  return *static_cast<const DictObject*>(object_);
}
const UndefinedObject& Value::as_undefined() const {
  return *static_cast<const UndefinedObject*>(object_);
}
const ViewObject& Value::as_view() const {
  return *static_cast<const ViewObject*>(object_);
}
const RangeObject& Value::as_range() const {
  return *static_cast<const RangeObject*>(object_);
}
GeneratorObject& Value::as_generator() const {
  return *static_cast<GeneratorObject*>(object_);
}
NamespaceObject& Value::as_namespace() const {
  return *static_cast<NamespaceObject*>(object_);
}
const CallableObject& Value::as_callable() const {
  return *static_cast<const CallableObject*>(object_);
}
AttributeObject& Value::as_object() const {
  return *static_cast<AttributeObject*>(object_);
}

StringObject::StringObject(Text t, bool markup)
    : text(std::move(t)), length(count_characters(text.bytes())), is_markup(markup) {}

template <typename Matches>
const DictObject::Entry* DictObject::find_entry(uint64_t hash, Matches matches) const {
  if (entries_.size() <= kIndexedFrom) {
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (hashes_[i] == hash && matches(entries_[i].first)) return &entries_[i];
    }
    return nullptr;
  }
  const auto [first, last] = index_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (matches(entries_[it->second].first)) return &entries_[it->second];
  }
  return nullptr;
}

const Value* DictObject::find(const Value& key) const {
  const Entry* entry =
      find_entry(hash_key(key), [&](const Value& other) { return is_same_key(other, key); });
  return entry != nullptr ? &entry->second : nullptr;
}

const Value* DictObject::find(std::string_view key) const {
  const Entry* entry = find_entry(hash_bytes(key), [&](const Value& other) {
    return other.is_string() && other.bytes() == key;
  });
  return entry != nullptr ? &entry->second : nullptr;
}

void DictObject::set(const Value& key, const Value& value) {
  const uint64_t hash = hash_key(key);
  const Entry* found =
      find_entry(hash, [&](const Value& other) { return is_same_key(other, key); });
  if (found != nullptr) {
    entries_[static_cast<size_t>(found - entries_.data())].second = value;
    return;
  }
  entries_.emplace_back(key, value);
  hashes_.push_back(hash);
  if (entries_.size() == kIndexedFrom + 1) {
    for (uint32_t i = 0; i < entries_.size(); ++i) index_.emplace(hashes_[i], i);
  } else if (entries_.size() > kIndexedFrom) {
    index_.emplace(hash, static_cast<uint32_t>(entries_.size() - 1));
  }
}

int64_t RangeObject::length() const {
  if (step > 0) return start < stop ? (stop - start - 1) / step + 1 : 0;
  return start > stop ? (start - stop - 1) / -step + 1 : 0;
}

std::string UndefinedObject::message() const {
  if (!hint.empty()) return hint;
  Heap scratch;
  const std::string shown(repr_text(scratch, name).bytes());
  if (owner.is_missing()) return shown + " is undefined";
  const std::string type = owner.is_none() ? "None" : std::string(type_name(owner)) + " object";
  if (!name.is_string()) return type + " has no element " + shown;
  return "'" + type + "' has no attribute " + shown;
}

std::string AttributeObject::repr() const {
  return "<" + std::string(type_name()) + ">";
}

Value make_integer(Heap& heap, const BigInt& value) {
  if (const auto small = value.to_int64()) return Value::integer(*small);
  heap.charge(value.bit_count() / 8);
  return Value(Kind::big_integer, heap.make<BigObject>(value));
}

Value make_string(Heap& heap, Text text) {
  return make_string_object(heap, std::move(text), false);
}

Value make_string(Heap& heap, std::string_view text) {
  return make_string(heap, Text(std::string(text)));
}

Value make_markup(Heap& heap, Text text) {
  return make_string_object(heap, std::move(text), true);
}

Value make_like(Heap& heap, const Value& string, Text text) {
  return make_string_object(heap, std::move(text), string.as_string().is_markup);
}

Value make_string_from_bytes(Heap& heap, std::string_view bytes, Origin origin) {
  return make_string(heap, Text(repair_utf8(bytes), origin));
}

Value make_list(Heap& heap, std::vector<Value> items) {
  return make_sequence(heap, std::move(items), Kind::list);
}

Value make_tuple(Heap& heap, std::vector<Value> items) {
  return make_sequence(heap, std::move(items), Kind::tuple);
}

Value make_dict(Heap& heap, DictObject*& dict) {
  dict = heap.make<DictObject>();
  return Value(Kind::dict, dict);
}

Value make_function(Heap& heap, std::string name, CallableObject::Function function) {
  return Value(Kind::callable,
               heap.make<CallableObject>(std::move(name), "builtin_function_or_method",
                                         std::move(function)));
}

Value make_generator(Heap& heap, Iterator next, const char* type_name) {
  heap.charge(128);  // what the function captured
  return Value(Kind::generator, heap.make<GeneratorObject>(std::move(next), type_name));
}

Value make_undefined(Heap& heap, const Value& owner, const Value& name) {
  UndefinedObject* const object = heap.make<UndefinedObject>();
  object->owner = owner;
  object->name = name;
  return Value(Kind::undefined, object);
}

Value make_undefined(Heap& heap, std::string hint) {
  UndefinedObject* const object = heap.make<UndefinedObject>();
  object->hint = std::move(hint);
  return Value(Kind::undefined, object);
}

std::string_view type_name(const Value& value) {
  switch (value.kind()) {
    case Kind::missing:
    case Kind::undefined:
      return "Undefined";
    case Kind::none:
      return "NoneType";
    case Kind::boolean:
      return "bool";
    case Kind::integer:
    case Kind::big_integer:
      return "int";
    case Kind::real:
      return "float";
    case Kind::string:
      return value.as_string().is_markup ? "Markup" : "str";
    case Kind::list:
      return "list";
    case Kind::tuple:
      return value.as_list().is_group ? "_GroupTuple" : "tuple";
    case Kind::dict:
      return "dict";
    case Kind::view:
      switch (value.as_view().what) {
        case ViewOf::keys:
          return "dict_keys";
        case ViewOf::values:
          return "dict_values";
        case ViewOf::items:
          return "dict_items";
      }
      break;
    case Kind::range:
      return "range";
    case Kind::generator:
      return value.as_generator().type_name;
    case Kind::name_space:
      return "TemplateNamespace";
    case Kind::callable:
      return value.as_callable().type_name;
    case Kind::object:
      return value.as_object().type_name();
  }
  return "object";
}

}  // namespace arion::jinja

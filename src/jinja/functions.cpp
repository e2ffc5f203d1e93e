// Global functions: those of Jinja2, raise_exception and strftime_now.
#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "jinja/arguments.h"
#include "jinja/builtins.h"
#include "jinja/operators.h"
#include "jinja/strftime.h"

namespace arion::jinja {
namespace {

Value call_range(Runtime& runtime, const Arguments& arguments) {
  // The sandbox of Jinja has this limit, too.
  constexpr int64_t kMaxLength = 100'000, kMaxBound = int64_t{1} << 60;
  if (!arguments.named.empty()) fail(ErrorCode::bad_input, "range() takes no keyword arguments");
  const size_t count = arguments.positional.size();
  if (count == 0 || count > 3) {
    fail(ErrorCode::bad_input, "range expected 1 to 3 arguments, got {}", count);
  }
  const auto bound = [&](size_t i) {
    const int64_t value = to_index(arguments.positional[i], "range() argument");
    if (value < -kMaxBound || value > kMaxBound) fail(ErrorCode::bad_input, "range is too large");
    return value;
  };
  const int64_t start = count > 1 ? bound(0) : 0;
  const int64_t stop = bound(count > 1 ? 1 : 0);
  const int64_t step = count > 2 ? bound(2) : 1;
  if (step == 0) fail(ErrorCode::bad_input, "range() arg 3 must not be zero");
  auto* const range = runtime.heap().make<RangeObject>(start, stop, step);
  if (range->length() > kMaxLength) {
    fail(ErrorCode::bad_input,
         "Range too big. The sandbox blocks ranges larger than MAX_RANGE ({}).", kMaxLength);
  }
  return Value(Kind::range, range);
}

// What dict(...) does with its arguments.
void fill_dict(Runtime& runtime, const Arguments& arguments, DictObject& dict) {
  Heap& heap = runtime.heap();
  const auto set = [&](const Value& key, const Value& value) {
    heap.spend();
    heap.charge(sizeof(DictObject::Entry) * 2);
    spend_for_key(heap, key);
    dict.set(key, value);
  };
  if (arguments.positional.size() > 1) {
    fail(ErrorCode::bad_input, "dict expected at most 1 argument, got {}",
         arguments.positional.size());
  }
  for (const Value& source : arguments.positional) {
    if (source.is_dict()) {
      for (const auto& [key, value] : source.as_dict().entries()) set(key, value);
      continue;
    }
    const Iterator next = iterate(heap, source);
    while (const auto pair = next()) {
      const std::vector<Value> parts = collect(heap, *pair);
      if (parts.size() != 2) {
        fail(ErrorCode::bad_input,
             "dictionary update sequence has an item of length {}; 2 is "
             "required",
             parts.size());
      }
      set(parts[0], parts[1]);
    }
  }
  for (const auto& [name, value] : arguments.named) set(make_string(heap, name), value);
}

Value call_dict(Runtime& runtime, const Arguments& arguments) {
  DictObject* dict = nullptr;
  const Value result = make_dict(runtime.heap(), dict);
  fill_dict(runtime, arguments, *dict);
  return result;
}

Value call_namespace(Runtime& runtime, const Arguments& arguments) {
  auto* const object = runtime.heap().make<NamespaceObject>();
  fill_dict(runtime, arguments, object->attributes);
  for (const auto& [name, value] : object->attributes.entries()) {
    if (name.is_string() && name.bytes().starts_with('_')) {
      fail(ErrorCode::bad_input,
           "Chat templates cannot store underscore-prefixed attributes on a namespace, but got "
           "'{}'. Please rename the attribute.",
           name.bytes());
    }
  }
  return Value(Kind::name_space, object);
}

class Cycler : public AttributeObject {
 public:
  explicit Cycler(std::vector<Value> items) : items_(std::move(items)) {}

  std::string_view type_name() const override { return "Cycler"; }
  std::optional<Value> attribute(Runtime& runtime, std::string_view name) override {
    if (name == "current") return items_[at_];
    if (name == "items") return make_tuple(runtime.heap(), items_);
    if (name == "pos") return Value::integer(static_cast<int64_t>(at_));
    if (name == "next") {
      return make_function(runtime.heap(), "next", [this](Runtime&, const Arguments&) {
        const Value item = items_[at_];
        at_ = (at_ + 1) % items_.size();
        return item;
      });
    }
    if (name == "reset") {
      return make_function(runtime.heap(), "reset", [this](Runtime&, const Arguments&) {
        at_ = 0;
        return Value::none();
      });
    }
    return std::nullopt;
  }
  Value call(Runtime&, const Arguments&) override {
    fail(ErrorCode::bad_input, "'Cycler' object is not callable");
  }

 private:
  std::vector<Value> items_;
  size_t at_ = 0;
};

Value call_cycler(Runtime& runtime, const Arguments& arguments) {
  if (arguments.positional.empty()) {
    fail(ErrorCode::bad_input, "at least one item has to be provided");
  }
  runtime.heap().charge(arguments.positional.size() * sizeof(Value));
  return Value(Kind::object, runtime.heap().make<Cycler>(arguments.positional));
}

// Nothing at first, then the separator.
Value call_joiner(Runtime& runtime, const Arguments& arguments) {
  const Bound bound("joiner", arguments, {"sep"});
  const Value separator = bound.get(0, make_string(runtime.heap(), ", "));
  return make_function(runtime.heap(), "joiner",
                       [separator, is_used = false](Runtime& r, const Arguments&) mutable {
                         if (std::exchange(is_used, true)) return separator;
                         return make_string(r.heap(), "");
                       });
}

// In Jinja2 random filler text.
Value call_lipsum(Runtime&, const Arguments&) {
  fail(ErrorCode::bad_input,
       "the function 'lipsum' is not supported: a prompt is to be the same every time");
}

Value call_raise_exception(Runtime& runtime, const Arguments& arguments) {
  const Bound bound("raise_exception", arguments, {"message"}, 1);
  fail(ErrorCode::bad_input, "{}", str_text(runtime.heap(), bound[0]).bytes());
}

Value call_strftime_now(Runtime& runtime, const Arguments& arguments) {
  const Bound bound("strftime_now", arguments, {"format"}, 1);
  const Text& format = bound.text(0);
  return make_string(runtime.heap(),
                     Text(format_time(runtime.now(), format.bytes()), format.origin()));
}

struct GlobalFunction {
  std::string_view name;
  Value (*function)(Runtime&, const Arguments&);
};

constexpr GlobalFunction kFunctions[] = {
    {"cycler", call_cycler},       {"dict", call_dict},
    {"joiner", call_joiner},       {"lipsum", call_lipsum},
    {"namespace", call_namespace}, {"raise_exception", call_raise_exception},
    {"range", call_range},         {"strftime_now", call_strftime_now}};

}  // namespace

Value find_global(Heap& heap, std::string_view name) {
  const auto entry = std::ranges::find(kFunctions, name, &GlobalFunction::name);
  if (entry == std::end(kFunctions)) return Value();
  return make_function(heap, std::string(name), entry->function);
}

}  // namespace arion::jinja

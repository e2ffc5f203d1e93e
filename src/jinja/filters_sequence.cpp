// Filters on sequences. What Python makes a generator of is one here, too: evaluated when asked.
#include <algorithm>

#include "base/error.h"
#include "base/utf8.h"
#include "jinja/arguments.h"
#include "jinja/filters.h"
#include "jinja/item_key.h"
#include "jinja/operators.h"
#include "jinja/text_ops.h"

namespace arion::jinja {
namespace {

// What a generator function begins with: nothing is looked at before the first item is asked for.
Iterator lazily(std::function<Iterator()> begin) {
  return [begin = std::move(begin), next = Iterator()]() mutable {
    if (!next) next = begin();
    return next();
  };
}

// Values of `filter` over the items of something that may be undefined or otherwise false: empty.
Value generate(Runtime& runtime, const Value& subject, std::function<Iterator(Iterator)> filter) {
  return make_generator(runtime.heap(), lazily([&runtime, subject, filter]() -> Iterator {
                          if (!truth(subject)) return [] { return std::nullopt; };
                          return filter(iterate(runtime.heap(), subject));
                        }));
}

Test require_test(const Value& name) {
  const Test test = name.is_string() ? find_test(name.bytes()) : nullptr;
  if (test == nullptr) {
    fail(ErrorCode::bad_input, "No test named {}.",
         name.is_string() ? "'" + std::string(name.bytes()) + "'" : "None");
  }
  return test;
}

Arguments behind(const Arguments& arguments, size_t first) {
  Arguments rest;
  rest.named = arguments.named;
  rest.positional.assign(arguments.positional.begin() + static_cast<std::ptrdiff_t>(first),
                         arguments.positional.end());
  return rest;
}

// Whether an item is kept, by a test or by truth.
std::function<bool(const Value&)> predicate(Runtime& runtime, const Arguments& arguments,
                                            size_t first) {
  if (arguments.positional.size() <= first) return truth;
  return [&runtime, test = require_test(arguments.positional[first]),
          rest = behind(arguments, first + 1)](const Value& item) {
    return test(runtime, item, rest);
  };
}

enum class Keep : uint8_t { matching, others };
enum class Look : uint8_t { at_item, at_attribute };

Value select_items(Runtime& runtime, const Value& subject, const Arguments& arguments, Keep keep,
                   Look look) {
  return generate(runtime, subject, [&runtime, arguments, keep, look](Iterator source) {
    const bool has_attribute = look == Look::at_attribute;
    if (has_attribute && arguments.positional.empty()) {
      fail(ErrorCode::bad_input, "Missing parameter for attribute name");
    }
    const ItemKey key(runtime, has_attribute ? arguments.positional[0] : Value());
    return
        [&runtime, source, key, keep,
         matches = predicate(runtime, arguments, has_attribute ? 1 : 0)]() -> std::optional<Value> {
          while (auto item = source()) {
            runtime.heap().spend();
            if (matches(key.of(*item)) == (keep == Keep::matching)) return item;
          }
          return std::nullopt;
        };
  });
}

// `map` by attribute.
Iterator map_attribute(Runtime& runtime, const Arguments& arguments, Iterator source) {
  Value attribute;
  std::optional<Value> fallback;
  for (const auto& [name, value] : arguments.named) {
    if (name == "attribute") {
      attribute = value;
    } else if (name == "default") {
      if (!value.is_none()) fallback = value;
    } else {
      fail(ErrorCode::bad_input, "Unexpected keyword argument '{}'", name);
    }
  }
  return [source,
          key = ItemKey(runtime, attribute, LetterCase::keep, fallback)]() -> std::optional<Value> {
    const auto item = source();
    if (!item) return std::nullopt;
    return key.of(*item);
  };
}

Iterator map_filter(Runtime& runtime, const Arguments& arguments, Iterator source) {
  if (arguments.positional.empty()) fail(ErrorCode::bad_input, "map requires a filter argument");
  const Value& name = arguments.positional[0];
  const Filter filter = name.is_string() ? find_filter(name.bytes()) : nullptr;
  if (filter == nullptr) {
    fail(ErrorCode::bad_input, "No filter named {}.", repr_text(runtime.heap(), name).bytes());
  }
  return [&runtime, source, filter, rest = behind(arguments, 1)]() -> std::optional<Value> {
    const auto item = source();
    if (!item) return std::nullopt;
    return filter(runtime, *item, rest);
  };
}

Value without_items(Runtime& runtime, const char* which) {
  return make_undefined(runtime.heap(), std::string("No ") + which + " item, sequence was empty.");
}

Value reversed_string(Runtime& runtime, const Value& string) {
  const Text& text = string.text();
  Text out;
  for (size_t end = text.size(); end > 0;) {
    const size_t begin = previous(text.bytes(), end);
    out.append(text, begin, end);
    end = begin;
  }
  return string.as_string().is_markup ? make_markup(runtime.heap(), std::move(out))
                                      : make_string(runtime.heap(), std::move(out));
}

}  // namespace

Value filter_batch(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const Bound bound("batch", arguments, {"linecount", "fill_with"}, 1);
  return make_generator(
      runtime.heap(), lazily([&runtime, subject, count = bound[0], fill = bound.given(1)] {
        return [&runtime, source = iterate(runtime.heap(), subject), count, fill,
                pending = std::optional<Value>(),
                is_done = false]() mutable -> std::optional<Value> {
          Heap& heap = runtime.heap();
          std::vector<Value> batch;
          if (pending) batch.push_back(*std::exchange(pending, std::nullopt));
          while (!is_done) {
            const auto item = source();
            heap.spend();
            if (!item) {
              is_done = true;
            } else if (equals(heap, count, Value::integer(static_cast<int64_t>(batch.size())))) {
              pending = item;
              return make_list(heap, std::move(batch));
            } else {
              heap.charge(sizeof(Value));
              batch.push_back(*item);
            }
          }
          if (batch.empty()) return std::nullopt;
          if (fill) {
            const int64_t missing =
                to_index(count, "linecount") - static_cast<int64_t>(batch.size());
            const Value filler =
                apply(heap, BinaryOp::multiply, make_list(heap, {*fill}), Value::integer(missing));
            batch.insert(batch.end(), filler.items().begin(), filler.items().end());
          }
          return make_list(heap, std::move(batch));
        };
      }));
}

Value filter_first(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  Bound("first", arguments, {});
  const auto item = iterate(runtime.heap(), subject)();
  return item ? *item : without_items(runtime, "first");
}

Value filter_last(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  Bound("last", arguments, {});
  if (!find_length(subject)) {
    fail(ErrorCode::bad_input, "'{}' object is not reversible", type_name(subject));
  }
  if (length(subject) == 0) return without_items(runtime, "last");
  if (subject.is_string()) {
    const size_t begin = previous(subject.bytes(), subject.text().size());
    return make_string(runtime.heap(), subject.text().substr(begin, subject.text().size()));
  }
  return collect(runtime.heap(), subject).back();
}

Value filter_items(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  Bound("items", arguments, {});
  return make_generator(
      runtime.heap(), lazily([&runtime, subject]() -> Iterator {
        if (subject.is_undefined()) return [] { return std::nullopt; };
        if (!subject.is_dict()) {
          fail(ErrorCode::bad_input, "Can only get item pairs from a mapping.");
        }
        Heap& heap = runtime.heap();
        return iterate(heap, Value(Kind::view, heap.make<ViewObject>(subject, ViewOf::items)));
      }));
}

Value filter_join(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const Bound bound("join", arguments, {"d", "attribute"});
  Heap& heap = runtime.heap();
  const Text separator = bound.has(0) ? str_text(heap, bound[0]) : Text();
  const ItemKey key(runtime, bound[1]);
  Text out;
  const Iterator next = iterate(heap, subject);
  for (bool is_first = true;; is_first = false) {
    const auto item = next();
    if (!item) break;
    heap.spend();
    heap.charge(separator.size());
    if (!is_first) out.append(separator);
    append_str(heap, out, key.of(*item));
    if (out.size() > heap.limits().output_bytes) {
      fail(ErrorCode::bad_input, "joined text is longer than {} bytes", heap.limits().output_bytes);
    }
  }
  return make_string(heap, std::move(out));
}

Value filter_list(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  Bound("list", arguments, {});
  return make_list(runtime.heap(), collect(runtime.heap(), subject));
}

Value filter_map(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  return generate(runtime, subject, [&runtime, arguments](Iterator source) {
    const bool by_attribute =
        arguments.positional.empty() &&
        std::ranges::count(arguments.named, "attribute", &std::pair<std::string, Value>::first) > 0;
    return by_attribute ? map_attribute(runtime, arguments, std::move(source))
                        : map_filter(runtime, arguments, std::move(source));
  });
}

Value filter_select(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  return select_items(runtime, subject, arguments, Keep::matching, Look::at_item);
}

// In Jinja2 a random item.
Value filter_random(Runtime&, const Value&, const Arguments&) {
  fail(ErrorCode::bad_input,
       "the filter 'random' is not supported: a prompt is to be the same every time");
}

Value filter_reject(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  return select_items(runtime, subject, arguments, Keep::others, Look::at_item);
}

Value filter_selectattr(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  return select_items(runtime, subject, arguments, Keep::matching, Look::at_attribute);
}

Value filter_rejectattr(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  return select_items(runtime, subject, arguments, Keep::others, Look::at_attribute);
}

Value filter_reverse(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  Bound("reverse", arguments, {});
  Heap& heap = runtime.heap();
  if (subject.is_string()) return reversed_string(runtime, subject);
  if (!is_iterable(subject)) fail(ErrorCode::bad_input, "argument must be iterable");
  std::vector<Value> items = collect(heap, subject);
  std::reverse(items.begin(), items.end());
  const Value list = make_list(heap, std::move(items));
  if (subject.is(Kind::generator)) return list;
  const char* const type = subject.is(Kind::list) ? "list_reverseiterator" : "reversed";
  return make_generator(heap, iterate(heap, list), type);
}

Value filter_slice(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const Bound bound("slice", arguments, {"slices", "fill_with"}, 1);
  return make_generator(
      runtime.heap(),
      lazily([&runtime, subject, given = bound[0], fill = bound.given(1)]() -> Iterator {
        const std::vector<Value> items = collect(runtime.heap(), subject);
        const int64_t slices = to_index(given, "slices");
        if (slices == 0) fail(ErrorCode::bad_input, "integer division or modulo by zero");
        const int64_t size = static_cast<int64_t>(items.size());
        const int64_t each = slices > 0 ? size / slices : 0;
        const int64_t with_extra = slices > 0 ? size % slices : 0;
        return [&runtime, items, slices, each, with_extra, fill, number = int64_t{0},
                at = int64_t{0}]() mutable -> std::optional<Value> {
          if (number >= slices) return std::nullopt;
          runtime.heap().spend();
          const bool has_extra = number++ < with_extra;
          const int64_t end = at + each + (has_extra ? 1 : 0);
          std::vector<Value> part(items.begin() + at, items.begin() + end);
          if (fill && !has_extra) part.push_back(*fill);
          at = end;
          return make_list(runtime.heap(), std::move(part));
        };
      }));
}

Value filter_sum(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const Bound bound("sum", arguments, {"attribute", "start"});
  Heap& heap = runtime.heap();
  const ItemKey key(runtime, bound[0]);
  Value sum = bound.get(1, Value::integer(0));
  if (sum.is_string()) {
    fail(ErrorCode::bad_input, "sum() can't sum strings [use ''.join(seq) instead]");
  }
  const Iterator next = iterate(heap, subject);
  while (const auto item = next()) {
    heap.spend();
    sum = apply(heap, BinaryOp::add, sum, key.of(*item));
  }
  return sum;
}

}  // namespace arion::jinja

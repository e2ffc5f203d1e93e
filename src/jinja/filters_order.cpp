// Filters that sort, compare and group.
#include <algorithm>

#include "base/error.h"
#include "jinja/arguments.h"
#include "jinja/filters.h"
#include "jinja/item_key.h"
#include "jinja/operators.h"

namespace arion::jinja {
namespace {

LetterCase letter_case(const Bound& bound, size_t i) {
  return bound.flag(i, false) ? LetterCase::keep : LetterCase::ignore;
}

struct Keyed {
  Value key, item;
};

template <typename Key>
std::vector<Keyed> with_keys(Runtime& runtime, const Value& subject, const Key& key) {
  std::vector<Keyed> items;
  for (const Value& item : collect(runtime.heap(), subject)) {
    runtime.heap().charge(sizeof(Keyed));
    items.push_back({key.of(item), item});
  }
  return items;
}

// Equal items keep their order, in descending order too.
void sort_by_key(Heap& heap, std::vector<Keyed>& items, bool is_descending) {
  std::stable_sort(items.begin(), items.end(), [&](const Keyed& a, const Keyed& b) {
    return is_descending ? is_ordered(heap, Order::less, b.key, a.key)
                         : is_ordered(heap, Order::less, a.key, b.key);
  });
}

std::vector<Value> without_keys(const std::vector<Keyed>& items) {
  std::vector<Value> values;
  values.reserve(items.size());
  for (const Keyed& keyed : items) values.push_back(keyed.item);
  return values;
}

// The first item that no other beats.
Value best(Runtime& runtime, const Value& subject, const Arguments& arguments, Order order) {
  const Bound bound("min", arguments, {"case_sensitive", "attribute"});
  const ItemKey key(runtime, bound[1], letter_case(bound, 0));
  const std::vector<Keyed> items = with_keys(runtime, subject, key);
  if (items.empty()) {
    return make_undefined(runtime.heap(), "No aggregated item, sequence was empty.");
  }
  const Keyed* found = &items[0];
  for (size_t i = 1; i < items.size(); ++i) {
    if (is_ordered(runtime.heap(), order, items[i].key, found->key)) found = &items[i];
  }
  return found->item;
}

}  // namespace

Value filter_max(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  return best(runtime, subject, arguments, Order::greater);
}

Value filter_min(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  return best(runtime, subject, arguments, Order::less);
}

Value filter_sort(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const Bound bound("sort", arguments, {"reverse", "case_sensitive", "attribute"});
  const ItemKeys key(runtime, bound[2], letter_case(bound, 1));
  std::vector<Keyed> items = with_keys(runtime, subject, key);
  sort_by_key(runtime.heap(), items, bound.flag(0, false));
  return make_list(runtime.heap(), without_keys(items));
}

Value filter_dictsort(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const Bound bound("dictsort", arguments, {"case_sensitive", "by", "reverse"});
  Heap& heap = runtime.heap();
  const std::string_view by = bound.has(1) ? bound.text(1).bytes() : "key";
  if (by != "key" && by != "value") {
    fail(ErrorCode::bad_input, "You can only sort by either \"key\" or \"value\"");
  }
  if (!subject.is_dict()) {
    if (subject.is_undefined()) fail(ErrorCode::bad_input, "{}", subject.as_undefined().message());
    fail(ErrorCode::bad_input, "'{}' object has no attribute 'items'", type_name(subject));
  }
  const Value pairs(Kind::view, heap.make<ViewObject>(subject, ViewOf::items));
  const ItemKey key(runtime, Value::integer(by == "key" ? 0 : 1), letter_case(bound, 0));
  std::vector<Keyed> items = with_keys(runtime, pairs, key);
  sort_by_key(heap, items, bound.flag(2, false));
  return make_list(heap, without_keys(items));
}

Value filter_groupby(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const Bound bound("groupby", arguments, {"attribute", "default", "case_sensitive"}, 1);
  Heap& heap = runtime.heap();
  const ItemKey key(runtime, bound[0], letter_case(bound, 2), bound.given(1));
  std::vector<Keyed> items = with_keys(runtime, subject, key);
  sort_by_key(heap, items, false);
  // Groups are named as the first item spells it.
  const ItemKey spelled(runtime, bound[0], LetterCase::keep, bound.given(1));
  std::vector<Value> groups;
  for (size_t begin = 0; begin < items.size();) {
    size_t end = begin + 1;
    while (end < items.size() && equals(heap, items[end].key, items[begin].key)) ++end;
    std::vector<Value> members;
    for (size_t i = begin; i < end; ++i) members.push_back(items[i].item);
    heap.charge(sizeof(ListObject));
    auto* const group = heap.make<ListObject>();
    group->items = {spelled.of(items[begin].item), make_list(heap, std::move(members))};
    group->is_group = true;
    groups.push_back(Value(Kind::tuple, group));
    begin = end;
  }
  return make_list(heap, std::move(groups));
}

Value filter_unique(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const Bound bound("unique", arguments, {"case_sensitive", "attribute"});
  Heap& heap = runtime.heap();
  return make_generator(
      heap,
      [&heap, key = ItemKey(runtime, bound[1], letter_case(bound, 0)), subject, source = Iterator(),
       seen = heap.make<DictObject>()]() mutable -> std::optional<Value> {
        if (!source) source = iterate(heap, subject);
        while (const auto item = source()) {
          heap.spend();
          const Value name = key.of(*item);
          spend_for_key(heap, name);
          if (seen->find(name) != nullptr) continue;
          heap.charge(sizeof(DictObject::Entry) * 2);
          seen->set(name, Value::none());
          return item;
        }
        return std::nullopt;
      });
}

}  // namespace arion::jinja

#include "jinja/loop.h"

#include "base/error.h"
#include "jinja/arguments.h"
#include "jinja/operators.h"

namespace arion::jinja {

std::optional<Value> LoopObject::advance() {
  std::optional<Value> item = has_peeked_ ? std::exchange(after_, std::nullopt) : next_();
  has_peeked_ = false;
  if (!item) return std::nullopt;
  ++index0_;
  before_ = current_;
  current_ = *item;
  return item;
}

const std::optional<Value>& LoopObject::peek() {
  if (!has_peeked_) {
    after_ = next_();
    has_peeked_ = true;
  }
  return after_;
}

int64_t LoopObject::length(Runtime& runtime) {
  if (length_) return *length_;
  if (!iterable_.is_missing()) length_ = find_length(iterable_);
  if (length_) return *length_;
  // Count what is left, and keep it for the rest of the loop.
  std::vector<Value> rest;
  while (const auto item = next_()) {
    runtime.heap().spend();
    rest.push_back(*item);
  }
  length_ = static_cast<int64_t>(rest.size()) + index0_ + 1 + (has_peeked_ && after_ ? 1 : 0);
  next_ = iterate(runtime.heap(), make_list(runtime.heap(), std::move(rest)));
  return *length_;
}

std::optional<Value> LoopObject::attribute(Runtime& runtime, std::string_view name) {
  Heap& heap = runtime.heap();
  if (name == "index0") return Value::integer(index0_);
  if (name == "index") return Value::integer(index0_ + 1);
  if (name == "first") return Value::boolean(index0_ == 0);
  if (name == "last") return Value::boolean(!peek());
  if (name == "length") return Value::integer(length(runtime));
  if (name == "revindex0") return Value::integer(length(runtime) - index0_ - 1);
  if (name == "revindex") return Value::integer(length(runtime) - index0_);
  if (name == "depth0") return Value::integer(depth0_);
  if (name == "depth") return Value::integer(depth0_ + 1);
  if (name == "previtem") {
    return index0_ == 0 ? make_undefined(heap, "there is no previous item") : before_;
  }
  if (name == "nextitem") {
    return peek() ? *peek() : make_undefined(heap, "there is no next item");
  }
  if (name == "cycle") {
    return make_function(heap, "cycle", [this](Runtime&, const Arguments& arguments) {
      if (arguments.positional.empty() || !arguments.named.empty()) {
        fail(ErrorCode::bad_input, "no items for cycling given");
      }
      const size_t index = static_cast<size_t>(index0_) % arguments.positional.size();
      return arguments.positional[index];
    });
  }
  if (name == "changed") {
    return make_function(heap, "changed", [this](Runtime& r, const Arguments& arguments) {
      const Value now = make_tuple(r.heap(), arguments.positional);
      if (last_changed_ && equals(r.heap(), *last_changed_, now)) return Value::boolean(false);
      last_changed_ = now;
      return Value::boolean(true);
    });
  }
  return std::nullopt;
}

Value LoopObject::call(Runtime&, const Arguments& arguments) {
  const Bound bound("loop", arguments, {"iterable"}, 1);
  if (!recurse_) {
    fail(ErrorCode::bad_input,
         "The loop must have the 'recursive' marker to be called recursively.");
  }
  return recurse_(bound[0], depth0_ + 1);
}

}  // namespace arion::jinja

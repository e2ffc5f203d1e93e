// The variable `loop`.
#pragma once
#include <functional>

#include "jinja/runtime.h"
#include "jinja/value.h"

namespace arion::jinja {

class LoopObject : public AttributeObject {
 public:
  // Renders a recursive loop over other items, one level deeper.
  using Recurse = std::function<Value(const Value& iterable, int64_t depth0)>;

  // `iterable` is missing where a test filters it: the length is then counted.
  LoopObject(Iterator next, Value iterable, int64_t depth0, Recurse recurse)
      : next_(std::move(next)),
        iterable_(iterable),
        depth0_(depth0),
        recurse_(std::move(recurse)) {}

  std::optional<Value> advance();

  std::string_view type_name() const override { return "LoopContext"; }
  std::optional<Value> attribute(Runtime& runtime, std::string_view name) override;
  Value call(Runtime& runtime, const Arguments& arguments) override;

 private:
  int64_t length(Runtime& runtime);
  const std::optional<Value>& peek();

  Iterator next_;
  Value iterable_;
  int64_t depth0_;
  Recurse recurse_;  // empty: not recursive
  int64_t index0_ = -1;
  std::optional<int64_t> length_;
  Value before_, current_;
  bool has_peeked_ = false;
  std::optional<Value> after_;  // once peeked
  std::optional<Value> last_changed_;
};

}  // namespace arion::jinja

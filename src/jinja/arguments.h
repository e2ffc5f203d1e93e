// Binding of call arguments to parameters, as Python functions do it.
#pragma once
#include <array>
#include <initializer_list>
#include <string_view>

#include "jinja/value.h"

namespace arion::jinja {

class Bound {
 public:
  static constexpr size_t kMaxParameters = 8;

  // `names` are the parameters, the first `required` of which must be given. Throws Error for
  // missing, unknown, surplus and doubled arguments.
  Bound(std::string_view function, const Arguments& arguments,
        std::initializer_list<std::string_view> names, size_t required = 0);

  bool has(size_t i) const { return !values_[i].is_missing(); }
  const Value& operator[](size_t i) const { return values_[i]; }
  Value get(size_t i, const Value& fallback) const { return has(i) ? values_[i] : fallback; }
  // Nothing where the argument is absent or None.
  std::optional<Value> given(size_t i) const;
  std::optional<int64_t> integer(size_t i) const;
  bool flag(size_t i, bool fallback) const;  // by truth
  const Text& text(size_t i) const;          // throws Error unless it is a string

 private:
  std::string_view function_;
  std::array<std::string_view, kMaxParameters> names_;
  std::array<Value, kMaxParameters> values_;
};

}  // namespace arion::jinja

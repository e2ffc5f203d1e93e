#include "jinja/arguments.h"

#include <algorithm>

#include "base/check.h"
#include "base/error.h"
#include "jinja/operators.h"

namespace arion::jinja {

Bound::Bound(std::string_view function, const Arguments& arguments,
             std::initializer_list<std::string_view> names, size_t required)
    : function_(function) {
  CHECK(names.size() <= kMaxParameters);
  std::copy(names.begin(), names.end(), names_.begin());
  if (arguments.positional.size() > names.size()) {
    fail(ErrorCode::bad_input, "{}() takes at most {} arguments ({} given)", function, names.size(),
         arguments.positional.size());
  }
  std::copy(arguments.positional.begin(), arguments.positional.end(), values_.begin());
  for (const auto& [name, value] : arguments.named) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      fail(ErrorCode::bad_input, "{}() got an unexpected keyword argument '{}'", function, name);
    }
    Value& target = values_[static_cast<size_t>(found - names.begin())];
    if (!target.is_missing()) {
      fail(ErrorCode::bad_input, "{}() got multiple values for argument '{}'", function, name);
    }
    target = value;
  }
  for (size_t i = 0; i < required; ++i) {
    if (!has(i)) {
      fail(ErrorCode::bad_input, "{}() missing a required argument: '{}'", function, names_[i]);
    }
  }
}

std::optional<Value> Bound::given(size_t i) const {
  if (!has(i) || values_[i].is_none()) return std::nullopt;
  return values_[i];
}

std::optional<int64_t> Bound::integer(size_t i) const {
  if (!given(i)) return std::nullopt;
  return to_index(values_[i], names_[i]);
}

bool Bound::flag(size_t i, bool fallback) const {
  return has(i) ? truth(values_[i]) : fallback;
}

const Text& Bound::text(size_t i) const {
  if (!values_[i].is_string()) {
    fail(ErrorCode::bad_input, "{}() argument '{}' must be str, not {}", function_, names_[i],
         type_name(values_[i]));
  }
  return values_[i].text();
}

}  // namespace arion::jinja

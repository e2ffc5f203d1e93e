// The attribute that a filter such as `sort` or `map` looks at.
#pragma once
#include <optional>
#include <vector>

#include "jinja/runtime.h"
#include "jinja/value.h"

namespace arion::jinja {

enum class LetterCase : uint8_t { keep, ignore };

// "a.b.0" follows attributes and items; None or missing: the item itself.
class ItemKey {
 public:
  ItemKey(Runtime& runtime, const Value& attribute, LetterCase letter_case = LetterCase::keep,
          std::optional<Value> fallback = {});
  Value of(const Value& item) const;

 private:
  Runtime& runtime_;
  std::vector<Value> parts_;
  LetterCase letter_case_;
  std::optional<Value> fallback_;  // for what is undefined
};

// "a,b": a list of keys, as `sort` takes it.
class ItemKeys {
 public:
  ItemKeys(Runtime& runtime, const Value& attributes, LetterCase letter_case);
  Value of(const Value& item) const;

 private:
  Runtime& runtime_;
  std::vector<ItemKey> keys_;
};

}  // namespace arion::jinja

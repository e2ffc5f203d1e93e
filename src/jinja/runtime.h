// What built-in functions, filters and tests may ask of the rendering they run in.
#pragma once
#include <ctime>
#include <optional>
#include <string_view>

#include "jinja/value.h"

namespace arion::jinja {

// A moment as the clock on the wall shows it.
struct LocalTime {
  std::tm fields{};
  int microsecond = 0;
};

class Runtime {
 public:
  virtual ~Runtime() = default;
  virtual Heap& heap() = 0;
  virtual Value call(const Value& callee, const Arguments& arguments) = 0;
  virtual LocalTime now() const = 0;
};

}  // namespace arion::jinja

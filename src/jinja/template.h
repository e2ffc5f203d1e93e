// Templates of the Jinja language, as transformers configures it for chat prompts.
#pragma once
#include <memory>
#include <optional>
#include <string_view>

#include "jinja/heap.h"
#include "jinja/runtime.h"
#include "jinja/text.h"
#include "jinja/value.h"

namespace arion::jinja {

struct Tree;

struct RenderOptions {
  Limits limits;
  std::optional<LocalTime> now;  // of strftime_now; default: the clock
};

// Equal to Python's Jinja2 3.1 with an immutable sandbox, trim_blocks, lstrip_blocks, loop controls
// and {% generation %}; tojson is json.dumps without HTML escapes; globals raise_exception and
// strftime_now. Immutable: thread-safe.
class Template {
 public:
  // Any bytes; throws Error{bad_input} naming line and column.
  explicit Template(std::string_view source);
  ~Template();
  Template(Template&&) noexcept;
  Template& operator=(Template&&) noexcept;

  // `variables` is a dict of a heap that outlives the call; it is not changed, but generators in it
  // are used up. The text says of every byte whether it came from template or input. Throws
  // Error{bad_input} naming line and column.
  Text render(const Value& variables, const RenderOptions& options = {}) const;

 private:
  std::unique_ptr<Heap> constants_;
  std::unique_ptr<const Tree> tree_;
};

LocalTime local_time_now();

}  // namespace arion::jinja

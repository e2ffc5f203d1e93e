#include "jinja/template.h"

#include <chrono>

#include "base/error.h"
#include "base/utf8.h"
#include "jinja/interpreter.h"
#include "jinja/parser.h"

namespace arion::jinja {
namespace {

// The largest template seen has 15 KB.
constexpr size_t kMaxTemplateBytes = size_t{1} << 20;

}  // namespace

Template::Template(std::string_view source) : constants_(std::make_unique<Heap>()) {
  if (source.size() > kMaxTemplateBytes) {
    fail(ErrorCode::bad_input, "the template has {} bytes, at most {} are supported", source.size(),
         kMaxTemplateBytes);
  }
  tree_ = std::make_unique<const Tree>(parse_template(repair_utf8(source), *constants_));
}

Template::~Template() = default;
Template::Template(Template&&) noexcept = default;
Template& Template::operator=(Template&&) noexcept = default;

Text Template::render(const Value& variables, const RenderOptions& options) const {
  const LocalTime now = options.now ? *options.now : local_time_now();
  return Interpreter(*tree_, variables, options.limits, now).run();
}

LocalTime local_time_now() {
  using namespace std::chrono;
  const auto since_epoch = system_clock::now().time_since_epoch();
  const std::time_t seconds = system_clock::to_time_t(system_clock::now());
  LocalTime now;
  localtime_r(&seconds, &now.fields);
  now.microsecond = static_cast<int>(duration_cast<microseconds>(since_epoch).count() % 1'000'000);
  return now;
}

}  // namespace arion::jinja

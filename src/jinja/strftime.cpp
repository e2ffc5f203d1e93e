#include "jinja/strftime.h"

#include <fmt/format.h>
#include <locale.h>
#include <time.h>

#include <memory>

#include "base/error.h"

namespace arion::jinja {
namespace {

constexpr size_t kMaxFormatBytes = 1000;

// One directive by the C library, which knows flags and letters of its own ("%-d", "%e").
std::string format_directive(const std::tm& fields, const std::string& directive) {
  const std::unique_ptr<std::remove_pointer_t<locale_t>, decltype(&freelocale)> locale(
      newlocale(LC_ALL_MASK, "C", nullptr), &freelocale);
  char buffer[256];
  const size_t length = strftime_l(buffer, sizeof buffer, directive.c_str(), &fields, locale.get());
  return std::string(buffer, length);
}

bool is_flag(char c) {
  return c == '-' || c == '_' || c == '0' || c == '^' || c == '#';
}

}  // namespace

std::string format_time(const LocalTime& time, std::string_view format) {
  if (format.size() > kMaxFormatBytes) {
    fail(ErrorCode::bad_input, "time format of {} bytes is too long", format.size());
  }
  std::string out;
  for (size_t at = 0; at < format.size();) {
    if (format[at] != '%' || at + 1 == format.size()) {
      out += format[at++];
      continue;
    }
    size_t end = at + 1;
    while (end + 1 < format.size() && is_flag(format[end])) ++end;
    const char letter = format[end++];
    if (letter == 'f') {
      out += fmt::format("{:06}", time.microsecond);
    } else if (letter != 'z' && letter != 'Z') {
      out += format_directive(time.fields, std::string(format.substr(at, end - at)));
    }
    at = end;
  }
  return out;
}

}  // namespace arion::jinja

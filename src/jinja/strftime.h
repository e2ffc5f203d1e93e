// Python's strftime in the C locale.
#pragma once
#include <string>
#include <string_view>

#include "jinja/runtime.h"

namespace arion::jinja {

// A time without a zone: %Z and %z are empty. Throws Error for a format over 1,000 bytes.
std::string format_time(const LocalTime& time, std::string_view format);

}  // namespace arion::jinja

#include "server/http/http_message.h"

#include <algorithm>

namespace arion {

std::string_view HttpRequest::header(std::string_view name) const {
  const auto found =
      std::ranges::find_if(headers, [&](const auto& entry) { return entry.first == name; });
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace arion

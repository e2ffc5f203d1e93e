// nlohmann's parser with a callback that watches depth and keys.
#include "io/json_text.h"

#include <set>
#include <vector>

#include "base/error.h"
#include "io/gguf_metadata.h"

namespace arion {

using nlohmann::json;

json parse_json(std::string_view text, const std::string& name) {
  constexpr int kMaxDepth = 64;
  std::vector<std::set<std::string>> keys(kMaxDepth + 2);  // seen in the open object of each depth
  const auto watch = [&](int depth, json::parse_event_t event, json& value) {
    if (depth > kMaxDepth) {
      fail(ErrorCode::bad_input, "{}: values are nested more than {} deep", name, kMaxDepth);
    }
    const auto level = static_cast<size_t>(depth);
    if (event == json::parse_event_t::object_start) keys[level + 1].clear();
    if (event == json::parse_event_t::key &&
        !keys[level].insert(value.get_ref<const std::string&>()).second) {
      fail(ErrorCode::bad_input, "{}: key {} occurs twice", name,
           printable(value.get_ref<const std::string&>()));
    }
    return true;
  };
  try {
    return json::parse(text, watch);
  } catch (const json::parse_error& error) {
    fail(ErrorCode::bad_input, "{}: not valid JSON at byte {}{}", name, error.byte,
         error.byte > text.size() ? ", its end; the file may be truncated" : "");
  } catch (const json::exception&) {
    fail(ErrorCode::bad_input, "{}: not valid JSON: a number is out of range", name);
  }
}

}  // namespace arion

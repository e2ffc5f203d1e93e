#include "api/fields.h"

#include <cmath>
#include <limits>

#include "api/api_error.h"

namespace arion {
namespace {

using nlohmann::json;

constexpr size_t kMaxShown = 40;  // bytes of a value in a message

std::optional<int64_t> to_integer(const json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
    return static_cast<int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const double number = value.get<double>();
  // Doubles hold integers exactly up to 2^53.
  if (std::trunc(number) != number || std::abs(number) > 0x1p53) return std::nullopt;
  return static_cast<int64_t>(number);
}

}  // namespace

std::string describe_json(const json& value) {
  if (value.is_structured()) return value.is_array() ? "a list" : "an object";
  if (value.is_string() && value.get_ref<const std::string&>().size() > kMaxShown) {
    return "a long string";
  }
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

const json* Fields::find(const char* name) const {
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

std::optional<int64_t> Fields::integer(const char* name, int64_t low, int64_t high) const {
  const json* value = find(name);
  if (value == nullptr) return std::nullopt;
  const std::optional<int64_t> number = to_integer(*value);
  if (!number || *number < low || *number > high) {
    refuse(full_name(name), "{} is {}, expected a whole number from {} to {}", full_name(name),
           describe_json(*value), low, high);
  }
  return number;
}

std::optional<double> Fields::number(const char* name, double low, double high) const {
  const json* value = find(name);
  if (value == nullptr) return std::nullopt;
  const double number =
      value->is_number() ? value->get<double>() : std::numeric_limits<double>::quiet_NaN();
  if (!(number >= low && number <= high)) {
    refuse(full_name(name), "{} is {}, expected a number from {} to {}", full_name(name),
           describe_json(*value), low, high);
  }
  return number;
}

std::optional<bool> Fields::flag(const char* name) const {
  const json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) {
    refuse(full_name(name), "{} is {}, expected true or false", full_name(name),
           describe_json(*value));
  }
  return value->get<bool>();
}

std::optional<std::string> Fields::text(const char* name) const {
  const json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) {
    refuse(full_name(name), "{} is {}, expected a string", full_name(name), describe_json(*value));
  }
  return value->get<std::string>();
}

std::vector<std::string> Fields::texts(const char* name, size_t limit) const {
  const json* value = find(name);
  if (value == nullptr) return {};
  if (value->is_string()) return {value->get<std::string>()};
  if (!value->is_array()) {
    refuse(full_name(name), "{} is {}, expected a string or a list of strings", full_name(name),
           describe_json(*value));
  }
  if (value->size() > limit) {
    refuse(full_name(name), "{} has {} strings, expected at most {}", full_name(name),
           value->size(), limit);
  }
  std::vector<std::string> texts;
  for (const json& item : *value) {
    if (!item.is_string()) {
      refuse(full_name(name), "{} contains {}, expected strings", full_name(name),
             describe_json(item));
    }
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

std::vector<int32_t> Fields::token_ids(const char* name, size_t limit) const {
  const json* value = find(name);
  if (value == nullptr) return {};
  if (!value->is_array() || value->size() > limit) {
    refuse(full_name(name), "{} is {}, expected a list of at most {} token ids", full_name(name),
           describe_json(*value), limit);
  }
  std::vector<int32_t> ids;
  ids.reserve(value->size());
  for (const json& item : *value) ids.push_back(to_token_id(item, full_name(name)));
  return ids;
}

std::optional<Fields> Fields::object(const char* name) const {
  const json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) {
    refuse(full_name(name), "{} is {}, expected an object", full_name(name), describe_json(*value));
  }
  return Fields(*value, full_name(name) + ".");
}

void Fields::refuse_unsupported(const char* name) const {
  const json* value = find(name);
  if (value == nullptr || *value == false) return;
  refuse(full_name(name), "{} is not supported by this server", full_name(name));
}

int32_t to_token_id(const json& value, std::string_view param) {
  const std::optional<int64_t> id = to_integer(value);
  if (!id || *id < 0 || *id > std::numeric_limits<int32_t>::max()) {
    refuse(param, "{} contains {}, expected token ids", param, describe_json(value));
  }
  return static_cast<int32_t>(*id);
}

}  // namespace arion

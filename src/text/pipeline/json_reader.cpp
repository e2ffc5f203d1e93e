// A thin layer over simdjson, which checks UTF-8, limits nesting and keeps the document flat.
#include "text/pipeline/json_reader.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace arion {
namespace {

// Larger files than any tokenizer (about 35 MB) are refused before memory is taken.
constexpr size_t kMaxBytes = 256u << 20;
constexpr size_t kMaxDepth = 64;

std::string_view type_name(JsonElement element) {
  using simdjson::dom::element_type;
  switch (element.type()) {
    case element_type::ARRAY:
      return "an array";
    case element_type::OBJECT:
      return "an object";
    case element_type::STRING:
      return "a string";
    case element_type::BOOL:
      return "true or false";
    case element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

[[noreturn]] void fail_type(std::string_view where, JsonElement got, std::string_view expected) {
  fail(ErrorCode::bad_input, "{} is {}, expected {}", where, type_name(got), expected);
}

std::string join(const std::string& where, std::string_view key) {
  return where + (where.find(": ") == std::string::npos ? ": " : ".") +
         std::string(key.substr(0, 80));
}

// Python writes integers of any size, such as 10^30 for "no limit"; simdjson reads 64 bits. An
// exponent makes long ones floating-point numbers. Nothing outside strings but numbers has digits.
std::string with_short_integers(std::string_view text) {
  constexpr size_t kMostDigits = 18;
  constexpr std::string_view kDigits = "0123456789";
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      size_t end = at + 1;
      while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, text.size());
      out += text.substr(at, end - at);
      at = end;
      continue;
    }
    const size_t end = std::min(text.find_first_not_of(kDigits, at), text.size());
    if (end == at) {
      out += text[at++];
      continue;
    }
    const bool is_fraction =
        !out.empty() && std::string_view(".eE+").find(out.back()) != std::string_view::npos;
    const bool goes_on =
        end < text.size() && std::string_view(".eE").find(text[end]) != std::string_view::npos;
    out += text.substr(at, end - at);
    if (end - at > kMostDigits && !is_fraction && !goes_on) out += "e0";
    at = end;
  }
  return out;
}

}  // namespace

std::string_view json_string(JsonElement element, std::string_view where) {
  std::string_view value;
  if (element.get(value) != simdjson::SUCCESS) fail_type(where, element, "a string");
  return value;
}

uint64_t json_integer(JsonElement element, uint64_t most, std::string_view where) {
  uint64_t value = 0;
  if (element.get(value) != simdjson::SUCCESS || value > most) {
    fail(ErrorCode::bad_input, "{} is {}, expected a whole number from 0 to {}", where,
         element.is_number() ? "out of range" : type_name(element), most);
  }
  return value;
}

double json_number(JsonElement element, std::string_view where) {
  double value = 0;
  if (element.get(value) != simdjson::SUCCESS) fail_type(where, element, "a number");
  return value;
}

JsonArray json_array(JsonElement element, std::string_view where) {
  JsonArray value;
  if (element.get(value) != simdjson::SUCCESS) fail_type(where, element, "an array");
  return value;
}

JsonObject::JsonObject(JsonElement element, std::string where) : where_(std::move(where)) {
  if (element.get(object_) != simdjson::SUCCESS) fail_type(where_, element, "an object");
}

std::optional<JsonElement> JsonObject::find(std::string_view key) const {
  JsonElement value;
  if (object_.at_key(key).get(value) != simdjson::SUCCESS || value.is_null()) return std::nullopt;
  return value;
}

JsonElement JsonObject::require(std::string_view key) const {
  if (const auto value = find(key)) return *value;
  fail(ErrorCode::bad_input, "{} is missing", join(where_, key));
}

JsonObject JsonObject::object(std::string_view key) const {
  return JsonObject(require(key), join(where_, key));
}

JsonArray JsonObject::array(std::string_view key) const {
  return json_array(require(key), join(where_, key));
}

std::string_view JsonObject::string(std::string_view key) const {
  return json_string(require(key), join(where_, key));
}

std::optional<std::string_view> JsonObject::find_string(std::string_view key) const {
  const auto value = find(key);
  return value ? std::optional(json_string(*value, join(where_, key))) : std::nullopt;
}

bool JsonObject::boolean(std::string_view key, bool if_missing) const {
  const auto element = find(key);
  if (!element) return if_missing;
  bool value = false;
  if (element->get(value) != simdjson::SUCCESS) {
    fail_type(join(where_, key), *element, "true or false");
  }
  return value;
}

std::optional<uint64_t> JsonObject::find_integer(std::string_view key, uint64_t most) const {
  const auto value = find(key);
  return value ? std::optional(json_integer(*value, most, join(where_, key))) : std::nullopt;
}

uint64_t JsonObject::integer(std::string_view key, uint64_t most) const {
  return json_integer(require(key), most, join(where_, key));
}

JsonDocument::JsonDocument(std::string_view text, const std::string& name)
    : parser_(kMaxBytes), name_(name) {
  if (text.size() >= kMaxBytes) {
    fail(ErrorCode::bad_input, "{}: has {} bytes, at most {} are supported", name, text.size(),
         kMaxBytes);
  }
  auto error = parser_.allocate(text.size(), kMaxDepth);
  if (error == simdjson::SUCCESS) error = parser_.parse(text.data(), text.size()).get(root_);
  if (error == simdjson::NUMBER_ERROR) {
    const std::string changed = with_short_integers(text);
    error = parser_.parse(changed).get(root_);
  }
  if (error != simdjson::SUCCESS) {
    fail(ErrorCode::bad_input, "{}: is no JSON that can be read: {}", name,
         simdjson::error_message(error));
  }
}

}  // namespace arion

#include "api/json_text.h"

#include <memory>
#include <nlohmann/json.hpp>

#include "api/api_error.h"

namespace arion {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) + 1 - first);
}

// Behind the string that begins at `at`.
size_t skip_string(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return at < text.size() ? at + 1 : text.size();
}

}  // namespace

// Counts levels and values, and notes where the members stand. Of what is no JSON it may note
// anything: the parser refuses that.
void JsonObject::scan(std::string_view text) {
  int depth = 0;
  size_t values = 0, value_begin = 0;
  std::string_view name;
  const auto end_member = [&](size_t at) {
    if (depth != 1) return;
    if (value_begin > 0) sources_[name] = trim(text.substr(value_begin, at - value_begin));
    value_begin = 0;
  };
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      const size_t end = skip_string(text, at);
      if (depth == 1 && value_begin == 0) name = text.substr(at + 1, end - at - 2);
      at = end;
      continue;
    }
    if (c == '{' || c == '[') {
      if (++depth > kMaxJsonDepth) {
        refuse("", "the body has more than {} levels of JSON", kMaxJsonDepth);
      }
      ++values;
    } else if (c == '}' || c == ']') {
      end_member(at);
      --depth;
    } else if (c == ':' && depth == 1 && value_begin == 0) {
      value_begin = at + 1;
    } else if (c == ',') {
      ++values;
      end_member(at);
    }
    if (values > kMaxJsonValues) {
      refuse("", "the body has more than {} JSON values", kMaxJsonValues);
    }
    ++at;
  }
}

JsonObject::JsonObject(std::string_view text) {
  // The parser would end there and ignore the rest.
  if (const size_t nul = text.find('\0'); nul != text.npos) {
    refuse("", "not valid JSON at byte {}", nul + 1);
  }
  scan(text);
  try {
    value_ = std::make_unique<nlohmann::json>(nlohmann::json::parse(text));
  } catch (const nlohmann::json::parse_error& error) {
    refuse("", "not valid JSON at byte {}", error.byte);
  } catch (const nlohmann::json::exception&) {
    refuse("", "not valid JSON: a number is out of range");
  }
  if (!value_->is_object()) {
    refuse("", "the body is a JSON {}, expected an object", value_->type_name());
  }
}

JsonObject::~JsonObject() = default;

std::string_view JsonObject::source(std::string_view name) const {
  const auto found = sources_.find(name);
  return found == sources_.end() ? std::string_view() : found->second;
}

}  // namespace arion

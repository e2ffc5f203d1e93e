// JSON as arion.hpp sends it: requests are the bodies that the server takes.
#ifndef ARION_JSON_WRITER_HPP
#define ARION_JSON_WRITER_HPP

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arion/error.hpp"

namespace arion::client {

// Members of a JSON object, one after the other.
class JsonWriter {
 public:
  void raw(std::string_view name, std::string_view json) {
    text_ += text_.empty() ? '{' : ',';
    append_string(text_, name);
    text_ += ':';
    text_ += json;
  }
  void add(std::string_view name, std::string_view value) {
    std::string json;
    append_string(json, value);
    raw(name, json);
  }
  void add(std::string_view name, const char* value) { add(name, std::string_view(value)); }
  void add(std::string_view name, bool value) { raw(name, value ? "true" : "false"); }
  void add(std::string_view name, double value) {
    if (!std::isfinite(value)) throw Error(ARION_USAGE, std::string(name) + " is not finite");
    number(name, value);
  }
  void add(std::string_view name, int value) { number(name, value); }
  void add(std::string_view name, uint64_t value) { number(name, value); }
  template <typename T>
  void add(std::string_view name, const std::optional<T>& value) {
    if (value) add(name, *value);
  }
  void add(std::string_view name, const std::vector<std::string>& values) {
    std::string list = "[";
    for (const std::string& value : values) {
      if (list.size() > 1) list += ',';
      append_string(list, value);
    }
    if (!values.empty()) raw(name, list + "]");
  }
  void add(std::string_view name, const std::vector<int32_t>& values) {
    if (!values.empty()) raw(name, list_of(values));
  }

  static std::string list_of(const std::vector<int32_t>& values) {
    std::string list = "[";
    for (const int32_t value : values) {
      if (list.size() > 1) list += ',';
      list += std::to_string(value);
    }
    return list + "]";
  }
  // In quotes; bytes from 0x80 stay as they are.
  static void append_string(std::string& out, std::string_view text) {
    constexpr char kDigits[] = "0123456789abcdef";
    out += '"';
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        (out += '\\') += c;
      } else if (byte < 0x20) {
        ((out += "\\u00") += kDigits[byte >> 4]) += kDigits[byte & 15];
      } else {
        out += c;
      }
    }
    out += '"';
  }

  std::string finish() && { return text_.empty() ? "{}" : text_ + "}"; }

 private:
  // Whatever the locale is.
  template <typename Number>
  void number(std::string_view name, Number value) {
    char buffer[40];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    raw(name, std::string_view(buffer, static_cast<size_t>(end - buffer)));
  }

  std::string text_;
};

}  // namespace arion::client

#endif  // ARION_JSON_WRITER_HPP

// "{0.name!r:>5}".format(...), as Python's string.Formatter in Jinja's sandbox.
#include <algorithm>

#include "base/error.h"
#include "base/utf8.h"
#include "jinja/access.h"
#include "jinja/format.h"
#include "jinja/operators.h"
#include "jinja/runtime.h"

namespace arion::jinja {
namespace {

class BracesFormatter {
 public:
  BracesFormatter(Runtime& runtime, const Arguments& arguments, bool escapes)
      : runtime_(runtime), heap_(runtime.heap()), arguments_(arguments), escapes_(escapes) {}

  // `depth`: replacement fields may stand in a specification, but no deeper.
  Text run(const Text& format, int depth) {
    if (depth > 1) fail(ErrorCode::bad_input, "Max string recursion exceeded");
    const std::string_view bytes = format.bytes();
    Text out;
    for (size_t at = 0; at < bytes.size();) {
      heap_.spend();
      const size_t brace = std::min(bytes.find_first_of("{}", at), bytes.size());
      out.append(format, at, brace);
      if (brace == bytes.size()) break;
      const bool is_doubled = brace + 1 < bytes.size() && bytes[brace + 1] == bytes[brace];
      if (is_doubled) {
        out.append(format, brace, brace + 1);
        at = brace + 2;
        continue;
      }
      if (bytes[brace] == '}')
        fail(ErrorCode::bad_input, "Single '}}' encountered in format string");
      const size_t end = field_end(bytes, brace + 1);
      out.append(field(format, brace + 1, end, depth));
      at = end + 1;
    }
    return out;
  }

 private:
  static size_t field_end(std::string_view bytes, size_t at) {
    if (at == bytes.size()) fail(ErrorCode::bad_input, "Single '{{' encountered in format string");
    for (int depth = 1; at < bytes.size(); ++at) {
      if (bytes[at] == '{') ++depth;
      if (bytes[at] == '}' && --depth == 0) return at;
    }
    fail(ErrorCode::bad_input, "expected '}}' before end of string");
  }

  Text field(const Text& format, size_t begin, size_t end, int depth) {
    const std::string_view bytes = format.bytes();
    size_t name_end = begin;
    for (bool is_index = false; name_end < end; ++name_end) {
      const char c = bytes[name_end];
      if (c == '[') is_index = true;
      if (c == ']') is_index = false;
      if (!is_index && (c == '!' || c == ':')) break;
      if (c == '{') fail(ErrorCode::bad_input, "unexpected '{{' in field name");
    }
    size_t at = name_end;
    char conversion = 0;
    if (at < end && bytes[at] == '!') {
      if (at + 1 >= end)
        fail(ErrorCode::bad_input, "end of string while looking for conversion specifier");
      conversion = bytes[at + 1];
      at += 2;
      if (at < end && bytes[at] != ':') {
        fail(ErrorCode::bad_input, "expected ':' after conversion specifier");
      }
    }
    Value value = find(bytes.substr(begin, name_end - begin));
    value = convert(value, conversion);
    Text spec;
    if (at < end) spec = run(format.substr(at + 1, end), depth + 1);
    return show(value, spec.bytes());
  }

  Value convert(const Value& value, char conversion) {
    switch (conversion) {
      case 0:
        return value;
      case 's':
        return make_string(heap_, str_text(heap_, value));
      case 'r':
        return make_string(heap_, repr_text(heap_, value));
      case 'a':
        return make_string(heap_, to_ascii(repr_text(heap_, value)));
      default:
        fail(ErrorCode::bad_input, "Unknown conversion specifier {}", std::string(1, conversion));
    }
  }

  Text show(const Value& value, std::string_view spec) {
    const bool is_markup = value.is_string() && value.as_string().is_markup;
    Text text = spec.empty() ? str_text(heap_, value)
                             : apply_format_spec(heap_, value, parse_format_spec(spec));
    return escapes_ && !is_markup ? escape_html(text) : text;
  }

  Value positional(size_t index) {
    if (index >= arguments_.positional.size()) {
      fail(ErrorCode::bad_input, "Replacement index {} out of range for positional args tuple",
           index);
    }
    return arguments_.positional[index];
  }

  Value first(std::string_view name) {
    const bool is_automatic = name.empty();
    if (!is_automatic && !is_digits(name)) {
      for (const auto& [key, value] : arguments_.named) {
        if (key == name) return value;
      }
      fail(ErrorCode::bad_input, "KeyError: '{}'", name);
    }
    if (numbering_ != 0 && (numbering_ == 'a') != is_automatic) {
      fail(ErrorCode::bad_input,
           "cannot switch from manual field specification to automatic field numbering");
    }
    numbering_ = is_automatic ? 'a' : 'm';
    if (is_automatic) return positional(next_++);
    if (name.size() > 9) fail(ErrorCode::bad_input, "Too many decimal digits in format string");
    return positional(static_cast<size_t>(std::stoi(std::string(name))));
  }

  // "0.name[key]"
  Value find(std::string_view name) {
    const size_t first_end = std::min(name.find_first_of(".["), name.size());
    Value value = first(name.substr(0, first_end));
    for (size_t at = first_end; at < name.size();) {
      const bool is_attribute = name[at] == '.';
      if (!is_attribute && name[at] != '[') {
        fail(ErrorCode::bad_input, "Only '.' or '[' may follow ']' in format field specifier");
      }
      const size_t end = is_attribute ? std::min(name.find_first_of(".[", at + 1), name.size())
                                      : name.find(']', at + 1);
      if (end == std::string_view::npos) fail(ErrorCode::bad_input, "Missing ']' in format string");
      const std::string_view part = name.substr(at + 1, end - at - 1);
      if (part.empty()) fail(ErrorCode::bad_input, "Empty attribute in format string");
      if (is_attribute) {
        value = get_attribute(runtime_, value, make_string(heap_, part));
      } else {
        value = get_item(runtime_, value,
                         is_digits(part) && part.size() < 10
                             ? Value::integer(std::stoi(std::string(part)))
                             : make_string(heap_, part));
      }
      at = is_attribute ? end : end + 1;
    }
    return value;
  }

  Runtime& runtime_;
  Heap& heap_;
  const Arguments& arguments_;
  const bool escapes_;
  char numbering_ = 0;  // 'a'utomatic or 'm'anual once one was seen
  size_t next_ = 0;
};

}  // namespace

Value format_braces(Runtime& runtime, const Value& format, const Arguments& arguments) {
  const bool is_markup = format.as_string().is_markup;
  Text result = BracesFormatter(runtime, arguments, is_markup).run(format.text(), 0);
  return is_markup ? make_markup(runtime.heap(), std::move(result))
                   : make_string(runtime.heap(), std::move(result));
}

}  // namespace arion::jinja

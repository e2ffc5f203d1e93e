// str() and repr().
#include <fmt/format.h>

#include "base/error.h"
#include "base/utf8.h"
#include "jinja/operators.h"
#include "jinja/python_unicode.h"

namespace arion::jinja {
namespace {

void append_escape(Text& out, char32_t c, Origin origin) {
  if (c == '\n') {
    out.append("\\n", origin);
  } else if (c == '\r') {
    out.append("\\r", origin);
  } else if (c == '\t') {
    out.append("\\t", origin);
  } else if (c < 0x100) {
    out.append(fmt::format("\\x{:02x}", static_cast<uint32_t>(c)), origin);
  } else if (c < 0x10000) {
    out.append(fmt::format("\\u{:04x}", static_cast<uint32_t>(c)), origin);
  } else {
    out.append(fmt::format("\\U{:08x}", static_cast<uint32_t>(c)), origin);
  }
}

void append_quoted(Text& out, const Text& text) {
  const std::string_view bytes = text.bytes();
  const bool has_single = bytes.find('\'') != std::string_view::npos;
  const char quote = has_single && bytes.find('"') == std::string_view::npos ? '"' : '\'';
  out.append({&quote, 1});
  for (size_t at = 0; at < bytes.size();) {
    const Utf8Char c = decode_utf8(bytes.substr(at));
    const Origin origin = text.origin_at(at);
    if (c.code_point == static_cast<char32_t>(quote) || c.code_point == '\\') {
      out.append("\\", origin);
      out.append(bytes.substr(at, 1), origin);
    } else if (char_flags(c.code_point) & kPrintable) {
      out.append(bytes.substr(at, c.length), origin);
    } else {
      append_escape(out, c.code_point, origin);
    }
    at += c.length;
  }
  out.append({&quote, 1});
}

class Printer {
 public:
  Printer(Heap& heap, Text& out) : heap_(heap), out_(out) {}

  void repr(const Value& value, int depth = 0) {
    heap_.spend();
    if (depth > kMaxValueNesting) fail(ErrorCode::bad_input, "maximum recursion depth exceeded");
    if (out_.size() > heap_.limits().output_bytes) {
      fail(ErrorCode::bad_input, "text of a value is longer than {} bytes",
           heap_.limits().output_bytes);
    }
    switch (value.kind()) {
      case Kind::missing:
      case Kind::undefined:
        return out_.append("Undefined");
      case Kind::none:
        return out_.append("None");
      case Kind::boolean:
        return out_.append(value.as_bool() ? "True" : "False");
      case Kind::big_integer:
        heap_.spend(500);
        return out_.append(number_repr(value));
      case Kind::integer:
      case Kind::real:
        return out_.append(number_repr(value));
      case Kind::string:
        heap_.spend(value.bytes().size() / 16);
        if (value.as_string().is_markup) out_.append("Markup(");
        append_quoted(out_, value.text());
        if (value.as_string().is_markup) out_.append(")");
        return;
      case Kind::list:
        return sequence("[", value.items(), "]", depth);
      case Kind::tuple:
        return sequence("(", value.items(), value.items().size() == 1 ? ",)" : ")", depth);
      case Kind::dict:
        return dict(value.as_dict(), depth);
      case Kind::view:
        return view(value, depth);
      case Kind::range:
        return range(value.as_range());
      case Kind::name_space:
        out_.append("<Namespace ");
        dict(value.as_namespace().attributes, depth);
        return out_.append(">");
      case Kind::generator:
        return out_.append(fmt::format("<{} object>", type_name(value)));
      case Kind::callable:
        return callable(value.as_callable());
      case Kind::object:
        return out_.append(value.as_object().repr());
    }
  }

 private:
  void sequence(std::string_view open, const std::vector<Value>& items, std::string_view close,
                int depth) {
    out_.append(open);
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_.append(", ");
      repr(items[i], depth + 1);
    }
    out_.append(close);
  }

  void dict(const DictObject& dict, int depth) {
    out_.append("{");
    bool is_first = true;
    for (const auto& [key, value] : dict.entries()) {
      if (!is_first) out_.append(", ");
      is_first = false;
      repr(key, depth + 1);
      out_.append(": ");
      repr(value, depth + 1);
    }
    out_.append("}");
  }

  void view(const Value& view, int depth) {
    out_.append(fmt::format("{}(", type_name(view)));
    sequence("[", collect(heap_, view), "])", depth);
  }

  void range(const RangeObject& range) {
    out_.append(range.step == 1
                    ? fmt::format("range({}, {})", range.start, range.stop)
                    : fmt::format("range({}, {}, {})", range.start, range.stop, range.step));
  }

  void callable(const CallableObject& callable) {
    if (callable.attributes.empty()) {
      return out_.append(fmt::format("<{} {}>", callable.type_name, callable.name));
    }
    if (callable.name.empty()) return out_.append("<Macro anonymous>");
    Text name;
    append_quoted(name, Text(callable.name));
    out_.append(fmt::format("<Macro {}>", name.bytes()));
  }

  Heap& heap_;
  Text& out_;
};

}  // namespace

Text repr_text(Heap& heap, const Value& value) {
  Text out;
  Printer(heap, out).repr(value);
  return out;
}

Text quoted(const Text& text) {
  Text out;
  append_quoted(out, text);
  return out;
}

void append_str(Heap& heap, Text& out, const Value& value) {
  if (value.is_string()) {
    out.append(value.text());
  } else if (!value.is_undefined()) {
    Printer(heap, out).repr(value);
  }
}

Text str_text(Heap& heap, const Value& value) {
  Text out;
  append_str(heap, out, value);
  return out;
}

Text escape_html(const Text& text) {
  Text out;
  const std::string_view bytes = text.bytes();
  for (size_t at = 0; at < bytes.size();) {
    const size_t special = std::min(bytes.find_first_of("&<>'\"", at), bytes.size());
    out.append(text, at, special);
    at = special;
    if (at == bytes.size()) break;
    const char c = bytes[at];
    const std::string_view entity = c == '&'   ? "&amp;"
                                    : c == '<' ? "&lt;"
                                    : c == '>' ? "&gt;"
                                    : c == '"' ? "&#34;"
                                               : "&#39;";
    out.append(entity, text.origin_at(at));
    ++at;
  }
  return out;
}

Text escape_unless_markup(Heap& heap, const Value& value) {
  if (value.is_string() && value.as_string().is_markup) return value.text();
  return escape_html(str_text(heap, value));
}

}  // namespace arion::jinja

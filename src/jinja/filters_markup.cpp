// Filters for HTML, URLs and JSON.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "jinja/arguments.h"
#include "jinja/filters.h"
#include "jinja/json.h"
#include "jinja/operators.h"
#include "jinja/text_ops.h"

namespace arion::jinja {
namespace {

// urllib.parse.quote of UTF-8; in query strings also '/', and a space is '+'.
Text quote_url(const Text& text, bool is_query) {
  Text out;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text.bytes()[at];
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                          (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '-' || c == '~' ||
                          (c == '/' && !is_query);
    if (is_plain) {
      out.append(text, at, at + 1);
    } else if (c == ' ' && is_query) {
      out.append("+", text.origin_at(at));
    } else {
      out.append(fmt::format("%{:02X}", static_cast<uint8_t>(c)), text.origin_at(at));
    }
  }
  return out;
}

// A separator of json.dumps: the text of one item of a pair.
std::string separator(const Value& pair, size_t i) {
  if (!pair.is_sequence() || pair.items().size() != 2 || !pair.items()[i].is_string()) {
    fail(ErrorCode::bad_input, "tojson() argument 'separators' must be a pair of strings");
  }
  return std::string(pair.items()[i].bytes());
}

}  // namespace

Value filter_escape(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  Bound("escape", arguments, {});
  return make_markup(runtime.heap(), escape_unless_markup(runtime.heap(), subject));
}

Value filter_forceescape(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  Bound("forceescape", arguments, {});
  return make_markup(runtime.heap(), escape_html(str_text(runtime.heap(), subject)));
}

Value filter_safe(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  Bound("safe", arguments, {});
  return make_markup(runtime.heap(), str_text(runtime.heap(), subject));
}

// Without comments and tags, white space as single spaces, entities of escape() undone.
Value filter_striptags(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  Bound("striptags", arguments, {});
  Heap& heap = runtime.heap();
  Text text = str_text(heap, subject);
  const auto remove = [&](std::string_view open, std::string_view close) {
    Text kept;
    size_t at = 0;
    for (;;) {
      const size_t begin = text.bytes().find(open, at);
      if (begin == std::string_view::npos) break;
      const size_t end = text.bytes().find(close, begin + (close.size() > 1 ? 0 : 1));
      if (end == std::string_view::npos) break;
      kept.append(text, at, begin);
      at = end + close.size();
    }
    kept.append(text, at, text.size());
    text = std::move(kept);
  };
  remove("<!--", "-->");
  remove("<", ">");
  Text out;
  for (const Text& word : split(heap, text, std::nullopt, -1)) {
    if (!out.empty()) out.append(" ");
    out.append(word);
  }
  constexpr std::pair<std::string_view, std::string_view> kEntities[] = {
      {"&lt;", "<"},    {"&gt;", ">"},  {"&#34;", "\""},
      {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}};
  for (const auto& [entity, character] : kEntities) {
    out = replace(heap, out, entity, Text(std::string(character)), -1);
  }
  return make_string(heap, std::move(out));
}

Value filter_tojson(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const Bound bound("tojson", arguments, {"ensure_ascii", "indent", "separators", "sort_keys"});
  Heap& heap = runtime.heap();
  JsonStyle style{.ensure_ascii = bound.flag(0, false), .sort_keys = bound.flag(3, false)};
  if (const auto indent = bound.given(1)) {
    style.has_indent = true;
    style.item_separator = ",";
    style.indent = indent->is_string()
                       ? std::string(indent->bytes())
                       : std::string(apply(heap, BinaryOp::multiply, make_string(heap, " "),
                                           Value::integer(to_index(*indent, "indent")))
                                         .bytes());
  }
  if (const auto pair = bound.given(2)) {
    style.item_separator = separator(*pair, 0);
    style.key_separator = separator(*pair, 1);
  }
  return make_string(heap, to_json(heap, subject, style));
}

Value filter_urlencode(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  Bound("urlencode", arguments, {});
  Heap& heap = runtime.heap();
  if (subject.is_string() || !is_iterable(subject)) {
    return make_string(heap, quote_url(str_text(heap, subject), false));
  }
  const Value pairs = subject.is_dict()
                          ? Value(Kind::view, heap.make<ViewObject>(subject, ViewOf::items))
                          : subject;
  Text out;
  const Iterator next = iterate(heap, pairs);
  while (const auto pair = next()) {
    const std::vector<Value> parts = collect(heap, *pair);
    if (parts.size() != 2) fail(ErrorCode::bad_input, "urlencode wants pairs of name and value");
    if (!out.empty()) out.append("&");
    out.append(quote_url(str_text(heap, parts[0]), true));
    out.append("=");
    out.append(quote_url(str_text(heap, parts[1]), true));
  }
  return make_string(heap, std::move(out));
}

Value filter_xmlattr(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const Bound bound("xmlattr", arguments, {"autospace"});
  Heap& heap = runtime.heap();
  if (!subject.is_dict()) {
    fail(ErrorCode::bad_input, "xmlattr wants a mapping, not {}", type_name(subject));
  }
  Text out;
  for (const auto& [key, value] : subject.as_dict().entries()) {
    if (value.is_none() || value.is_undefined()) continue;
    const Text name = str_text(heap, key);
    if (name.bytes().find_first_of(" \t\n\r\f\v/>=") != std::string_view::npos) {
      fail(ErrorCode::bad_input, "Invalid character in attribute name: {}",
           repr_text(heap, key).bytes());
    }
    if (!out.empty() || bound.flag(0, true)) out.append(" ");
    out.append(escape_unless_markup(heap, key));
    out.append("=\"");
    out.append(escape_unless_markup(heap, value));
    out.append("\"");
  }
  return make_string(heap, std::move(out));
}

}  // namespace arion::jinja

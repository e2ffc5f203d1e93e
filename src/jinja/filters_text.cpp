// Filters on text.
#include <algorithm>

#include "base/error.h"
#include "base/utf8.h"
#include "jinja/access.h"
#include "jinja/arguments.h"
#include "jinja/filters.h"
#include "jinja/format.h"
#include "jinja/methods.h"
#include "jinja/operators.h"
#include "jinja/python_unicode.h"
#include "jinja/text_ops.h"

namespace arion::jinja {
namespace {

// A string as it is, other values by str().
Value soft_string(Runtime& runtime, const Value& value) {
  return value.is_string() ? value : make_string(runtime.heap(), str_text(runtime.heap(), value));
}

Value cased(Runtime& runtime, const Value& subject, Casing casing) {
  const Value string = soft_string(runtime, subject);
  runtime.heap().spend(string.text().size() / 8);
  return make_like(runtime.heap(), string, change_case(string.text(), casing));
}

bool begins_word(std::string_view text, const Utf8Char& c) {
  return is_space(c.code_point) ||
         std::string_view("-({[<").find(text[0]) != std::string_view::npos;
}

void append_title_word(Text& out, const Text& word) {
  if (word.empty()) return;
  const size_t first = decode_utf8(word.bytes()).length;
  out.append(change_case(word.substr(0, first), Casing::upper));
  out.append(change_case(word.substr(first, word.size()), Casing::lower));
}

}  // namespace

Value filter_capitalize(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  Bound("capitalize", arguments, {});
  return cased(runtime, subject, Casing::capitalize);
}

Value filter_lower(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  Bound("lower", arguments, {});
  return cased(runtime, subject, Casing::lower);
}

Value filter_upper(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  Bound("upper", arguments, {});
  return cased(runtime, subject, Casing::upper);
}

// Words begin behind white space and -({[<.
Value filter_title(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  Bound("title", arguments, {});
  const Text text = str_text(runtime.heap(), subject);
  runtime.heap().spend(text.size() / 8);
  Text out;
  size_t begin = 0;
  bool is_separator = true;
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = text.bytes().substr(at);
    const Utf8Char c = decode_utf8(rest);
    if (begins_word(rest, c) != is_separator) {
      append_title_word(out, text.substr(begin, at));
      begin = at;
      is_separator = !is_separator;
    }
    at += c.length;
  }
  append_title_word(out, text.substr(begin, text.size()));
  return make_string(runtime.heap(), std::move(out));
}

Value filter_center(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const Bound bound("center", arguments, {"width"});
  Arguments width;
  width.positional.push_back(bound.get(0, Value::integer(80)));
  return find_string_method("center")(runtime, soft_string(runtime, subject), width);
}

Value filter_format(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  Heap& heap = runtime.heap();
  if (!arguments.named.empty() && !arguments.positional.empty()) {
    fail(ErrorCode::bad_input, "can't handle positional and keyword arguments at the same time");
  }
  const Value format = soft_string(runtime, subject);
  if (arguments.named.empty()) {
    return format_percent(heap, format, make_tuple(heap, arguments.positional));
  }
  DictObject* dict = nullptr;
  const Value values = make_dict(heap, dict);
  for (const auto& [name, value] : arguments.named) dict->set(make_string(heap, name), value);
  return format_percent(heap, format, values);
}

Value filter_indent(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const Bound bound("indent", arguments, {"width", "first", "blank"});
  Heap& heap = runtime.heap();
  // As Python: the first thing done is to append a newline.
  Text text = apply(heap, BinaryOp::add, subject, make_string(heap, "\n")).text();
  Text indent;
  if (bound.has(0) && bound[0].is_string()) {
    indent = bound[0].text();
  } else {
    indent =
        apply(heap, BinaryOp::multiply, make_string(heap, " "), bound.get(0, Value::integer(4)))
            .text();
  }
  const bool indents_first = bound.flag(1, false), indents_blank = bound.flag(2, false);
  Text out;
  bool is_first = true;
  for (const Text& line : split_lines(heap, text)) {
    heap.charge(indent.size());
    if (!is_first) out.append("\n");
    if (is_first ? indents_first : (indents_blank || !line.empty())) out.append(indent);
    out.append(line);
    is_first = false;
  }
  return make_like(runtime.heap(), subject, std::move(out));
}

Value filter_replace(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const Bound bound("replace", arguments, {"old", "new", "count"}, 2);
  Heap& heap = runtime.heap();
  const Text text = str_text(heap, subject);
  heap.spend(text.size() / 16);
  const Text from = str_text(heap, bound[0]), to = str_text(heap, bound[1]);
  return make_string(heap, replace(heap, text, from.bytes(), to, bound.integer(2).value_or(-1)));
}

Value filter_string(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  Bound("string", arguments, {});
  return soft_string(runtime, subject);
}

Value filter_trim(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const Bound bound("trim", arguments, {"chars"});
  std::optional<std::string_view> characters;
  if (bound.given(0)) characters = bound.text(0).bytes();
  const Value string = soft_string(runtime, subject);
  return make_like(runtime.heap(), string, strip(string.text(), Sides::both, characters));
}

Value filter_truncate(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const Bound bound("truncate", arguments, {"length", "killwords", "end", "leeway"});
  Heap& heap = runtime.heap();
  const int64_t most = bound.integer(0).value_or(255);
  const int64_t leeway = bound.integer(3).value_or(5);
  const Text end = bound.has(2) ? bound.text(2) : Text("...");
  const int64_t end_length = static_cast<int64_t>(count_characters(end.bytes()));
  if (most < end_length) {
    fail(ErrorCode::bad_input, "expected length >= {}, got {}", end_length, most);
  }
  if (leeway < 0) fail(ErrorCode::bad_input, "expected leeway >= 0, got {}", leeway);
  if (length(subject) <= most || length(subject) - most <= leeway) return subject;
  if (!subject.is_string()) {
    fail(ErrorCode::bad_input, "can only truncate strings, not {}", type_name(subject));
  }
  Text cut = first_characters(subject.text(), static_cast<size_t>(most - end_length));
  if (!bound.flag(1, false)) cut = split_right(heap, cut, " ", 1)[0];
  cut.append(end);
  return make_like(runtime.heap(), subject, std::move(cut));
}

Value filter_wordcount(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  Bound("wordcount", arguments, {});
  const Text text = str_text(runtime.heap(), subject);
  runtime.heap().spend(text.size() / 8);
  int64_t count = 0;
  bool is_inside = false;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = decode_utf8(text.bytes().substr(at));
    const bool is_inside_now = is_word(c.code_point);
    if (is_inside_now && !is_inside) ++count;
    is_inside = is_inside_now;
    at += c.length;
  }
  return Value::integer(count);
}

}  // namespace arion::jinja

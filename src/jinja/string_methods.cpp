// The methods of str.
#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "base/utf8.h"
#include "jinja/arguments.h"
#include "jinja/format.h"
#include "jinja/methods.h"
#include "jinja/operators.h"
#include "jinja/python_unicode.h"
#include "jinja/text_ops.h"

namespace arion::jinja {
namespace {

// Methods of markup give markup.
Value list_like(Runtime& runtime, const Value& self, std::vector<Text> parts) {
  std::vector<Value> items;
  items.reserve(parts.size());
  for (Text& part : parts) items.push_back(make_like(runtime.heap(), self, std::move(part)));
  return make_list(runtime.heap(), std::move(items));
}

template <Casing casing>
Value method_case(Runtime& runtime, const Value& self, const Arguments& arguments) {
  Bound("str", arguments, {});
  return make_like(runtime.heap(), self, change_case(self.text(), casing));
}

template <Sides sides>
Value method_strip(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Bound bound("strip", arguments, {"chars"});
  std::optional<std::string_view> characters;
  if (bound.given(0)) {
    characters = bound.text(0).bytes();
    runtime.heap().spend(self.text().size() / 16 * (characters->size() / 16));
  }
  return make_like(runtime.heap(), self, strip(self.text(), sides, characters));
}

template <auto cut>
Value method_split(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Bound bound("split", arguments, {"sep", "maxsplit"});
  std::optional<std::string_view> separator;
  if (bound.given(0)) separator = bound.text(0).bytes();
  const int64_t most = bound.has(1) ? to_index(bound[1], "maxsplit") : -1;
  return list_like(runtime, self, cut(runtime.heap(), self.text(), separator, most));
}

Value method_splitlines(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Bound bound("splitlines", arguments, {"keepends"});
  const LineEnds ends = bound.flag(0, false) ? LineEnds::keep : LineEnds::drop;
  return list_like(runtime, self, split_lines(runtime.heap(), self.text(), ends));
}

Value method_replace(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Bound bound("replace", arguments, {"old", "new", "count"}, 2);
  const Text& from = bound.text(0);
  Text to = bound.text(1);
  if (self.as_string().is_markup) to = escape_unless_markup(runtime.heap(), bound[1]);
  const int64_t most = bound.has(2) ? to_index(bound[2], "count") : -1;
  return make_like(runtime.heap(), self,
                   replace(runtime.heap(), self.text(), from.bytes(), to, most));
}

Value method_join(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Bound bound("join", arguments, {"iterable"}, 1);
  Heap& heap = runtime.heap();
  const bool escapes = self.as_string().is_markup;
  Text joined;
  const Iterator next = iterate(heap, bound[0]);
  for (size_t i = 0;; ++i) {
    const auto item = next();
    if (!item) break;
    heap.spend();
    if (!item->is_string()) {
      fail(ErrorCode::bad_input, "sequence item {}: expected str instance, {} found", i,
           type_name(*item));
    }
    heap.charge(item->text().size() + self.text().size());
    if (i > 0) joined.append(self.text());
    joined.append(escapes ? escape_unless_markup(heap, *item) : item->text());
  }
  return make_like(runtime.heap(), self, std::move(joined));
}

// The part [start, end) of a string that a method was told to look at, in bytes.
struct Window {
  size_t begin, end;
  bool is_valid;  // start is not behind the end of the string
};

Window window_of(const Value& self, const Bound& bound, size_t first) {
  const int64_t length = static_cast<int64_t>(self.as_string().length);
  const auto clamp = [&](const std::optional<int64_t>& at, int64_t fallback) {
    if (!at) return fallback;
    return *at < 0 ? std::max<int64_t>(*at + length, 0) : *at;
  };
  const int64_t start = clamp(bound.integer(first), 0);
  const int64_t end = std::min(clamp(bound.integer(first + 1), length), length);
  if (start > length || start > end) return {0, 0, false};
  const std::string_view bytes = self.bytes();
  return {byte_offset(bytes, static_cast<size_t>(start)),
          byte_offset(bytes, static_cast<size_t>(end)), true};
}

template <bool at_start>
bool has_affix(const Value& self, const Window& window, const Value& affix) {
  if (!affix.is_string()) {
    fail(ErrorCode::bad_input, "{} first arg must be str or a tuple of str, not {}",
         at_start ? "startswith" : "endswith", type_name(affix));
  }
  if (!window.is_valid) return false;
  const std::string_view part = self.bytes().substr(window.begin, window.end - window.begin);
  return at_start ? part.starts_with(affix.bytes()) : part.ends_with(affix.bytes());
}

template <bool at_start>
Value method_affix(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Bound bound(at_start ? "startswith" : "endswith", arguments, {"prefix", "start", "end"}, 1);
  const Window window = window_of(self, bound, 1);
  if (!bound[0].is(Kind::tuple)) {
    return Value::boolean(has_affix<at_start>(self, window, bound[0]));
  }
  return Value::boolean(std::ranges::any_of(bound[0].items(), [&](const Value& affix) {
    runtime.heap().spend(1 + (affix.is_string() ? affix.bytes().size() / 16 : 0));
    return has_affix<at_start>(self, window, affix);
  }));
}

enum class Search : uint8_t { first, last };

// In code points; -1 where there is none.
int64_t search(Heap& heap, const Value& self, const Bound& bound, Search which) {
  const Window window = window_of(self, bound, 1);
  if (!window.is_valid) return -1;
  const std::string_view bytes = self.bytes().substr(0, window.end);
  const std::string_view needle = bound.text(0).bytes();
  const size_t found = which == Search::first ? find_bytes(bytes, needle, window.begin)
                                              : rfind_bytes(heap, bytes, needle);
  if (found == std::string_view::npos || found < window.begin) return -1;
  return static_cast<int64_t>(count_characters(bytes.substr(0, found)));
}

template <Search which>
Value method_find(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Bound bound("find", arguments, {"sub", "start", "end"}, 1);
  return Value::integer(search(runtime.heap(), self, bound, which));
}

template <Search which>
Value method_index(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Value found = method_find<which>(runtime, self, arguments);
  if (found.as_integer() < 0) fail(ErrorCode::bad_input, "substring not found");
  return found;
}

Value method_count(Runtime&, const Value& self, const Arguments& arguments) {
  const Bound bound("count", arguments, {"sub", "start", "end"}, 1);
  const std::string_view needle = bound.text(0).bytes();
  const Window window = window_of(self, bound, 1);
  if (!window.is_valid) return Value::integer(0);
  const std::string_view bytes = self.bytes().substr(window.begin, window.end - window.begin);
  int64_t count = 0;
  if (needle.empty()) return Value::integer(static_cast<int64_t>(count_characters(bytes)) + 1);
  for (size_t at = find_bytes(bytes, needle); at != std::string_view::npos;
       at = find_bytes(bytes, needle, at + needle.size())) {
    ++count;
  }
  return Value::integer(count);
}

template <Search which>
Value method_partition(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Bound bound("partition", arguments, {"sep"}, 1);
  const std::string_view separator = bound.text(0).bytes();
  if (separator.empty()) fail(ErrorCode::bad_input, "empty separator");
  const Text& text = self.text();
  const size_t at = which == Search::first ? find_bytes(text.bytes(), separator)
                                           : rfind_bytes(runtime.heap(), text.bytes(), separator);
  std::vector<Text> parts;
  if (at != std::string_view::npos) {
    const size_t end = at + separator.size();
    parts = {text.substr(0, at), text.substr(at, end), text.substr(end, text.size())};
  } else if (which == Search::first) {
    parts = {text, Text(), Text()};
  } else {
    parts = {Text(), Text(), text};
  }
  const Value list = list_like(runtime, self, std::move(parts));
  return make_tuple(runtime.heap(), list.items());
}

template <bool at_start>
Value method_remove_affix(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Bound bound(at_start ? "removeprefix" : "removesuffix", arguments, {"affix"}, 1);
  const Text& text = self.text();
  const std::string_view affix = bound.text(0).bytes();
  if (at_start && text.bytes().starts_with(affix)) {
    return make_like(runtime.heap(), self, text.substr(affix.size(), text.size()));
  }
  if (!at_start && text.bytes().ends_with(affix)) {
    return make_like(runtime.heap(), self, text.substr(0, text.size() - affix.size()));
  }
  return self;
}

template <char align>
Value method_pad(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Bound bound("justify", arguments, {"width", "fillchar"}, 1);
  const int64_t width = std::max<int64_t>(to_index(bound[0], "width"), 0);
  std::string_view fill = " ";
  if (bound.has(1)) {
    fill = bound.text(1).bytes();
    if (count_characters(fill) != 1) {
      fail(ErrorCode::bad_input, "The fill character must be exactly one character long");
    }
  }
  if (align != '^') {
    return make_like(runtime.heap(), self,
                     pad(runtime.heap(), self.text(), static_cast<size_t>(width), align, fill));
  }
  // Python puts an odd space to the left where the width is odd.
  const int64_t missing = width - static_cast<int64_t>(self.as_string().length);
  if (missing <= 0) return self;
  const int64_t left = missing / 2 + (missing & width & 1);
  const size_t inner = self.as_string().length + static_cast<size_t>(left);
  const Text padded = pad(runtime.heap(), self.text(), inner, '>', fill);
  return make_like(runtime.heap(), self,
                   pad(runtime.heap(), padded, static_cast<size_t>(width), '<', fill));
}

Value method_zfill(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Bound bound("zfill", arguments, {"width"}, 1);
  const int64_t width = std::max<int64_t>(to_index(bound[0], "width"), 0);
  const Text& text = self.text();
  const bool has_sign = !text.empty() && (text.bytes()[0] == '-' || text.bytes()[0] == '+');
  const size_t head = has_sign ? 1 : 0;
  Text result = text.substr(0, head);
  const size_t rest = static_cast<size_t>(std::max<int64_t>(width - static_cast<int64_t>(head), 0));
  result.append(pad(runtime.heap(), text.substr(head, text.size()), rest, '>', "0"));
  return make_like(runtime.heap(), self, std::move(result));
}

Value method_expandtabs(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Bound bound("expandtabs", arguments, {"tabsize"});
  const int64_t size = bound.has(0) ? to_index(bound[0], "tabsize") : 8;
  Text result;
  int64_t column = 0;
  const std::string_view bytes = self.bytes();
  for (size_t at = 0; at < bytes.size();) {
    const size_t length = decode_utf8(bytes.substr(at)).length;
    if (bytes[at] == '\t') {
      const int64_t spaces = size > 0 ? size - column % size : 0;
      runtime.heap().charge(static_cast<size_t>(spaces));
      result.append(std::string(static_cast<size_t>(spaces), ' '));
      column += spaces;
    } else {
      result.append(self.text(), at, at + length);
      column = bytes[at] == '\n' || bytes[at] == '\r' ? 0 : column + 1;
    }
    at += length;
  }
  return make_like(runtime.heap(), self, std::move(result));
}

// Not empty, and every character has one of the flags.
template <uint16_t flags>
Value method_is(Runtime&, const Value& self, const Arguments& arguments) {
  Bound("str", arguments, {});
  const std::string_view bytes = self.bytes();
  // Only isprintable() holds for the empty string.
  if (bytes.empty()) return Value::boolean(flags == kPrintable);
  for (size_t at = 0; at < bytes.size();) {
    const Utf8Char c = decode_utf8(bytes.substr(at));
    if (!(char_flags(c.code_point) & flags)) return Value::boolean(false);
    at += c.length;
  }
  return Value::boolean(true);
}

Value method_isascii(Runtime&, const Value& self, const Arguments& arguments) {
  Bound("isascii", arguments, {});
  return Value::boolean(self.as_string().is_ascii());
}

Value method_isidentifier(Runtime&, const Value& self, const Arguments& arguments) {
  Bound("isidentifier", arguments, {});
  const std::string_view bytes = self.bytes();
  for (size_t at = 0; at < bytes.size();) {
    const Utf8Char c = decode_utf8(bytes.substr(at));
    const uint16_t wanted = at == 0 ? kAlpha : kAlpha | kDecimal;
    if (bytes[at] != '_' && !(char_flags(c.code_point) & wanted)) return Value::boolean(false);
    at += c.length;
  }
  return Value::boolean(!bytes.empty());
}

// Cased characters exist, and none has the other case.
template <uint16_t wanted, uint16_t refused>
Value method_is_case(Runtime&, const Value& self, const Arguments& arguments) {
  Bound("str", arguments, {});
  bool has_case = false;
  const std::string_view bytes = self.bytes();
  for (size_t at = 0; at < bytes.size();) {
    const Utf8Char c = decode_utf8(bytes.substr(at));
    const uint16_t flags = char_flags(c.code_point);
    if (flags & refused) return Value::boolean(false);
    if (flags & wanted) has_case = true;
    at += c.length;
  }
  return Value::boolean(has_case);
}

Value method_istitle(Runtime&, const Value& self, const Arguments& arguments) {
  Bound("istitle", arguments, {});
  bool follows_cased = false, has_case = false;
  const std::string_view bytes = self.bytes();
  for (size_t at = 0; at < bytes.size();) {
    const Utf8Char c = decode_utf8(bytes.substr(at));
    const uint16_t flags = char_flags(c.code_point);
    const bool is_upper = (flags & (kUppercase | kTitlecase)) != 0;
    const bool is_lower = !is_upper && (flags & kLowercase) != 0;
    if ((is_upper && follows_cased) || (is_lower && !follows_cased)) return Value::boolean(false);
    follows_cased = is_upper || is_lower;
    has_case |= follows_cased;
    at += c.length;
  }
  return Value::boolean(has_case);
}

Value method_format(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return format_braces(runtime, self, arguments);
}

Value method_format_map(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Bound bound("format_map", arguments, {"mapping"}, 1);
  if (!bound[0].is_dict()) {
    fail(ErrorCode::bad_input, "format_map() takes a mapping, not '{}'", type_name(bound[0]));
  }
  Arguments named;
  for (const auto& [key, value] : bound[0].as_dict().entries()) {
    if (key.is_string()) named.named.emplace_back(std::string(key.bytes()), value);
  }
  return format_braces(runtime, self, named);
}

// Counts the characters of the string and of strings it is given.
template <Method method>
Value counted(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const auto spend_for = [&](const Value& value) {
    if (value.is_string()) runtime.heap().spend(value.text().size() / 8);
  };
  spend_for(self);
  for (const Value& value : arguments.positional) spend_for(value);
  for (const auto& [name, value] : arguments.named) spend_for(value);
  return method(runtime, self, arguments);
}

struct StringMethod {
  std::string_view name;
  Method method;
};

// Sorted by name. Not here: what deals in bytes or translation tables.
constexpr StringMethod kMethods[] = {
    {"capitalize", counted<method_case<Casing::capitalize>>},
    {"casefold", counted<method_case<Casing::fold>>},
    {"center", counted<method_pad<'^'>>},
    {"count", counted<method_count>},
    {"endswith", counted<method_affix<false>>},
    {"expandtabs", counted<method_expandtabs>},
    {"find", counted<method_find<Search::first>>},
    {"format", counted<method_format>},
    {"format_map", counted<method_format_map>},
    {"index", counted<method_index<Search::first>>},
    {"isalnum", counted<method_is<kAlphanumeric>>},
    {"isalpha", counted<method_is<kAlpha>>},
    {"isascii", counted<method_isascii>},
    {"isdecimal", counted<method_is<kDecimal>>},
    {"isdigit", counted<method_is<kDigit>>},
    {"isidentifier", counted<method_isidentifier>},
    {"islower", counted<method_is_case<kLowercase, kUppercase | kTitlecase>>},
    {"isnumeric", counted<method_is<kNumeric>>},
    {"isprintable", counted<method_is<kPrintable>>},
    {"isspace", counted<method_is<kWhitespace>>},
    {"istitle", counted<method_istitle>},
    {"isupper", counted<method_is_case<kUppercase, kLowercase | kTitlecase>>},
    {"join", counted<method_join>},
    {"ljust", counted<method_pad<'<'>>},
    {"lower", counted<method_case<Casing::lower>>},
    {"lstrip", counted<method_strip<Sides::left>>},
    {"partition", counted<method_partition<Search::first>>},
    {"removeprefix", counted<method_remove_affix<true>>},
    {"removesuffix", counted<method_remove_affix<false>>},
    {"replace", counted<method_replace>},
    {"rfind", counted<method_find<Search::last>>},
    {"rindex", counted<method_index<Search::last>>},
    {"rjust", counted<method_pad<'>'>>},
    {"rpartition", counted<method_partition<Search::last>>},
    {"rsplit", counted<method_split<split_right>>},
    {"rstrip", counted<method_strip<Sides::right>>},
    {"split", counted<method_split<split>>},
    {"splitlines", counted<method_splitlines>},
    {"startswith", counted<method_affix<true>>},
    {"strip", counted<method_strip<Sides::both>>},
    {"swapcase", counted<method_case<Casing::swap>>},
    {"title", counted<method_case<Casing::title>>},
    {"upper", counted<method_case<Casing::upper>>},
    {"zfill", counted<method_zfill>},
};

}  // namespace

Method find_string_method(std::string_view name) {
  const auto entry = std::ranges::lower_bound(kMethods, name, {}, &StringMethod::name);
  return entry != std::end(kMethods) && entry->name == name ? entry->method : nullptr;
}

}  // namespace arion::jinja

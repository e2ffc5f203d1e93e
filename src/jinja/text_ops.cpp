#include "jinja/text_ops.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/utf8.h"
#include "jinja/python_unicode.h"

namespace arion::jinja {
namespace {

constexpr char32_t kCapitalSigma = 0x3A3;

// Whether the sigma at `at` ends a word and is written ς in small letters (Unicode, table 3-17).
bool is_final_sigma(std::string_view text, size_t at) {
  const auto is_ignorable = [](uint16_t flags) { return (flags & kCaseIgnorable) != 0; };
  bool follows_cased = false;
  for (size_t end = at; end > 0;) {
    end = previous(text, end);
    const uint16_t flags = char_flags(decode_utf8(text.substr(end)).code_point);
    if (is_ignorable(flags)) continue;
    follows_cased = (flags & kCased) != 0;
    break;
  }
  if (!follows_cased) return false;
  for (size_t next = at + 2; next < text.size();) {
    const Utf8Char c = decode_utf8(text.substr(next));
    const uint16_t flags = char_flags(c.code_point);
    if (!is_ignorable(flags)) return (flags & kCased) == 0;
    next += c.length;
  }
  return true;
}

CaseMap map_for(Casing casing, char32_t c, bool is_first, bool follows_cased) {
  switch (casing) {
    case Casing::lower:
      return CaseMap::lower;
    case Casing::upper:
      return CaseMap::upper;
    case Casing::title:
      return follows_cased ? CaseMap::lower : CaseMap::title;
    case Casing::capitalize:
      return is_first ? CaseMap::title : CaseMap::lower;
    case Casing::swap:
      return char_flags(c) & kUppercase ? CaseMap::lower : CaseMap::upper;
    case Casing::fold:
      break;
  }
  return CaseMap::fold;
}

bool is_line_end(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 ||
         c == 0x2029;
}

// Byte ranges of the words of a text.
std::vector<Text::Range> words(Heap& heap, std::string_view text) {
  std::vector<Text::Range> found;
  bool is_inside = false;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = decode_utf8(text.substr(at));
    const bool is_word = !is_space(c.code_point);
    if (is_word && !is_inside) {
      heap.charge(sizeof(Text::Range));
      found.push_back({at, at});
    }
    if (is_word) found.back().end = at + c.length;
    is_inside = is_word;
    at += c.length;
  }
  return found;
}

void add_part(Heap& heap, std::vector<Text>& parts, Text part) {
  heap.spend();
  heap.charge(sizeof(Text));
  parts.push_back(std::move(part));
}

void check_separator(std::string_view separator) {
  if (separator.empty()) fail(ErrorCode::bad_input, "empty separator");
}

bool allows_more(size_t cuts, int64_t most) {
  return most < 0 || cuts < static_cast<size_t>(most);
}

}  // namespace

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_space(char32_t c) {
  return (char_flags(c) & kWhitespace) != 0;
}

bool is_word(char32_t c) {
  return c == '_' || (char_flags(c) & kAlphanumeric) != 0;
}

size_t previous(std::string_view text, size_t end) {
  do --end;
  while (end > 0 && (text[end] & 0xC0) == 0x80);
  return end;
}

size_t count_characters(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

size_t byte_offset(std::string_view text, size_t index) {
  size_t at = 0;
  for (; index > 0; --index) {
    do ++at;
    while (at < text.size() && (text[at] & 0xC0) == 0x80);
  }
  return at;
}

size_t find_bytes(std::string_view text, std::string_view part, size_t from) {
  if (from > text.size()) return std::string_view::npos;
  if (part.empty()) return from;
  const void* found = memmem(text.data() + from, text.size() - from, part.data(), part.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<size_t>(static_cast<const char*>(found) - text.data());
}

size_t rfind_bytes(Heap& heap, std::string_view text, std::string_view part, size_t from) {
  // A few bytes at each place, unless the texts were made to be slow.
  heap.spend(text.size() / 16 + text.size() / 64 * (part.size() / 16));
  return text.rfind(part, from);
}

Text change_case(const Text& text, Casing casing) {
  Text out;
  std::string mapped;
  bool follows_cased = false;
  const std::string_view bytes = text.bytes();
  for (size_t at = 0; at < bytes.size();) {
    const Utf8Char c = decode_utf8(bytes.substr(at));
    const CaseMap map = map_for(casing, c.code_point, at == 0, follows_cased);
    mapped.clear();
    if (map == CaseMap::lower && c.code_point == kCapitalSigma && is_final_sigma(bytes, at)) {
      mapped = "\u03c2";
    } else {
      append_mapped(mapped, c.code_point, map);
    }
    out.append(mapped, text.origin_at(at));
    follows_cased = (char_flags(c.code_point) & kCased) != 0;
    at += c.length;
  }
  return out;
}

Text strip(const Text& text, Sides sides, std::optional<std::string_view> characters) {
  const std::string_view bytes = text.bytes();
  const auto is_stripped = [&](size_t at) {
    const Utf8Char c = decode_utf8(bytes.substr(at));
    if (!characters) return is_space(c.code_point);
    return characters->find(bytes.substr(at, c.length)) != std::string_view::npos;
  };
  size_t begin = 0, end = bytes.size();
  if (sides != Sides::right) {
    while (begin < end && is_stripped(begin)) begin += decode_utf8(bytes.substr(begin)).length;
  }
  if (sides != Sides::left) {
    while (end > begin && is_stripped(previous(bytes, end))) end = previous(bytes, end);
  }
  return text.substr(begin, end);
}

std::vector<Text> split(Heap& heap, const Text& text, std::optional<std::string_view> separator,
                        int64_t most) {
  std::vector<Text> parts;
  const std::string_view bytes = text.bytes();
  if (separator) {
    check_separator(*separator);
    size_t begin = 0;
    while (allows_more(parts.size(), most)) {
      const size_t end = find_bytes(bytes, *separator, begin);
      if (end == std::string_view::npos) break;
      add_part(heap, parts, text.substr(begin, end));
      begin = end + separator->size();
    }
    add_part(heap, parts, text.substr(begin, bytes.size()));
    return parts;
  }
  for (const Text::Range word : words(heap, bytes)) {
    if (!allows_more(parts.size(), most)) {
      add_part(heap, parts, strip(text.substr(word.begin, bytes.size()), Sides::left));
      break;
    }
    add_part(heap, parts, text.substr(word.begin, word.end));
  }
  return parts;
}

std::vector<Text> split_right(Heap& heap, const Text& text,
                              std::optional<std::string_view> separator, int64_t most) {
  if (most < 0) return split(heap, text, separator, most);
  std::vector<Text> parts;
  const std::string_view bytes = text.bytes();
  if (separator) {
    check_separator(*separator);
    size_t end = bytes.size();
    while (allows_more(parts.size(), most)) {
      if (end < separator->size()) break;
      const size_t begin =
          rfind_bytes(heap, bytes.substr(0, end), *separator, end - separator->size());
      if (begin == std::string_view::npos) break;
      add_part(heap, parts, text.substr(begin + separator->size(), end));
      end = begin;
    }
    add_part(heap, parts, text.substr(0, end));
  } else {
    const auto found = words(heap, bytes);
    for (size_t i = found.size(); i-- > 0;) {
      if (!allows_more(parts.size(), most)) {
        add_part(heap, parts, text.substr(0, found[i].end));
        // White space in front of what is left stays.
        break;
      }
      add_part(heap, parts, text.substr(found[i].begin, found[i].end));
    }
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<Text> split_lines(Heap& heap, const Text& text, LineEnds ends) {
  std::vector<Text> lines;
  const std::string_view bytes = text.bytes();
  size_t begin = 0;
  for (size_t at = 0; at < bytes.size();) {
    const Utf8Char c = decode_utf8(bytes.substr(at));
    size_t next = at + c.length;
    if (is_line_end(c.code_point)) {
      if (c.code_point == '\r' && next < bytes.size() && bytes[next] == '\n') ++next;
      add_part(heap, lines, text.substr(begin, ends == LineEnds::keep ? next : at));
      begin = next;
    }
    at = next;
  }
  if (begin < bytes.size()) add_part(heap, lines, text.substr(begin, bytes.size()));
  return lines;
}

Text replace(Heap& heap, const Text& text, std::string_view from, const Text& to, int64_t most) {
  Text out;
  const std::string_view bytes = text.bytes();
  size_t at = 0;
  for (size_t done = 0; allows_more(done, most); ++done) {
    size_t found = find_bytes(bytes, from, at);
    // An empty pattern stands in front of every character and at the end.
    if (from.empty() && done > 0) {
      if (at == bytes.size()) break;
      found = at + decode_utf8(bytes.substr(at)).length;
    }
    if (found == std::string_view::npos) break;
    heap.spend();
    heap.charge(to.size());
    out.append(text, at, found);
    out.append(to);
    at = found + from.size();
  }
  out.append(text, at, bytes.size());
  return out;
}

}  // namespace arion::jinja

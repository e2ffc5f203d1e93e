// The filter `wordwrap`: what Python's textwrap makes of every line.
#include <algorithm>

#include "base/error.h"
#include "base/utf8.h"
#include "jinja/arguments.h"
#include "jinja/filters.h"
#include "jinja/operators.h"
#include "jinja/python_unicode.h"
#include "jinja/text_ops.h"

namespace arion::jinja {
namespace {

// Of textwrap: other white space is part of words.
bool is_ascii_space(char32_t c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

bool is_letter(char32_t c) {
  return is_word(c) && (char_flags(c) & kDecimal) == 0;
}

bool is_word_or_punctuation(char32_t c) {
  return is_word(c) || c == '!' || c == '"' || c == '\'' || c == '&' || c == '.' || c == ',' ||
         c == '?';
}

struct WrapOptions {
  int64_t width;
  bool breaks_words;       // that are longer than a line
  bool splits_at_hyphens;  // between lines
  bool prefers_hyphens;    // where a long word is broken
};

// Offsets in characters.
struct Span {
  size_t begin, end;
  size_t size() const { return end - begin; }
};

// One line of the source, to be cut into lines of its own.
class Wrapper {
 public:
  Wrapper(Heap& heap, const Text& line) : line_(line) {
    heap.charge(line.size() * sizeof(Character));
    heap.spend(line.size() / 4);
    size_t at = 0, words = 0;
    while (at < line.size()) {
      const Utf8Char c = decode_utf8(line.bytes().substr(at));
      characters_.push_back({c.code_point, at, words});
      if (!is_space(c.code_point)) ++words;
      at += c.length;
    }
    characters_.push_back({0, at, words});
  }

  std::vector<Text> wrap(const WrapOptions& options) {
    std::vector<Text> lines;
    const size_t width = static_cast<size_t>(options.width);
    Span chunk = next_chunk(0, options);
    const auto advance = [&] { chunk = next_chunk(chunk.end, options); };
    while (chunk.size() > 0) {
      if (!lines.empty() && is_blank(chunk)) advance();
      Span made{chunk.begin, chunk.begin};
      Span last = made;  // of the parts of the line
      bool has_parts = false;
      while (chunk.size() > 0 && made.size() + chunk.size() <= width) {
        last = chunk;
        made.end = chunk.end;
        has_parts = true;
        advance();
      }
      if (chunk.size() > width) {
        if (options.breaks_words) {
          last = {chunk.begin, break_of(chunk, width - made.size(), options)};
          made.end = chunk.begin = last.end;
          has_parts = true;
        } else if (!has_parts) {
          last = chunk;
          made.end = chunk.end;
          has_parts = true;
          advance();
        }
      }
      if (has_parts && is_blank(last)) made.end = last.begin;
      if (made.size() > 0) {
        lines.push_back(line_.substr(characters_[made.begin].offset, characters_[made.end].offset));
      }
    }
    return lines;
  }

 private:
  struct Character {
    char32_t code_point;
    size_t offset;  // in bytes
    size_t words;   // characters before that are not white space
  };

  size_t size() const { return characters_.size() - 1; }
  char32_t at(size_t i) const { return characters_[i].code_point; }
  bool is_blank(Span span) const {
    return characters_[span.begin].words == characters_[span.end].words;
  }
  bool is_letter_at(size_t i) const { return i < size() && is_letter(at(i)); }

  // The end of two hyphens or more with a word behind them, 0 where there are none.
  size_t dash_end(size_t i) const {
    size_t end = i;
    while (end < size() && at(end) == '-') ++end;
    return end >= i + 2 && end < size() && is_word(at(end)) ? end : 0;
  }

  // A hyphen that splits a word: behind two letters, in front of one.
  bool is_split(size_t i) const {
    if (at(i) != '-' || i < 2 || !is_letter(at(i - 1))) return false;
    const bool is_behind =
        is_letter(at(i - 2)) || (i >= 3 && at(i - 2) == '-' && is_letter(at(i - 3)));
    return is_behind && is_letter_at(i + 1) &&
           (is_letter_at(i + 2) || (i + 2 < size() && at(i + 2) == '-' && is_letter_at(i + 3)));
  }

  // White space, or what no line end may come into. Empty at the end.
  Span next_chunk(size_t begin, const WrapOptions& options) const {
    size_t end = begin;
    if (begin < size() && is_ascii_space(at(begin))) {
      while (end < size() && is_ascii_space(at(end))) ++end;
      return {begin, end};
    }
    if (options.splits_at_hyphens && begin > 0 && is_word_or_punctuation(at(begin - 1))) {
      if (const size_t dash = dash_end(begin)) return {begin, dash};
    }
    while (end < size() && !is_ascii_space(at(end))) {
      if (options.splits_at_hyphens && end > begin) {
        if (is_split(end)) return {begin, end + 1};
        if (is_word_or_punctuation(at(end - 1)) && dash_end(end) > 0) break;
      }
      ++end;
    }
    return {begin, end};
  }

  // Where a chunk is broken that has `room` characters left.
  size_t break_of(Span chunk, size_t room, const WrapOptions& options) const {
    const size_t end = chunk.begin + room;
    if (!options.prefers_hyphens) return end;
    size_t hyphen = end;
    while (hyphen > chunk.begin && at(hyphen - 1) != '-') --hyphen;
    for (size_t i = chunk.begin; i + 1 < hyphen; ++i) {
      if (at(i) != '-') return hyphen;
    }
    return end;
  }

  const Text& line_;
  std::vector<Character> characters_;  // and the end
};

}  // namespace

Value filter_wordwrap(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const Bound bound("wordwrap", arguments,
                    {"width", "break_long_words", "wrapstring", "break_on_hyphens"});
  Heap& heap = runtime.heap();
  if (subject.is_undefined()) fail_undefined(subject);
  if (!subject.is_string()) {
    fail(ErrorCode::bad_input, "'{}' object has no attribute 'splitlines'", type_name(subject));
  }
  const bool uses_hyphens = bound.flag(3, true);
  const WrapOptions options{
      .width = bound.has(0) ? to_index(bound[0], "width") : 79,
      .breaks_words = bound.flag(1, true),
      .splits_at_hyphens = uses_hyphens && (!bound.has(3) || bound[3].is(Kind::boolean)),
      .prefers_hyphens = uses_hyphens};
  const Text separator = bound.given(2) ? bound.text(2) : Text("\n");
  Text out;
  bool is_first = true;
  for (const Text& line : split_lines(heap, subject.text())) {
    if (options.width <= 0) {
      fail(ErrorCode::bad_input, "invalid width {} (must be > 0)", options.width);
    }
    std::vector<Text> wrapped = Wrapper(heap, line).wrap(options);
    if (wrapped.empty()) wrapped.emplace_back();
    heap.charge(wrapped.size() * (sizeof(Text) + separator.size()));
    for (const Text& part : wrapped) {
      if (!std::exchange(is_first, false)) out.append(separator);
      out.append(part);
    }
  }
  return make_string(heap, std::move(out));
}

}  // namespace arion::jinja

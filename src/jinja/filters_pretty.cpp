// The filter `pprint`: Python's pprint.pformat, 80 columns wide.
#include <algorithm>

#include "base/error.h"
#include "base/utf8.h"
#include "jinja/arguments.h"
#include "jinja/filters.h"
#include "jinja/operators.h"
#include "jinja/text_ops.h"

namespace arion::jinja {
namespace {

int64_t width_of(const Text& text) {
  return static_cast<int64_t>(count_characters(text.bytes()));
}

bool is_plain_sequence(const Value& value) {
  return value.is_sequence() && !value.as_list().is_group;
}

// Python sorts what has no order by the names of the types.
bool is_key_before(Heap& heap, const Value& a, const Value& b) {
  const bool is_alike = (a.is_number() && b.is_number()) || type_name(a) == type_name(b);
  if (!is_alike) return type_name(a) < type_name(b);
  return !a.is_none() && is_ordered(heap, Order::less, a, b);
}

std::vector<DictObject::Entry> sorted_entries(Heap& heap, const DictObject& dict) {
  heap.charge(dict.size() * sizeof(DictObject::Entry));
  std::vector<DictObject::Entry> entries = dict.entries();
  std::stable_sort(entries.begin(), entries.end(), [&](const auto& a, const auto& b) {
    return is_key_before(heap, a.first, b.first);
  });
  return entries;
}

class PrettyPrinter {
 public:
  explicit PrettyPrinter(Heap& heap) : heap_(heap) {}

  // `indent`: the column it begins in; `allowance`: columns wanted behind it.
  void format(const Value& value, int64_t indent, int64_t allowance, int level) {
    Text line;
    append_line(line, value, level);
    if (width_of(line) <= kWidth - indent - allowance) return write(line);
    if (value.is_dict()) {
      write(Text("{"));
      entries(value.as_dict(), indent + 1, allowance + 1, level + 1);
      write(Text("}"));
    } else if (is_plain_sequence(value)) {
      const bool is_list = value.is(Kind::list);
      const std::string_view close = is_list ? "]" : value.items().size() == 1 ? ",)" : ")";
      write(Text(is_list ? "[" : "("));
      items(value.items(), indent + 1, allowance + static_cast<int64_t>(close.size()), level + 1);
      write(Text(std::string(close)));
    } else if (value.is_string() && !value.as_string().is_markup && !value.text().empty()) {
      string(value.text(), indent, allowance, level + 1);
    } else {
      write(line);
    }
  }

  Text take() { return std::move(out_); }

 private:
  static constexpr int64_t kWidth = 80;

  void check_size(size_t more) const {
    if (out_.size() + more > heap_.limits().output_bytes) {
      fail(ErrorCode::bad_input, "text of a value is longer than {} bytes",
           heap_.limits().output_bytes);
    }
  }

  void write(const Text& text) {
    heap_.spend(1 + text.size() / 16);
    check_size(text.size());
    out_.append(text);
  }

  void new_line(int64_t indent) {
    const auto spaces = static_cast<size_t>(indent);
    check_size(spaces);
    write(Text("\n" + std::string(spaces, ' ')));
  }

  // repr() in one line, but with the keys of dicts sorted.
  void append_line(Text& line, const Value& value, int level) {
    heap_.spend();
    if (level > kMaxValueNesting) fail(ErrorCode::bad_input, "maximum recursion depth exceeded");
    check_size(line.size());
    bool is_first = true;
    const auto separate = [&] {
      if (!std::exchange(is_first, false)) line.append(", ");
    };
    if (value.is_dict()) {
      line.append("{");
      for (const auto& [key, item] : sorted_entries(heap_, value.as_dict())) {
        separate();
        append_line(line, key, level + 1);
        line.append(": ");
        append_line(line, item, level + 1);
      }
      line.append("}");
    } else if (is_plain_sequence(value)) {
      const bool is_list = value.is(Kind::list);
      line.append(is_list ? "[" : "(");
      for (const Value& item : value.items()) {
        separate();
        append_line(line, item, level + 1);
      }
      line.append(is_list ? "]" : value.items().size() == 1 ? ",)" : ")");
    } else {
      line.append(repr_text(heap_, value));
    }
  }

  void entries(const DictObject& dict, int64_t indent, int64_t allowance, int level) {
    const auto sorted = sorted_entries(heap_, dict);
    for (size_t i = 0; i < sorted.size(); ++i) {
      const auto& [key, item] = sorted[i];
      const bool is_last = i + 1 == sorted.size();
      Text shown;
      append_line(shown, key, level);
      write(shown);
      write(Text(": "));
      format(item, indent + width_of(shown) + 2, is_last ? allowance : 1, level);
      if (is_last) break;
      write(Text(","));
      new_line(indent);
    }
  }

  void items(const std::vector<Value>& values, int64_t indent, int64_t allowance, int level) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0) {
        write(Text(","));
        new_line(indent);
      }
      format(values[i], indent, i + 1 == values.size() ? allowance : 1, level);
    }
  }

  // Words, each with the white space behind it.
  std::vector<Text> words_of(const Text& line) {
    std::vector<Text> words;
    size_t begin = 0;
    bool was_space = false;
    for (size_t at = 0; at < line.size();) {
      const Utf8Char c = decode_utf8(line.bytes().substr(at));
      const bool is_blank = is_space(c.code_point);
      if (was_space && !is_blank) {
        heap_.charge(sizeof(Text));
        words.push_back(line.substr(begin, at));
        begin = at;
      }
      was_space = is_blank;
      at += c.length;
    }
    if (begin < line.size()) words.push_back(line.substr(begin, line.size()));
    return words;
  }

  // Pieces that fit the width, cut behind white space; Python joins such literals.
  void string(const Text& text, int64_t indent, int64_t allowance, int level) {
    const bool is_outermost = level == 1;
    if (is_outermost) {
      ++indent;
      ++allowance;
    }
    const int64_t width = kWidth - indent;
    std::vector<Text> pieces;
    const auto add = [&](Text piece) {
      heap_.charge(sizeof(Text) + piece.size());
      pieces.push_back(std::move(piece));
    };
    const std::vector<Text> lines = split_lines(heap_, text, LineEnds::keep);
    for (size_t i = 0; i < lines.size(); ++i) {
      const int64_t last_width = i + 1 == lines.size() ? width - allowance : width;
      Text line = quoted(lines[i]);
      if (width_of(line) <= last_width) {
        add(std::move(line));
        continue;
      }
      Text piece;
      const std::vector<Text> words = words_of(lines[i]);
      for (size_t j = 0; j < words.size(); ++j) {
        Text candidate = piece;
        candidate.append(words[j]);
        heap_.spend(1 + candidate.size() / 16);
        if (width_of(quoted(candidate)) > (j + 1 == words.size() ? last_width : width)) {
          if (!piece.empty()) add(quoted(piece));
          piece = words[j];
        } else {
          piece = std::move(candidate);
        }
      }
      if (!piece.empty()) add(quoted(piece));
    }
    if (pieces.size() == 1) return write(pieces[0]);
    if (is_outermost) write(Text("("));
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (i > 0) new_line(indent);
      write(pieces[i]);
    }
    if (is_outermost) write(Text(")"));
  }

  Heap& heap_;
  Text out_;
};

}  // namespace

Value filter_pprint(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  Bound("pprint", arguments, {});
  PrettyPrinter printer(runtime.heap());
  printer.format(subject, 0, 0, 0);
  return make_string(runtime.heap(), printer.take());
}

}  // namespace arion::jinja

// json.dumps().
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/utf8.h"
#include "jinja/json.h"
#include "jinja/operators.h"

namespace arion::jinja {
namespace {

// As deep as parse_json() goes.
constexpr int kMaxLevels = 500;

class Writer {
 public:
  Writer(Heap& heap, const JsonStyle& style) : heap_(heap), style_(style) {}

  Text take() { return std::move(out_); }

  void write(const Value& value, int level) {
    heap_.spend();
    if (level > kMaxLevels) fail(ErrorCode::bad_input, "maximum recursion depth exceeded");
    if (out_.size() > heap_.limits().output_bytes) {
      fail(ErrorCode::bad_input, "JSON text is longer than {} bytes", heap_.limits().output_bytes);
    }
    switch (value.kind()) {
      case Kind::string:
        return write_string(value.text());
      case Kind::list:
      case Kind::tuple:
        return write_list(value.items(), level);
      case Kind::dict:
        return write_dict(value.as_dict(), level);
      default:
        out_.append(scalar(value));
    }
  }

 private:
  std::string scalar(const Value& value) const {
    switch (value.kind()) {
      case Kind::none:
        return "null";
      case Kind::boolean:
        return value.as_bool() ? "true" : "false";
      case Kind::integer:
      case Kind::big_integer:
        return number_repr(value);
      case Kind::real:
        if (std::isnan(value.as_real())) return "NaN";
        if (std::isinf(value.as_real())) return value.as_real() < 0 ? "-Infinity" : "Infinity";
        return float_repr(value.as_real());
      default:
        fail(ErrorCode::bad_input, "Object of type {} is not JSON serializable", type_name(value));
    }
  }

  void new_line(int level) {
    if (!style_.has_indent) return;
    heap_.charge(style_.indent.size() * static_cast<size_t>(level));
    out_.append("\n");
    for (int i = 0; i < level; ++i) out_.append(style_.indent);
  }

  void write_list(const std::vector<Value>& items, int level) {
    if (items.empty()) return out_.append("[]");
    out_.append("[");
    bool is_first = true;
    for (const Value& item : items) {
      if (!is_first) out_.append(style_.item_separator);
      is_first = false;
      new_line(level + 1);
      write(item, level + 1);
    }
    new_line(level);
    out_.append("]");
  }

  std::vector<DictObject::Entry> sorted(const DictObject& dict) {
    std::vector<DictObject::Entry> entries = dict.entries();
    std::stable_sort(entries.begin(), entries.end(), [&](const auto& a, const auto& b) {
      return is_ordered(heap_, Order::less, a.first, b.first);
    });
    return entries;
  }

  void write_dict(const DictObject& dict, int level) {
    if (dict.size() == 0) return out_.append("{}");
    out_.append("{");
    bool is_first = true;
    for (const auto& [key, value] : style_.sort_keys ? sorted(dict) : dict.entries()) {
      if (!is_first) out_.append(style_.item_separator);
      is_first = false;
      new_line(level + 1);
      write_key(key);
      out_.append(style_.key_separator);
      write(value, level + 1);
    }
    new_line(level);
    out_.append("}");
  }

  void write_key(const Value& key) {
    if (key.is_string()) return write_string(key.text());
    if (!key.is_number() && !key.is_none()) {
      fail(ErrorCode::bad_input, "keys must be str, int, float, bool or None, not {}",
           type_name(key));
    }
    out_.append("\"" + scalar(key) + "\"");
  }

  void append_unicode_escape(char32_t unit, Origin origin) {
    out_.append(fmt::format("\\u{:04x}", static_cast<uint32_t>(unit)), origin);
  }

  void write_string(const Text& text) {
    heap_.spend(text.size() / 16);
    out_.append("\"");
    const std::string_view bytes = text.bytes();
    for (size_t at = 0; at < bytes.size();) {
      const size_t plain = at;
      while (at < bytes.size() && is_plain(bytes[at])) ++at;
      out_.append(text, plain, at);
      if (at == bytes.size()) break;
      const Utf8Char c = decode_utf8(bytes.substr(at));
      write_escaped(c.code_point, text.origin_at(at));
      at += c.length;
    }
    out_.append("\"");
  }

  bool is_plain(char c) const {
    const uint8_t byte = static_cast<uint8_t>(c);
    if (byte < 0x20 || c == '"' || c == '\\') return false;
    return !style_.ensure_ascii || byte < 0x7F;
  }

  void write_escaped(char32_t c, Origin origin) {
    constexpr std::string_view kShort = "\"\"\\\\\nn\rr\tt\bb\ff";
    for (size_t i = 0; i < kShort.size(); i += 2) {
      if (c != static_cast<char32_t>(kShort[i])) continue;
      return out_.append(std::string{'\\', kShort[i + 1]}, origin);
    }
    if (c >= 0x10000) {
      append_unicode_escape(0xD800 + ((c - 0x10000) >> 10), origin);
      c = 0xDC00 + ((c - 0x10000) & 0x3FF);
    }
    append_unicode_escape(c, origin);
  }

  Heap& heap_;
  const JsonStyle& style_;
  Text out_;
};

}  // namespace

Text to_json(Heap& heap, const Value& value, const JsonStyle& style) {
  Writer writer(heap, style);
  writer.write(value, 0);
  return writer.take();
}

}  // namespace arion::jinja

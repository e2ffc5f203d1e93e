// The filter `urlize`: links around URLs and mail addresses.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/error.h"
#include "base/utf8.h"
#include "jinja/arguments.h"
#include "jinja/filters.h"
#include "jinja/format.h"
#include "jinja/operators.h"
#include "jinja/python_unicode.h"
#include "jinja/text_ops.h"

namespace arion::jinja {
namespace {

constexpr auto kNone = std::string_view::npos;

char lower_ascii(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// `lower` is ASCII in lower case.
bool starts_with_caseless(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         std::ranges::equal(text.substr(0, lower.size()), lower, {}, lower_ascii);
}

bool is_decimal(char32_t c) {
  return (char_flags(c) & kDecimal) != 0;
}
bool is_ascii_letter(char32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_hex(char32_t c) {
  return is_decimal(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// Whether it is [least, most] characters, all of a class.
template <typename IsMember>
bool consists_of(std::string_view text, size_t least, size_t most, IsMember is_member) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); ++count) {
    const Utf8Char c = decode_utf8(text.substr(at));
    if (!is_member(c.code_point)) return false;
    at += c.length;
  }
  return count >= least && count <= most;
}

// Labels of [least, ...] characters, each with a dot behind it.
bool is_labels(std::string_view text, size_t least, size_t most) {
  const auto is_member = [](char32_t c) { return is_word(c) || c == '%' || c == '-'; };
  while (!text.empty()) {
    const size_t dot = text.find('.');
    if (dot == kNone || !consists_of(text.substr(0, dot), least, most, is_member)) return false;
    text.remove_prefix(dot + 1);
  }
  return true;
}

struct Host {
  std::string_view labels, top;
  explicit Host(std::string_view host)
      : labels(host.substr(0, host.rfind('.') + 1)), top(host.substr(labels.size())) {}
};

bool is_any_host(std::string_view text) {
  const Host host(text);
  const bool is_international =
      starts_with_caseless(host.top, "xn--") &&
      consists_of(host.top.substr(4), 2, 59, [](char32_t c) { return is_word(c) || c == '%'; });
  return is_labels(host.labels, 1, kNone) &&
         (is_international || consists_of(host.top, 2, 63, is_ascii_letter));
}

// Known without a scheme.
bool is_common_host(std::string_view text) {
  constexpr std::string_view kTops[] = {"com", "net", "int", "edu", "gov", "org", "info", "mil"};
  const Host host(text);
  return !host.labels.empty() && is_labels(host.labels, 2, 63) &&
         std::ranges::any_of(kTops, [&](std::string_view top) {
           return host.top.size() == top.size() && starts_with_caseless(host.top, top);
         });
}

bool is_ipv4(std::string_view text) {
  for (int i = 0; i < 3; ++i) {
    const size_t dot = text.find('.');
    if (dot == kNone || !consists_of(text.substr(0, dot), 1, 3, is_decimal)) return false;
    text.remove_prefix(dot + 1);
  }
  return consists_of(text, 1, 3, is_decimal);
}

// Between brackets: two groups with colons, then one to six whose colons may be absent.
bool is_ipv6(std::string_view text) {
  size_t at = 0;
  for (int group = 0; group < 8; ++group) {
    for (int digits = 0; digits < 4 && at < text.size(); ++digits) {
      const Utf8Char c = decode_utf8(text.substr(at));
      if (!is_hex(c.code_point)) break;
      at += c.length;
    }
    if (at < text.size() && text[at] == ':') {
      ++at;
    } else if (group < 2) {
      return false;
    }
  }
  return at == text.size();
}

// "", ":80", "/path", ":80?query".
bool is_port_and_path(std::string_view text) {
  if (text.starts_with(':')) {
    const size_t end = std::min(text.find_first_of("/?#"), text.size());
    if (!consists_of(text.substr(1, end - 1), 1, 5, is_decimal)) return false;
    text.remove_prefix(end);
  }
  return text.empty() || std::string_view("/?#").find(text[0]) != kNone;
}

// After Jinja's own expression; `text` has no white space.
bool is_url(std::string_view text) {
  size_t scheme = 0;
  for (const std::string_view start : {"https://", "http://", "www."}) {
    if (starts_with_caseless(text, start)) scheme = std::max(scheme, start.size());
  }
  const bool has_scheme = scheme > 4;
  const std::string_view rest = text.substr(scheme);
  if (has_scheme && rest.starts_with('[')) {
    const size_t end = rest.find(']');
    return end != kNone && is_ipv6(rest.substr(1, end - 1)) &&
           is_port_and_path(rest.substr(end + 1));
  }
  const auto host_of = [](std::string_view url) {
    return url.substr(0, std::min(url.find_first_of(":/?#"), url.size()));
  };
  const std::string_view host = host_of(rest);
  if (!is_port_and_path(rest.substr(host.size()))) return false;
  if (scheme > 0 && is_any_host(host)) return true;
  return has_scheme ? is_ipv4(host) : is_common_host(host_of(text));
}

bool is_mail_address(std::string_view text) {
  const size_t sign = text.rfind('@');
  if (sign == kNone || sign == 0) return false;
  const std::string_view domain = text.substr(sign + 1);
  const size_t dot = domain.rfind('.');
  if (dot == kNone || dot == 0 || !is_word(decode_utf8(domain).code_point)) return false;
  return consists_of(domain.substr(0, dot), 1, kNone,
                     [](char32_t c) { return is_word(c) || c == '.' || c == '-'; }) &&
         consists_of(domain.substr(dot + 1), 1, kNone, is_word);
}

// Offsets of a word without brackets in front and punctuation behind.
struct Core {
  size_t begin, end;
};

size_t count_of(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != kNone; at = text.find(part, at + part.size())) ++count;
  return count;
}

Core find_core(std::string_view word) {
  Core core{0, word.size()};
  const auto in_front = [&]() -> size_t {
    const std::string_view rest = word.substr(core.begin);
    if (rest.starts_with('(') || rest.starts_with('<')) return 1;
    return rest.starts_with("&lt;") ? 4 : 0;
  };
  while (const size_t size = in_front()) core.begin += size;
  const auto behind = [&]() -> size_t {
    const std::string_view rest = word.substr(core.begin, core.end - core.begin);
    if (rest.ends_with("&gt;")) return 4;
    return !rest.empty() && std::string_view(")>.,").find(rest.back()) != kNone ? 1 : 0;
  };
  while (const size_t size = behind()) core.end -= size;
  // Brackets of the URL itself stay balanced.
  constexpr std::pair<std::string_view, std::string_view> kBrackets[] = {
      {"(", ")"}, {"<", ">"}, {"&lt;", "&gt;"}};
  for (const auto& [open, close] : kBrackets) {
    const std::string_view inside = word.substr(core.begin, core.end - core.begin);
    const size_t opened = count_of(inside, open);
    if (opened <= count_of(inside, close)) continue;
    size_t left = std::min(opened, count_of(word.substr(core.end), close));
    for (; left > 0; --left) core.end = word.find(close, core.end) + close.size();
  }
  return core;
}

class Linker {
 public:
  Linker(Runtime& runtime, const Arguments& arguments)
      : heap_(runtime.heap()),
        bound_("urlize", arguments,
               {"trim_url_limit", "nofollow", "target", "rel", "extra_schemes"}),
        limit_(bound_.integer(0)) {
    add_rel();
    if (bound_.given(2) && truth(bound_[2])) add_attribute("target", bound_[2]);
    if (!bound_.given(4)) return;
    const Iterator next = iterate(heap_, bound_[4]);
    while (const auto scheme = next()) add_scheme(*scheme);
  }

  void link(Text& out, const Text& word) const {
    const auto [begin, end] = find_core(word.bytes());
    out.append(word, 0, begin);
    link_core(out, word.substr(begin, end));
    out.append(word, end, word.size());
  }

 private:
  void add_attribute(std::string_view name, const Value& value) {
    attributes_.append(fmt::format(" {}=\"", name));
    attributes_.append(escape_unless_markup(heap_, value));
    attributes_.append("\"");
  }

  // In order of code points, each once.
  void add_rel() {
    std::set<std::string> parts{"noopener"};
    if (bound_.given(3) && truth(bound_[3])) {
      for (const Text& part : split(heap_, bound_.text(3), std::nullopt, -1)) {
        parts.emplace(part.bytes());
      }
    }
    if (bound_.flag(1, false)) parts.insert("nofollow");
    std::string rel;
    for (const std::string& part : parts) rel += (rel.empty() ? "" : " ") + part;
    const Origin origin =
        bound_.given(3) && bound_[3].is_string() ? bound_[3].text().origin() : Origin::markup;
    add_attribute("rel", make_string(heap_, Text(rel, origin)));
  }

  void add_scheme(const Value& scheme) {
    if (!scheme.is_string()) {
      fail(ErrorCode::bad_input, "expected string or bytes-like object, got '{}'",
           type_name(scheme));
    }
    const std::string_view text = scheme.bytes();
    const size_t colon = std::min(text.find(':'), text.size());
    const std::string_view slashes = text.substr(colon);
    const bool is_valid = (slashes == ":" || slashes == ":/" || slashes == "://") &&
                          consists_of(text.substr(0, colon), 2, kNone, [](char32_t c) {
                            return is_word(c) || c == '.' || c == '+' || c == '-';
                          });
    if (!is_valid) {
      fail(ErrorCode::bad_input, "{} is not a valid URI scheme prefix.",
           repr_text(heap_, scheme).bytes());
    }
    heap_.charge(text.size());
    schemes_.emplace_back(text);
  }

  struct Link {
    std::string_view prefix;  // of the address
    Text shown;
    bool has_attributes;
  };

  Text trimmed(const Text& url) const {
    if (!limit_) return url;
    const auto length = static_cast<int64_t>(count_characters(url.bytes()));
    if (length <= *limit_) return url;
    Text cut = first_characters(
        url, static_cast<size_t>(*limit_ >= 0 ? *limit_ : std::max<int64_t>(0, length + *limit_)));
    cut.append("...");
    return cut;
  }

  std::optional<Link> find_link(const Text& core) const {
    const std::string_view text = core.bytes();
    if (is_url(text)) {
      const bool has_scheme = text.starts_with("https://") || text.starts_with("http://");
      return Link{has_scheme ? "" : "https://", trimmed(core), true};
    }
    if (text.starts_with("mailto:") && is_mail_address(text.substr(7))) {
      return Link{"", core.substr(7, core.size()), false};
    }
    if (!text.starts_with("www.") && !text.starts_with('@') && text.find(':') == kNone &&
        is_mail_address(text)) {
      return Link{"mailto:", core, false};
    }
    for (const std::string& scheme : schemes_) {
      heap_.spend();
      if (text != scheme && text.starts_with(scheme)) return Link{"", core, true};
    }
    return std::nullopt;
  }

  void link_core(Text& out, const Text& core) const {
    const auto link = find_link(core);
    if (!link) return out.append(core);
    heap_.charge(attributes_.size() + 2 * core.size());
    out.append("<a href=\"");
    out.append(link->prefix);
    out.append(core);
    out.append("\"");
    if (link->has_attributes) out.append(attributes_);
    out.append(">");
    out.append(link->shown);
    out.append("</a>");
  }

  Heap& heap_;
  const Bound bound_;
  const std::optional<int64_t> limit_;
  Text attributes_;  // of links, escaped
  std::vector<std::string> schemes_;
};

}  // namespace

Value filter_urlize(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  Heap& heap = runtime.heap();
  const Linker linker(runtime, arguments);
  const Text text = escape_unless_markup(heap, subject);
  heap.charge(text.size());
  heap.spend(text.size() / 2);
  Text out;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = decode_utf8(text.bytes().substr(at));
    if (is_space(c.code_point)) {
      if (begin < at) linker.link(out, text.substr(begin, at));
      out.append(text, at, at + c.length);
      begin = at + c.length;
    }
    at += c.length;
  }
  if (begin < text.size()) linker.link(out, text.substr(begin, text.size()));
  return make_string(heap, std::move(out));
}

}  // namespace arion::jinja

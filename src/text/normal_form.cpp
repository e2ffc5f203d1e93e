// Decomposition by table, canonical ordering, composition, and Hangul by arithmetic (UAX #15).
#include "text/normal_form.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "text/unicode.h"

namespace arion {
namespace {

// `length` code points of kPool from `begin` on are what `code_point` becomes.
struct Mapping {
  uint32_t code_point;
  uint16_t begin;
  uint16_t length;
};
struct CombiningClass {
  uint32_t code_point;
  uint8_t value;
};
struct Composition {
  uint32_t first, second, composed;
};

#include "text/generated/normalization_tables.inc"

// Unicode 16, section 3.12.
constexpr char32_t kHangul = 0xAC00, kLeads = 0x1100, kVowels = 0x1161, kTrails = 0x11A7;
constexpr char32_t kLeadCount = 19, kVowelCount = 21, kTrailCount = 28;
constexpr char32_t kHangulCount = kLeadCount * kVowelCount * kTrailCount;

constexpr char32_t kFirstMapped = 0x80;  // ASCII is in every normal form

std::span<const char32_t> find_mapping(std::span<const Mapping> table, char32_t code_point) {
  const auto at =
      std::lower_bound(table.begin(), table.end(), code_point,
                       [](const Mapping& m, char32_t value) { return m.code_point < value; });
  if (at == table.end() || at->code_point != code_point) return {};
  return {kPool + at->begin, at->length};
}

uint8_t combining_class(char32_t code_point) {
  if (code_point < kClasses[0].code_point) return 0;
  const auto at = std::lower_bound(
      std::begin(kClasses), std::end(kClasses), code_point,
      [](const CombiningClass& c, char32_t value) { return c.code_point < value; });
  return at != std::end(kClasses) && at->code_point == code_point ? at->value : 0;
}

// 0 if the two do not compose.
char32_t compose(char32_t first, char32_t second) {
  if (first - kLeads < kLeadCount && second - kVowels < kVowelCount) {
    return kHangul + ((first - kLeads) * kVowelCount + (second - kVowels)) * kTrailCount;
  }
  const bool has_no_trail = first - kHangul < kHangulCount && (first - kHangul) % kTrailCount == 0;
  if (has_no_trail && second > kTrails && second < kTrails + kTrailCount) {
    return first + (second - kTrails);
  }
  const auto at = std::lower_bound(std::begin(kCompositions), std::end(kCompositions), first,
                                   [second](const Composition& c, char32_t value) {
                                     return c.first != value ? c.first < value : c.second < second;
                                   });
  const bool is_found = at != std::end(kCompositions) && at->first == first && at->second == second;
  return is_found ? at->composed : 0;
}

// The characters since the last one that nothing can combine with or move across.
class Run {
 public:
  Run(std::string& out, bool composes) : out_(out), composes_(composes) {}

  void push(char32_t code_point) {
    const uint8_t value = combining_class(code_point);
    if (value == 0) close_marks();
    chars_.push_back({code_point, value});
  }
  // Writes everything: what follows cannot combine with it.
  void flush() {
    close_marks();
    for (const Char& c : chars_) append_utf8(out_, c.code_point);
    chars_.clear();
  }

 private:
  struct Char {
    char32_t code_point;
    uint8_t value;  // combining class
  };

  // Sorts the marks at the end and composes them with their starter; a second starter then lies
  // directly behind the first and may compose with it, too.
  void close_marks() {
    auto marks = chars_.end();
    while (marks != chars_.begin() && (marks - 1)->value != 0) --marks;
    std::stable_sort(marks, chars_.end(),
                     [](const Char& a, const Char& b) { return a.value < b.value; });
    if (!composes_) {
      for (const Char& c : chars_) append_utf8(out_, c.code_point);
      chars_.clear();
      return;
    }
    compose_all();
  }

  void compose_all() {
    if (chars_.empty()) return;
    size_t starter = chars_[0].value == 0 ? 0 : SIZE_MAX;
    size_t kept = 1;
    for (size_t i = 1; i < chars_.size(); ++i) {
      const Char c = chars_[i];
      // Blocked by what stands between, unless that has a lower class; 0 means nothing is between.
      const bool is_adjacent = kept == starter + 1;
      const bool is_free = is_adjacent || (chars_[kept - 1].value < c.value && c.value != 0);
      const char32_t composed =
          starter != SIZE_MAX && is_free ? compose(chars_[starter].code_point, c.code_point) : 0;
      if (composed != 0) {
        chars_[starter].code_point = composed;
        continue;
      }
      if (c.value == 0) starter = kept;
      chars_[kept++] = c;
    }
    chars_.resize(kept);
    // All but the last starter and its marks are final.
    if (starter == SIZE_MAX || starter == 0) return;
    for (size_t i = 0; i < starter; ++i) append_utf8(out_, chars_[i].code_point);
    chars_.erase(chars_.begin(), chars_.begin() + static_cast<ptrdiff_t>(starter));
  }

  std::string& out_;
  bool composes_;
  std::vector<Char> chars_;
};

void decompose(char32_t code_point, bool is_compatible, Run& run) {
  if (code_point - kHangul < kHangulCount) {
    const char32_t index = code_point - kHangul;
    run.push(kLeads + index / (kVowelCount * kTrailCount));
    run.push(kVowels + index % (kVowelCount * kTrailCount) / kTrailCount);
    if (index % kTrailCount != 0) run.push(kTrails + index % kTrailCount);
    return;
  }
  std::span<const char32_t> mapping;
  if (is_compatible) mapping = find_mapping(kCompatible, code_point);
  if (mapping.empty()) mapping = find_mapping(kCanonical, code_point);
  if (mapping.empty()) return run.push(code_point);
  for (const char32_t c : mapping) run.push(c);
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<uint8_t>(c) < 0x80; });
}

}  // namespace

std::string to_normal_form(std::string_view text, NormalForm form) {
  if (is_ascii(text)) return std::string(text);
  const bool is_compatible = form == NormalForm::nfkc || form == NormalForm::nfkd;
  const bool composes = form == NormalForm::nfc || form == NormalForm::nfkc;
  std::string out;
  out.reserve(text.size());
  Run run(out, composes);
  while (!text.empty()) {
    const Utf8Char c = decode_utf8(text);
    if (!c.is_valid) {
      run.flush();
      out += text.substr(0, c.length);
    } else if (c.code_point < kFirstMapped) {
      run.push(c.code_point);
    } else {
      decompose(c.code_point, is_compatible, run);
    }
    text.remove_prefix(c.length);
  }
  run.flush();
  return out;
}

std::string to_lower_case(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Char c = decode_utf8(text);
    const auto mapping =
        c.is_valid ? find_mapping(kLowerCase, c.code_point) : std::span<const char32_t>();
    if (mapping.empty()) out += text.substr(0, c.length);
    for (const char32_t lower : mapping) append_utf8(out, lower);
    text.remove_prefix(c.length);
  }
  return out;
}

}  // namespace arion

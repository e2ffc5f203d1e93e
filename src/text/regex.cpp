// Translation of the few escapes that Oniguruma and PCRE2 read differently, compiling, matching.
#include "text/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <new>

#include "base/error.h"

namespace arion {
namespace {

// A match needs a few steps per character of the text; only backtracking without end reaches this.
constexpr uint32_t kMatchLimit = 50'000'000;
// Grown on demand, from the size that fits any pattern without unbounded backtracking.
constexpr size_t kFirstStackBytes = 32 << 10, kMostStackBytes = 16 << 20;

// Classes of Unicode as Oniguruma has them. PCRE2 counts U+180E as a space, which it stopped being
// in Unicode 6.3, and knows words without marks.
constexpr std::string_view kSpaceItems = "\\t-\\r\\x{85}\\p{Z}";
constexpr std::string_view kWordItems = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}";
constexpr std::string_view kHexItems = "0-9A-Fa-f";  // \h

// Items of a set for the lower-case letter of an escape, empty if PCRE2 means the same.
std::string_view items_of(char escape) {
  switch (escape) {
    case 's':
      return kSpaceItems;
    case 'w':
      return kWordItems;
    case 'h':
      return kHexItems;
    default:
      return {};
  }
}

[[noreturn]] void fail_pattern(std::string_view pattern, size_t at, std::string_view what) {
  fail(ErrorCode::bad_input, "regular expression \"{}\", at byte {}: {}", pattern.substr(0, 200),
       at, what);
}

// Spells out escapes that mean something else in PCRE2.
std::string translate(std::string_view pattern) {
  std::string out;
  bool in_set = false;
  for (size_t at = 0; at < pattern.size(); ++at) {
    const char c = pattern[at];
    const char next = at + 1 < pattern.size() ? pattern[at + 1] : '\0';
    const char lower = next >= 'A' && next <= 'Z' ? static_cast<char>(next - 'A' + 'a') : next;
    if (const auto items = items_of(lower); c == '\\' && !items.empty()) {
      if (in_set && next != lower) {
        fail_pattern(pattern, at, "a negated class inside a set is not supported");
      }
      out += in_set ? std::string(items) : fmt::format("[{}{}]", next != lower ? "^" : "", items);
      ++at;
    } else if (c == '\\' && (next == 'b' || next == 'B') && !in_set) {
      const auto form = next == 'b' ? "(?:(?<=[{0}])(?![{0}])|(?<![{0}])(?=[{0}]))"
                                    : "(?:(?<=[{0}])(?=[{0}])|(?<![{0}])(?![{0}]))";
      out += fmt::format(fmt::runtime(form), kWordItems);
      ++at;
    } else if (c == '\\' && next != '\0') {
      out += pattern.substr(at++, 2);
    } else if (in_set && c == '[' && next == ':') {  // [:alpha:]
      const size_t end = pattern.find(":]", at + 2);
      if (end == std::string_view::npos) fail_pattern(pattern, at, "\"[:\" is not closed");
      out += pattern.substr(at, end + 2 - at);
      at = end + 1;
    } else if (in_set && (c == '[' || (c == '&' && next == '&'))) {
      fail_pattern(pattern, at, "sets inside sets and their intersections are not supported");
    } else {
      if (!in_set && c == '[') {
        in_set = true;
        if (next == '^') out += pattern[at++];
        // A bracket that comes first closes nothing.
        if (at + 1 < pattern.size() && pattern[at + 1] == ']') {
          out += pattern[at++];
          out += '\\';
        }
      } else if (in_set && c == ']') {
        in_set = false;
      }
      out += pattern[at];
    }
  }
  return out;
}

template <class T>
T* check_memory(T* pointer) {
  if (pointer == nullptr) throw std::bad_alloc();
  return pointer;
}

}  // namespace

void Regex::Free::operator()(pcre2_code* code) const {
  pcre2_code_free(code);
}

Regex::Regex(std::string_view pattern) : pattern_(pattern) {
  const std::string translated = translate(pattern);
  const std::unique_ptr<pcre2_compile_context, decltype(&pcre2_compile_context_free)> context(
      check_memory(pcre2_compile_context_create(nullptr)), pcre2_compile_context_free);
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  pcre2_set_max_pattern_length(context.get(), 1 << 16);
  int error = 0;
  size_t at = 0;
  code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                            PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C,
                            &error, &at, context.get()));
  if (code_ == nullptr) {
    PCRE2_UCHAR message[256];
    pcre2_get_error_message(error, message, sizeof message);
    fail_pattern(translated, at, reinterpret_cast<const char*>(message));
  }
  has_jit_ = pcre2_jit_compile(code_.get(), PCRE2_JIT_COMPLETE) == 0;
}

void RegexMatcher::Free::operator()(pcre2_match_data* data) const {
  pcre2_match_data_free(data);
}
void RegexMatcher::Free::operator()(pcre2_match_context* context) const {
  pcre2_match_context_free(context);
}
void RegexMatcher::Free::operator()(pcre2_jit_stack* stack) const {
  pcre2_jit_stack_free(stack);
}

RegexMatcher::RegexMatcher()
    : context_(check_memory(pcre2_match_context_create(nullptr))),
      jit_stack_(pcre2_jit_stack_create(kFirstStackBytes, kMostStackBytes, nullptr)),
      data_(check_memory(pcre2_match_data_create(1, nullptr))) {
  pcre2_set_match_limit(context_.get(), kMatchLimit);
  if (jit_stack_) pcre2_jit_stack_assign(context_.get(), nullptr, jit_stack_.get());
}

std::optional<TextRange> RegexMatcher::find(const Regex& regex, std::string_view text,
                                            size_t from) {
  const auto match = regex.has_jit() && jit_stack_ ? &pcre2_jit_match : &pcre2_match;
  const int result =
      match(regex.code(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
            match == &pcre2_match ? PCRE2_NO_UTF_CHECK : 0, data_.get(), context_.get());
  if (result == PCRE2_ERROR_NOMATCH) return std::nullopt;
  if (result < 0) {
    PCRE2_UCHAR message[256];
    pcre2_get_error_message(result, message, sizeof message);
    fail(ErrorCode::bad_input,
         "regular expression \"{}\" cannot be matched against a text of {} bytes: {}",
         regex.pattern().substr(0, 200), text.size(), reinterpret_cast<const char*>(message));
  }
  const size_t* ends = pcre2_get_ovector_pointer(data_.get());
  return TextRange{ends[0], ends[1]};
}

}  // namespace arion

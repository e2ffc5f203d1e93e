#include "io/split_name.h"

#include <fmt/format.h>

#include <charconv>

namespace arion {
namespace {

std::optional<uint64_t> whole_number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string SplitName::file(uint64_t n) const {
  return fmt::format("{}-{:05}-of-{:05}.gguf", prefix, n, count);
}

std::optional<SplitName> parse_split_name(std::string_view file_name) {
  constexpr std::string_view kTail = "-00000-of-00000.gguf";
  if (file_name.size() <= kTail.size()) return std::nullopt;
  const std::string_view prefix = file_name.substr(0, file_name.size() - kTail.size());
  const std::string_view tail = file_name.substr(prefix.size());
  const auto number = whole_number(tail.substr(1, 5));
  const auto count = whole_number(tail.substr(10, 5));
  const bool has_form = tail[0] == '-' && tail.substr(6, 4) == "-of-" && tail.substr(15) == ".gguf";
  if (!has_form || !number || !count) return std::nullopt;
  return SplitName{std::string(prefix), *number, *count};
}

}  // namespace arion

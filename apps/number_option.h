// Checks of numbers on the command line. CLI11's own let NaN pass and say nothing of the form.
#pragma once
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>

namespace arion::app {

// A value that CLI11 can read as a Number within a range. An empty one is none.
template <typename Number>
CLI::Validator number_from(Number low, Number high) {
  auto check = [low, high](std::string& text) -> std::string {
    Number value{};
    const bool is_number = !text.empty() && CLI::detail::lexical_cast(text, value);
    if (is_number && value >= low && value <= high) return {};
    return fmt::format("expected a {}number from {} to {}, got '{}'",
                       std::integral<Number> ? "whole " : "", low, high, text);
  };
  return {check, fmt::format("{} to {}", low, high)};
}

// A range that is checked later, or none.
template <typename Number>
CLI::Validator any_number() {
  auto check = [](std::string& text) -> std::string {
    Number value{};
    if (!text.empty() && CLI::detail::lexical_cast(text, value)) return {};
    return fmt::format("expected a {}number, got '{}'", std::integral<Number> ? "whole " : "",
                       text);
  };
  return {check, ""};
}

// Any number of 64 bits. CLI11 takes -1 for the largest one.
inline CLI::Validator seed_number() {
  auto check = [](std::string& text) -> std::string {
    uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && rest == end) return {};
    return fmt::format("expected a whole number from 0 to {}, got '{}'",
                       std::numeric_limits<uint64_t>::max(), text);
  };
  return {check, ""};
}

// A size in bytes, such as 2G, that is replaced by its number.
inline CLI::Validator size_in_bytes(uint64_t high) {
  auto parse = [high](std::string& text) -> std::string {
    std::string bytes = text;
    uint64_t value = 0;
    bool is_size = !text.empty() && text[0] >= '0' && text[0] <= '9';
    try {
      is_size = is_size && CLI::AsSizeValue(false)(bytes).empty() &&
                CLI::detail::lexical_cast(bytes, value);
    } catch (const CLI::ValidationError&) {  // more than 64 bits
      is_size = false;
    }
    if (!is_size || value < 1 || value > high) {
      return fmt::format("expected a size from 1 to {} bytes, such as 2G, got '{}'", high, text);
    }
    text = bytes;
    return {};
  };
  return {parse, ""};
}

}  // namespace arion::app

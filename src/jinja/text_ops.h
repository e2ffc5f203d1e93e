// Python's string operations on marked text. Results keep the origin of every character.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "jinja/heap.h"
#include "jinja/text.h"

namespace arion::jinja {

enum class Casing : uint8_t { lower, upper, title, capitalize, swap, fold };
Text change_case(const Text& text, Casing casing);

enum class Sides : uint8_t { left, right, both };
// Without white space, or without the characters of `characters`, at its ends.
Text strip(const Text& text, Sides sides, std::optional<std::string_view> characters = {});

// Parts between separators, or between runs of white space. `most` < 0: no limit on cuts.
std::vector<Text> split(Heap& heap, const Text& text, std::optional<std::string_view> separator,
                        int64_t most);
std::vector<Text> split_right(Heap& heap, const Text& text,
                              std::optional<std::string_view> separator, int64_t most);
enum class LineEnds : uint8_t { drop, keep };
std::vector<Text> split_lines(Heap& heap, const Text& text, LineEnds ends = LineEnds::drop);

// At most `most` times when it is not negative.
Text replace(Heap& heap, const Text& text, std::string_view from, const Text& to, int64_t most);

bool is_space(char32_t c);
// A letter, digit or underscore: what \w matches.
bool is_word(char32_t c);
// One or more ASCII digits.
bool is_digits(std::string_view text);

// Byte offset of a code point, for index in [0, length].
size_t byte_offset(std::string_view text, size_t index);
size_t count_characters(std::string_view text);
// As of string_view, but in linear time, or in time that is counted.
size_t find_bytes(std::string_view text, std::string_view part, size_t from = 0);
size_t rfind_bytes(Heap& heap, std::string_view text, std::string_view part,
                   size_t from = std::string_view::npos);
// First byte of the character that ends at `end` > 0.
size_t previous(std::string_view text, size_t end);

}  // namespace arion::jinja

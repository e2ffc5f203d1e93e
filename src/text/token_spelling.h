// How vocabularies spell the bytes of a token.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace arion {

constexpr std::string_view kVisibleSpace = "\xE2\x96\x81";  // U+2581

// GPT-2's printable spelling: every byte as one character, " the" -> "Ġthe".
std::string encode_byte_alphabet(std::string_view bytes);

// Turns GPT-2's printable spelling of bytes back: "Ġthe" -> " the". Characters outside that
// alphabet stand for themselves.
std::string decode_byte_alphabet(std::string_view spelled);
// The same, but nothing if there is a character outside the alphabet.
std::optional<std::string> decode_byte_spelling(std::string_view spelled);

// RWKV's spelling: \t, \n, \r and \xHH stand for a byte, a backslash in front of any other
// character for that character.
std::string decode_escapes(std::string_view spelled);

// "▁the" -> " the".
std::string spaces_from_underscores(std::string_view text);

}  // namespace arion

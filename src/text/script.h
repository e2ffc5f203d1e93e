// The script of a character, as far as pre-tokenizers tell them apart.
#pragma once

namespace arion {

constexpr int kAnyScript = 0;

// A number for the script; Han, Hiragana and Katakana share one. kAnyScript: unassigned characters
// and the space.
int script_group(char32_t code_point);

}  // namespace arion

// Unicode normal forms and lower case, with the data of the Hugging Face tokenizers package.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace arion {

enum class NormalForm : uint8_t { nfc, nfd, nfkc, nfkd };

// The normal form of a text (UAX #15, Unicode 12.0: the version the package uses). Ill-formed bytes
// are copied, nothing combines across them. Linear, but for runs of combining marks, which are
// sorted.
std::string to_normal_form(std::string_view text, NormalForm form);

// Every character in lower case, without regard to its neighbours (Unicode 17.0).
std::string to_lower_case(std::string_view text);

}  // namespace arion

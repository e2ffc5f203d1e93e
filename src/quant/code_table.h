// The values that codes of a table codec (t3, t4 of panel.h) stand for.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace arion {

enum class CodeTable : uint8_t { none, iq1, iq2, iq3_xxs, iq3_s, iq4, fp4 };

// Code c stands for value[c] * unit; a codec of three bits uses the first eight.
struct CodeValues {
  std::array<int8_t, 16> value;
  float unit;  // a power of two
};

// In the order of CodeTable. The sign of a value is the highest bit of its code but in iq4.
//   iq1      grid of {-1, 0, 1} and a shift of +-1/8
//   iq2, 3   magnitudes of the grids
//   iq4      a companding curve
//   fp4      twice the values of E2M1
// Source: the formats of GGUF; E2M1 from the OCP Microscaling Formats specification 1.0.
inline constexpr std::array<CodeValues, 7> kCodeTables = {{
    {{}, 1.0f},
    {{-7, 1, 9, 0, -9, -1, 7, 0}, 0.125f},
    {{8, 25, 43, 0, -8, -25, -43, 0}, 0.125f},
    {{4, 12, 20, 28, 36, 44, 52, 62, -4, -12, -20, -28, -36, -44, -52, -62}, 0.25f},
    {{1, 3, 5, 7, 9, 11, 13, 15, -1, -3, -5, -7, -9, -11, -13, -15}, 1.0f},
    {{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}, 1.0f},
    {{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}, 1.0f},
}};

constexpr const CodeValues& code_values(CodeTable table) {
  return kCodeTables[static_cast<size_t>(table)];
}

}  // namespace arion

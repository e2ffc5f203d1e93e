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
// One object for all instruction sets: kernels must not define it.
extern const std::array<CodeValues, 7> kCodeTables;

inline const CodeValues& code_values(CodeTable table) {
  return kCodeTables[static_cast<size_t>(table)];
}

}  // namespace arion

// Panels against the text of panel.h: bytes where it says they are.
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "packed.h"
#include "quant/panel.h"
#include "quant/weight_format.h"

namespace arion {
namespace {

using test::packed;
using test::random_bytes;

using Bytes = std::vector<std::pair<size_t, uint8_t>>;  // offset, value

void edit(std::vector<std::byte>& bytes, const Bytes& edits) {
  for (const auto& [offset, value] : edits) bytes.at(offset) = std::byte{value};
}

// Four rows of zeros, of which the last gets a few other bytes; offsets and values by hand.
struct Example {
  const char* format;
  int cols;
  std::vector<uint8_t> zero_block;  // in the file: zero scales, codes that mean zero
  size_t scale_bytes, low_bytes, high_bytes, code_blocks;  // of a superblock
  uint8_t low, high;                                       // bytes of codes that mean zero
  Bytes row;                                               // changes in the file's row 3
  Bytes panel;                                             // what they change in the panel
};

void expect_panel(const Example& example) {
  SCOPED_TRACE(example.format);
  const WeightFormat& format = *find_weight_format(example.format);
  std::vector<std::byte> row;
  for (int i = 0; i < example.cols / format.block_values(); ++i) {
    for (const uint8_t b : example.zero_block) row.push_back(std::byte{b});
  }
  ASSERT_EQ(row.size(), format.row_bytes(example.cols));
  std::vector<std::byte> file;
  for (int r = 0; r < 4; ++r) {
    if (r == 3) edit(row, example.row);
    file.insert(file.end(), row.begin(), row.end());
  }
  const std::vector<std::byte> got = packed(format, file, example.cols);

  std::vector<std::byte> expected;
  while (expected.size() < got.size()) {
    expected.resize(expected.size() + example.scale_bytes, std::byte{0});
    for (size_t block = 0; block < example.code_blocks; ++block) {
      expected.resize(expected.size() + example.low_bytes, std::byte{example.low});
      expected.resize(expected.size() + example.high_bytes, std::byte{example.high});
    }
  }
  ASSERT_EQ(expected.size(), got.size());
  edit(expected, example.panel);
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(std::to_integer<int>(expected[i]), std::to_integer<int>(got[i])) << "byte " << i;
  }
}

std::vector<uint8_t> filled(std::initializer_list<std::pair<size_t, uint8_t>> runs) {
  std::vector<uint8_t> bytes;
  for (const auto& [count, value] : runs) bytes.insert(bytes.end(), count, value);
  return bytes;
}

TEST(PanelLayout, C4WithModeA) {
  expect_panel({"Q4_0",
                96,
                filled({{2, 0}, {16, 0x88}}),
                64,
                256,
                0,
                2,
                0x88,
                0,
                // block 1: d = 1, column 37 is 12; block 2: d = 2, column 73 is 3
                {{18, 0x00}, {19, 0x3c}, {25, 0x8c}, {36, 0x00}, {37, 0x40}, {47, 0x83}},
                {{38, 0x00}, {39, 0x3c}, {333, 0xc8}, {582, 0x00}, {583, 0x40}, {717, 0x83}}});
}

TEST(PanelLayout, C4WithModeB) {
  expect_panel({"Q4_1",
                64,
                filled({{20, 0}}),
                64,
                256,
                0,
                1,
                0,
                0,
                // block 1: d = 1, m = -1, column 52 is 7
                {{21, 0x3c}, {23, 0xbc}, {28, 0x70}},
                {{327, 0x3c}, {359, 0xbc}, {524, 0x70}}});
}

TEST(PanelLayout, C4WithModeD32) {
  expect_panel(
      {"Q4_K",
       512,
       filled({{144, 0}}),
       320,
       256,
       0,
       8,
       0,
       0,
       // block 1: d = 1, dmin = 2, s[1] = 5, s[6] = 42, m[2] = 9, m[7] = 49, column 200 is 11
       {{145, 0x3c},
        {147, 0x40},
        {149, 5},
        {150, 0x80},
        {154, 9},
        {155, 0xc0},
        {158, 0x0a},
        {159, 0x10},
        {264, 0x0b}},
       {{2375, 0x3c}, {2407, 0x40}, {2451, 5}, {2531, 42}, {2595, 9}, {2675, 49}, {4300, 0x0b}}});
}

TEST(PanelLayout, C5WithModeA) {
  expect_panel({"Q5_0",
                64,
                filled({{2, 0}, {4, 0xff}, {16, 0}}),
                64,
                256,
                64,
                2,
                0,
                0xff,
                // block 1: d = 1, column 34 is 5, column 52 is 23
                {{23, 0x3c}, {24, 0xfb}, {30, 0x05}, {32, 0x70}},
                {{39, 0x3c}, {398, 0x05}, {524, 0x70}, {654, 0xfe}}});
}

TEST(PanelLayout, C5WithModeB) {
  expect_panel({"Q5_1",
                32,
                filled({{24, 0}}),
                64,
                256,
                64,
                1,
                0,
                0,
                // d = 1, m = -1, column 20 is 23
                {{1, 0x3c}, {3, 0xbc}, {6, 0x10}, {12, 0x70}},
                {{7, 0x3c}, {39, 0xbc}, {204, 0x70}, {332, 0x20}}});
}

TEST(PanelLayout, C5WithModeD32) {
  expect_panel({"Q5_K",
                256,
                filled({{176, 0}}),
                320,
                256,
                64,
                8,
                0,
                0,
                // d = 1, column 200 is 27
                {{1, 0x3c}, {24, 0x40}, {152, 0x0b}},
                {{7, 0x3c}, {2316, 0x0b}, {2508, 0x04}}});
}

TEST(PanelLayout, C6WithModeD16) {
  expect_panel({"Q6_K",
                256,
                filled({{128, 0}, {64, 0xaa}, {18, 0}}),
                320,
                256,
                128,
                8,
                0,
                0xaa,
                // d = 1, s[12] = -5, column 200 is 29
                {{72, 0xd0}, {168, 0x9a}, {204, 0xfb}, {209, 0x3c}},
                {{7, 0x3c}, {259, 0xfb}, {2700, 0x0d}, {2892, 0x9a}}});
}

TEST(PanelLayout, C1WithModeA128) {
  expect_panel({"Q1_0",
                256,
                filled({{18, 0}}),
                64,
                64,
                0,
                8,
                0,
                0,
                // block 1: d = 1, column 165 is +1
                {{19, 0x3c}, {24, 0x20}},
                {{39, 0x3c}, {397, 0x02}}});
}

TEST(PanelLayout, C2WithModeA64) {
  expect_panel({"Q2_0",
                128,
                filled({{2, 0}, {16, 0x55}}),
                64,
                128,
                0,
                4,
                0x55,
                0,
                // block 1: d = 1, column 105 is 3
                {{19, 0x3c}, {30, 0x5d}},
                {{39, 0x3c}, {461, 0x75}}});
}

TEST(PanelLayout, C2WithModeA128) {
  expect_panel({"TQ2_0",
                256,
                filled({{64, 0x55}, {2, 0}}),
                64,
                128,
                0,
                8,
                0x55,
                0,
                // d = 1, column 200 is 2
                {{40, 0x65}, {65, 0x3c}},
                {{7, 0x3c}, {39, 0x3c}, {844, 0x65}}});
}

TEST(PanelLayout, C2WithModeD16M) {
  expect_panel({"Q2_K",
                256,
                filled({{84, 0}}),
                320,
                128,
                0,
                8,
                0,
                0,
                // d = 1, dmin = 2, s[12] = 5, m[12] = 9, column 200 is 2
                {{12, 0x95}, {56, 0x20}, {81, 0x3c}, {83, 0x40}},
                {{7, 0x3c}, {39, 0x40}, {259, 0x95}, {1100, 0x20}}});
}

TEST(PanelLayout, C3WithModeD16) {
  expect_panel({"Q3_K",
                256,
                filled({{32, 0xff}, {72, 0}, {4, 0xaa}, {2, 0}}),
                320,
                128,
                64,
                8,
                0,
                0xff,
                // d = 1, s[12] = -5, column 200 is 3
                {{8, 0xbf}, {72, 0x30}, {100, 0xb0}, {104, 0x6a}, {109, 0x3c}},
                {{7, 0x3c}, {259, 0xfb}, {1484, 0x30}, {1612, 0xfb}}});
}

TEST(PanelLayout, T4WithModeA) {
  expect_panel({"IQ4_NL",
                64,
                filled({{18, 0}}),
                64,
                256,
                0,
                2,
                0,
                0,
                // block 1: d = 1, column 52 is 13
                {{19, 0x3c}, {24, 0xd0}},
                {{39, 0x3c}, {460, 0xd0}}});
}

TEST(PanelLayout, T4WithModeD32S) {
  expect_panel({"IQ4_XS",
                256,
                filled({{2, 0}, {2, 0xaa}, {132, 0}}),
                192,
                256,
                0,
                8,
                0,
                0,
                // d = 1, s[6] = -5, column 200 is 11
                {{1, 0x3c}, {3, 0x9a}, {7, 0x0b}, {112, 0x0b}},
                {{7, 0x3c}, {163, 0xfb}, {1804, 0x0b}}});
}

TEST(PanelLayout, T4WithModeE16) {
  expect_panel({"NVFP4",
                128,
                filled({{36, 0}}),
                64,
                256,
                0,
                2,
                0,
                0,
                // block 1: scale 2 is 1, column 101 is 10
                {{38, 0x38}, {61, 0x0a}},
                {{611, 0x38}, {909, 0xa0}}});
}

TEST(PanelLayout, T4WithModeE32) {
  expect_panel({"MXFP4",
                160,
                filled({{17, 0}}),
                64,
                256,
                0,
                4,
                0,
                0,
                // block 4: exponent 130, column 137 is 7
                {{68, 130}, {78, 0x07}},
                {{1091, 130}, {1229, 0x07}}});
}

TEST(PanelLayout, C8WithModeA) {
  expect_panel({"Q8_0",
                32,
                filled({{34, 0}}),
                64,
                512,
                0,
                2,
                0x80,
                0,
                // d = 1, column 9 is -3
                {{1, 0x3c}, {11, 0xfd}},
                {{7, 0x3c}, {205, 0x7d}}});
}

TEST(PanelLayout, F32) {
  expect_panel({"F32",
                65,
                filled({{4, 0}}),
                0,
                2048,
                0,
                2,
                0,
                0,
                {{258, 0x80}, {259, 0x3f}},  // column 64 is 1
                {{4110, 0x80}, {4111, 0x3f}}});
}

TEST(PanelLayout, F16) {
  expect_panel({"F16",
                65,
                filled({{2, 0}}),
                0,
                1024,
                0,
                2,
                0,
                0,
                {{15, 0x3c}, {129, 0x40}},  // column 7 is 1, column 64 is 2
                {{207, 0x3c}, {2061, 0x40}}});
}

TEST(PanelLayout, BF16) {
  expect_panel({"BF16",
                64,
                filled({{2, 0}}),
                0,
                1024,
                0,
                2,
                0,
                0,
                {{14, 0x80}, {15, 0x3f}},  // column 7 is 1
                {{206, 0x80}, {207, 0x3f}}});
}

// The code of row r, column c as panel.h words it, in superblocks of `width` columns.
int code_at(const PanelSpec& spec, std::span<const std::byte> panel, int r, int c) {
  const int width = superblock_cols(spec.mode);
  const auto block = panel.subspan(c / width * superblock_bytes(spec) + scale_bytes(spec.mode) +
                                   c % width / 32 * code_block_bytes(spec.codec));
  const auto byte = [&](size_t line) {
    return std::to_integer<int>(block[line * 64 + 4 * r + c % 4]);
  };
  const int q = c % 32 / 4;
  if (spec.codec == Codec::c8) return byte(q);
  if (spec.codec == Codec::c1) return (byte(0) >> q & 1) * 2;
  const int quarter = byte(q / 4) >> 2 * (q % 4) & 3;
  if (spec.codec == Codec::c2) return quarter;
  if (spec.codec == Codec::c3 || spec.codec == Codec::t3) return quarter + (byte(2) >> q & 1) * 4;
  int code = q % 2 == 0 ? byte(q / 2) & 15 : byte(q / 2) >> 4;
  if (spec.codec == Codec::c5) code += (byte(4) >> q & 1) * 16;
  if (spec.codec == Codec::c6) code += (byte(4 + q / 4) >> 2 * (q % 4) & 3) * 16;
  return code;
}

TEST(PanelLayout, EveryCodeIsWhereTheLayoutSays) {
  // Bytes of a block that make all its scales one; then the values are the codes.
  struct Case {
    const char* format;
    Bytes ones;
  };
  Case cases[] = {{"Q4_0", {}}, {"Q5_0", {}},   {"Q8_0", {}}, {"Q1_0", {}},
                  {"Q2_0", {}}, {"IQ4_NL", {}}, {"Q3_K", {}}, {"Q6_K", {}}};
  for (Case& c : cases) {
    const std::string name = c.format;
    for (size_t i = 0; i < 16 && name == "Q6_K"; ++i) c.ones.push_back({192 + i, 1});
    for (size_t i = 0; i < 12 && name == "Q3_K"; ++i) {
      c.ones.push_back({96 + i, static_cast<uint8_t>(i < 8 ? 0x11 : 0xaa)});
    }
    const size_t d = name == "Q6_K" ? 208 : name == "Q3_K" ? 108 : 0;
    c.ones.push_back({d, 0x00});
    c.ones.push_back({d + 1, 0x3c});
  }
  for (const Case& c : cases) {
    const WeightFormat& format = *find_weight_format(c.format);
    const PanelSpec spec = format.panel();
    constexpr int kCols = 512;
    const size_t row_bytes = format.row_bytes(kCols);
    std::vector<std::byte> file = random_bytes(row_bytes * kPanelRows, 9);
    for (size_t i = 0; i < file.size(); i += format.block_bytes()) {
      for (const auto& [offset, value] : c.ones) file[i + offset] = std::byte{value};
    }
    const auto panel = packed(format, file, kCols);
    std::vector<float> values(kCols);
    for (int r = 0; r < kPanelRows; ++r) {
      format.decode_row(std::span(file).subspan(r * row_bytes, row_bytes), values);
      for (int col = 0; col < kCols; ++col) {
        const int code = code_at(spec, panel, r, col);
        const int value =
            is_table(spec.codec) ? code_values(spec.table).value[code] : code - spec.zero;
        ASSERT_EQ(values[col], value) << c.format << " row " << r << " column " << col;
      }
    }
  }
}

TEST(PanelLayout, HoldsZerosBeyondTheLastColumn) {
  // Superblocks that a row may fill in part.
  for (const char* name :
       {"F32", "F16", "BF16", "Q8_0", "Q4_0", "Q5_0", "IQ4_NL", "Q2_0", "Q1_0", "MXFP4"}) {
    const WeightFormat& format = *find_weight_format(name);
    const int cols = format.block_values() == 1 ? 33 : 3 * format.block_values();
    const int width = superblocks(format.panel(), cols) * superblock_cols(format.panel().mode);
    ASSERT_LT(cols, width);
    const auto file = random_bytes(format.row_bytes(cols) * kPanelRows, 5);
    const auto panel = packed(format, file, cols);
    std::vector<float> got(width);
    for (int r = 0; r < kPanelRows; ++r) {
      format.unpack_row(panel, r, got);
      for (int c = cols; c < width; ++c) {
        ASSERT_EQ(got[c], 0) << name << " row " << r << " column " << c;
      }
    }
  }
}

TEST(PanelLayout, NamesEveryCodecAndMode) {
  EXPECT_EQ(codec_name(Codec::c6), "c6");
  EXPECT_EQ(codec_name(Codec::c1), "c1");
  EXPECT_EQ(codec_name(Codec::t4), "t4");
  EXPECT_EQ(codec_name(Codec::bf16), "bf16");
  EXPECT_EQ(scale_mode_name(ScaleMode::a128), "a128");
  EXPECT_EQ(scale_mode_name(ScaleMode::e32), "e32");
  EXPECT_EQ(scale_mode_name(ScaleMode::d32), "d32");
  EXPECT_EQ(scale_mode_name(ScaleMode::none), "none");
}

}  // namespace
}  // namespace arion

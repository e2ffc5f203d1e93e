#!/usr/bin/env python3
"""Writes src/text/generated/unicode_tables.inc, the class flags of every code point as a two-stage table.
Needs `pip install unicodedata2==16.0.0 regex`: Unicode 16.0 is what Oniguruma in the Hugging Face tokenizers package
knows; regex, perhaps of a later version, only tells which of its characters are alphabetic.
Usage: make_unicode_tables.py > src/text/generated/unicode_tables.inc"""
import regex
import unicodedata2 as unicodedata

assert unicodedata.unidata_version == "16.0.0", unicodedata.unidata_version
BLOCK = 64  # must equal kUnicodeBlock in src/text/unicode.h

# White_Space=yes in PropList.txt; stable since Unicode 6.3.
WHITESPACE = {*range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000}
MAJOR = {"L": 1, "N": 2, "M": 4, "P": 8, "S": 16}
SPACE, UPPER, LOWER, DIGIT, WORD = 32, 64, 128, 256, 512
ALPHABETIC = regex.compile(r"\p{Alphabetic}")


def flags(code_point: int) -> int:
    category = unicodedata.category(chr(code_point))
    value = MAJOR.get(category[0], 0)
    if code_point in WHITESPACE:
        value |= SPACE
    if category in ("Lu", "Lt"):
        value |= UPPER
    if category == "Ll":
        value |= LOWER
    if category == "Nd":
        value |= DIGIT
    is_alphabetic = category != "Cn" and ALPHABETIC.match(chr(code_point))
    if is_alphabetic or category[0] == "M" or category in ("Nd", "Pc"):
        value |= WORD
    return value


def rows(name: str, kind: str, values: list[int]) -> str:
    lines, line = [], ""
    for value in values:
        item = f"{value},"
        if len(line) + len(item) > 99:
            lines.append(line)
            line = ""
        line += item
    lines.append(line)
    return f"constexpr {kind} {name}[{len(values)}] = {{\n" + "\n".join(lines) + "\n};\n"


blocks: dict[tuple[int, ...], int] = {}
index = []
for start in range(0, 0x110000, BLOCK):
    block = tuple(flags(c) for c in range(start, start + BLOCK))
    index.append(blocks.setdefault(block, len(blocks)))

print(f"// Class flags of all code points, Unicode {unicodedata.unidata_version}. Made by tools/make_unicode_tables.py.")
print("// clang-format off")
print(rows("kUnicodeIndex", "uint16_t", index), end="")
print(rows("kUnicodeFlags", "uint16_t", [f for block in blocks for f in block]), end="")
print("// clang-format on")

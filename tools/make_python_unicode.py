#!/usr/bin/env python3
"""Writes src/jinja/generated/python_unicode.inc: what Python's str methods know about code points, as run-length tables.
Needs nothing but Python's own library; made with Python 3.11 (Unicode 14)."""
import pathlib, sys, unicodedata

ALPHA, DECIMAL, DIGIT, NUMERIC, PRINTABLE, LOWER, UPPER, TITLE, IGNORABLE, SPACE = (1 << i for i in range(10))
OUT = pathlib.Path(__file__).parent.parent / "src/jinja/generated/python_unicode.inc"

def flags(c: str) -> int:
    # A capital sigma becomes a final one after a cased letter, with any number of ignorable characters between them.
    is_ignorable = ("A" + c + "\u03a3").lower()[-1] == "\u03c2" and (" " + c + "\u03a3").lower()[-1] == "\u03c3"
    return (ALPHA * c.isalpha() | DECIMAL * c.isdecimal() | DIGIT * c.isdigit() | NUMERIC * c.isnumeric()
            | PRINTABLE * c.isprintable() | LOWER * c.islower() | UPPER * c.isupper()
            | TITLE * (unicodedata.category(c) == "Lt") | IGNORABLE * is_ignorable | SPACE * c.isspace())

points = [chr(i) for i in range(sys.maxunicode + 1)]
runs, last = [], None
for i, c in enumerate(points):
    if (f := flags(c)) != last:
        runs.append((i, f))
        last = f

# lower() of one character is that of a text where no sigma rule applies.
maps = {"Lower": str.lower, "Upper": str.upper, "Title": str.title, "Fold": str.casefold}
lines = [f"// Python's view of code points, Unicode {unicodedata.unidata_version}. Made by tools/make_python_unicode.py.",
         "// clang-format off", f"constexpr FlagRun kFlagRuns[] = {{"]

def table(rows):
    line = ""
    for row in rows:
        cell = "{" + ",".join(map(str, row)) + "},"
        if len(line) + len(cell) > 118:
            lines.append(line)
            line = ""
        line += cell
    lines.extend([line, "};"])

table(runs)
for name, convert in maps.items():
    ranges, special = [], []
    for i, c in enumerate(points):
        mapped = convert(c)
        if mapped == c:
            continue
        if len(mapped) > 1:
            special.append((i, *(ord(x) for x in mapped.ljust(3, "\0"))))
            continue
        delta = ord(mapped) - i
        if ranges and ranges[-1][3] == delta and i - ranges[-1][1] in (1, 2):
            first, end, stride, _ = ranges[-1]
            if first == end or i - end == stride:
                ranges[-1] = (first, i, i - end, delta)
                continue
        ranges.append((i, i, 1, delta))
    lines.append(f"constexpr CaseRun k{name}Runs[] = {{")
    table(ranges)
    lines.append(f"constexpr CaseExpansion k{name}Expansions[] = {{")
    table(special or [(0, 0, 0, 0)])
OUT.write_text("\n".join(lines) + "\n")

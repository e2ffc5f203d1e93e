#!/usr/bin/env python3
"""Writes src/text/generated/normalization_tables.inc and character_tables.inc: what the Hugging Face tokenizers package
knows of Unicode. Its parts follow different versions (normal forms 12.0, punctuation 8.0, words 16.0, case 17.0), so
the package itself is asked about every code point.
Needs `pip install tokenizers==0.23.3 unicodedata2==16.0.0 regex`; regex gives the grapheme cluster classes.
Usage: make_normalization_tables.py FOLDER"""
import pathlib
import sys

import regex
import tokenizers
import unicodedata2
from tokenizers import normalizers, pre_tokenizers

CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
HANGUL = range(0xAC00, 0xD7A4)  # computed, not listed
BLOCK = 64  # must equal kBlock in src/text/character_class.cpp


def mapped(normalizer) -> dict[int, str]:
    """Code points that the normalizer changes, with what becomes of them."""
    result = {}
    for c in CODE_POINTS:
        if c not in HANGUL and (text := normalizer.normalize_str(chr(c))) != chr(c):
            result[c] = text
    return result


def combining_class(c: int) -> int:
    """The class as the package knows it: a mark it does not know yet is not reordered."""
    value = unicodedata2.combining(chr(c))
    if value > 1 and normalizers.NFD().normalize_str(chr(c) + "\u0334") == chr(c) + "\u0334":
        return 0
    return value


def compositions(canonical: dict[int, str]) -> list[tuple[int, int, int]]:
    """(first, second, composed) for each primary composite."""
    pairs = []
    for c in canonical:
        raw = unicodedata2.decomposition(chr(c)).split()
        if len(raw) != 2 or raw[0].startswith("<"):
            continue
        first, second = (int(x, 16) for x in raw)
        if normalizers.NFC().normalize_str(chr(first) + chr(second)) == chr(c):
            pairs.append((first, second, c))
    return sorted(pairs)


def splits(pre_tokenizer, expected: int) -> set[int]:
    """Code points between two letters that leave the wanted number of words."""
    return {c for c in CODE_POINTS if len(pre_tokenizer.pre_tokenize_str("a" + chr(c) + "a")) == expected}


def wrap(items) -> str:
    lines, line = [], ""
    for item in items:
        item = f"{item},"
        if len(line) + len(item) > 99:
            lines.append(line)
            line = ""
        line += item
    return "\n".join(lines + [line])


def table(name: str, kind: str, items: list) -> str:
    return f"constexpr {kind} {name}[{len(items)}] = {{\n{wrap(items)}\n}};\n"


def mapping_table(name: str, mapping: dict[int, str], pool: list[int]) -> str:
    rows = []
    for c, text in sorted(mapping.items()):
        rows.append(f"{{{c},{len(pool)},{len(text)}}}")
        pool.extend(ord(x) for x in text)
    return table(name, "Mapping", rows)


def head(what: str) -> str:
    return (f"// {what}, as tokenizers {tokenizers.__version__} knows them.\n"
            "// Made by tools/make_normalization_tables.py.\n// clang-format off\n")


def write_normalization(path: pathlib.Path) -> None:
    canonical, compatible = mapped(normalizers.NFD()), mapped(normalizers.NFKD())
    compatible_only = {c: text for c, text in compatible.items() if canonical.get(c) != text}
    lower = mapped(normalizers.Lowercase())
    classes = [(c, k) for c in CODE_POINTS if (k := combining_class(c))]
    pool: list[int] = []
    text = head("Normal forms and lower case")
    text += mapping_table("kCanonical", canonical, pool)
    text += mapping_table("kCompatible", compatible_only, pool)
    text += mapping_table("kLowerCase", lower, pool)
    text += table("kPool", "char32_t", pool)
    text += table("kClasses", "CombiningClass", [f"{{{c},{k}}}" for c, k in classes])
    text += table("kCompositions", "Composition", [f"{{{a},{b},{c}}}" for a, b, c in compositions(canonical)])
    path.write_text(text + "// clang-format on\n")


# Order must equal GraphemeClass in src/text/grapheme.cpp; 0 is any other character.
GRAPHEME = ("CR", "LF", "Control", "Extend", "ZWJ", "Regional_Indicator", "Prepend", "SpacingMark", "L", "V", "T", "LV", "LVT")


def write_characters(path: pathlib.Path) -> None:
    bert = lambda **on: normalizers.BertNormalizer(**{**dict.fromkeys(
        ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase"), False), **on})
    removed = lambda n: {c for c in CODE_POINTS if n.normalize_str(chr(c)) == ""}
    sets = [
        splits(pre_tokenizers.Punctuation("isolated"), 3),
        splits(pre_tokenizers.Digits(True), 3),
        splits(pre_tokenizers.Whitespace(), 1),  # \w
        removed(bert(clean_text=True)),
        removed(bert(strip_accents=True)),
        removed(normalizers.StripAccents()),
    ]
    grapheme = [0] * 0x110000
    for number, name in enumerate(GRAPHEME, 1):
        for m in regex.finditer(rf"\p{{GCB={name}}}", "".join(map(chr, CODE_POINTS))):
            grapheme[ord(m.group())] = number
    pictures = {ord(m) for m in regex.findall(r"\p{Extended_Pictographic}", "".join(map(chr, CODE_POINTS)))}
    value = lambda c: sum(1 << i for i, s in enumerate(sets) if c in s) | (c in pictures) << 6 | grapheme[c] << 8
    blocks: dict[tuple[int, ...], int] = {}
    index = [blocks.setdefault(tuple(map(value, range(s, s + BLOCK))), len(blocks)) for s in range(0, 0x110000, BLOCK)]
    text = head("Classes of characters") + table("kIndex", "uint16_t", index)
    text += table("kValues", "uint16_t", [v for block in blocks for v in block])
    path.write_text(text + "// clang-format on\n")


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    write_normalization(folder / "normalization_tables.inc")
    write_characters(folder / "character_tables.inc")


if __name__ == "__main__":
    main()

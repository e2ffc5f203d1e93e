#!/usr/bin/env python3
"""Writes src/text/generated/script_table.inc: runs of code points of one script, as the UnicodeScripts pre-tokenizer of the
Hugging Face tokenizers package tells them apart. Names come from a later Unicode version, so the package is asked about
every code point.
Needs `pip install tokenizers==0.23.3 fonttools`.
Usage: make_script_table.py > src/text/generated/script_table.inc"""
import tokenizers
from fontTools import unicodedata
from tokenizers import pre_tokenizers

rule = pre_tokenizers.UnicodeScripts()
is_one = lambda text: [word for word, _ in rule.pre_tokenize_str(text)] == [text]
code_points = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def name_of(c: int) -> str:
    name = unicodedata.script(chr(c))
    return "Hani" if name in ("Hira", "Kana") else name


# A character of no script joins any two, even of different scripts.
known = [c for c in code_points if not (is_one(f"a{chr(c)}a") and is_one(f"я{chr(c)}я"))]
example: dict[str, int] = {}
for c in known:
    example.setdefault(name_of(c), c)
numbers = {name: i for i, name in enumerate(sorted(example), 1)}
runs: list[list[int]] = []
for c in known:
    name = name_of(c)
    if not is_one(chr(example[name]) + chr(c)):
        name = next(n for n, e in example.items() if is_one(chr(e) + chr(c)))
    if runs and runs[-1][1] == c - 1 and runs[-1][2] == numbers[name]:
        runs[-1][1] = c
    else:
        runs.append([c, c, numbers[name]])
print(f"// Runs of one script, as tokenizers {tokenizers.__version__} knows them. Made by tools/make_script_table.py.")
print("// clang-format off")
print(f"constexpr ScriptRun kScriptRuns[{len(runs)}] = {{")
line = ""
for first, last, number in runs:
    item = f"{{{first},{last},{number}}},"
    if len(line) + len(item) > 99:
        print(line)
        line = ""
    line += item
print(line + "\n};\n// clang-format on")

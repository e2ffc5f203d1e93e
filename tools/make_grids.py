#!/usr/bin/env python3
"""Writes src/quant/generated/grids.inc: the rows of the IQ grids, read off blocks that the gguf package dequantises.

A block with a scale of one, no signs and known indices decodes to the rows themselves. Usage: make_grids.py
"""
import pathlib, struct
import gguf, numpy as np
from gguf import GGMLQuantizationType as Type, quants

ONE = struct.pack("<e", 1)
u8 = lambda values: np.asarray(values, np.uint8).tobytes()
u16 = lambda values: np.asarray(values, "<u2").tobytes()


def high_bits(index, first, bits, per_byte):
    """The bits of the indices from bit `first` on, `per_byte` of them in a byte."""
    fields = (index >> first & (1 << bits) - 1).reshape(-1, per_byte)
    return (fields << bits * np.arange(per_byte)).sum(axis=1)


def iq2_xxs(i):
    return ONE + b"".join(u8(i[g:g + 4]) + bytes(4) for g in range(0, 32, 4))


def iq2_xs(i):
    return ONE + u16(i) + bytes(8)


def iq2_s(i):
    return ONE + u8(i & 255) + bytes(32) + u8(high_bits(i, 8, 2, 4)) + bytes(8)


def iq3_xxs(i):
    return ONE + u8(i) + bytes(32)


def iq3_s(i):
    return ONE + u8(i & 255) + u8(high_bits(i, 8, 1, 8)) + bytes(32) + bytes(4)


def iq1_s(i):
    return ONE + u8(i & 255) + u16(high_bits(i, 8, 3, 4))


# How to make a block, its type, rows, values in a row, decoded value to grid value, grid value of each level.
GRIDS = {
    "iq1": (iq1_s, Type.IQ1_S, 2048, 8, lambda v: v - 0.125, [-1, 0, 1]),
    "iq2_xxs": (iq2_xxs, Type.IQ2_XXS, 256, 8, lambda v: v * 8, [8, 25, 43]),
    "iq2_xs": (iq2_xs, Type.IQ2_XS, 512, 8, lambda v: v * 8, [8, 25, 43]),
    "iq2_s": (iq2_s, Type.IQ2_S, 1024, 8, lambda v: v * 8, [8, 25, 43]),
    "iq3_xxs": (iq3_xxs, Type.IQ3_XXS, 256, 4, lambda v: v * 4, [4, 12, 20, 28, 36, 44, 52, 62]),
    "iq3_s": (iq3_s, Type.IQ3_S, 512, 4, lambda v: v, [1, 3, 5, 7, 9, 11, 13, 15]),
}


def rows_of(block, kind, count, size, to_value, levels):
    per_block = 256 // size
    blocks = b"".join(block(np.arange(i, i + per_block)) for i in range(0, count, per_block))
    data = np.frombuffer(blocks, np.uint8).reshape(count // per_block, -1)
    values = to_value(quants.dequantize(data, kind).reshape(count, size).astype(np.float64))
    codes = np.searchsorted(levels, values)
    assert (np.asarray(levels)[codes] == values).all()
    return (codes << 16 // size * np.arange(size)).sum(axis=1)


def main():
    lines = ["// Made by tools/make_grids.py. Do not edit."]
    for name, description in GRIDS.items():
        rows = rows_of(*description)
        constant = "k" + "".join(part.capitalize() for part in name.split("_")) + "Grid"
        lines.append(f"inline constexpr uint16_t {constant}[{len(rows)}] = {{")
        for i in range(0, len(rows), 12):
            lines.append("    " + " ".join(f"0x{row:04x}," for row in rows[i:i + 12]))
        lines.append("};")
    path = pathlib.Path(__file__).parent.parent / "src/quant/generated/grids.inc"
    path.write_text("\n".join(lines) + "\n")


main()

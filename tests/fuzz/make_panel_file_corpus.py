#!/usr/bin/env python3
"""Writes the seeds of the fuzzer of compiled models into corpus/panel_file; the fuzzer sets the hash of the table itself."""
import pathlib, struct

OUT = pathlib.Path(__file__).parent / "corpus" / "panel_file"

def text(s):
    return struct.pack("<I", len(s)) + s.encode()

def source(name, size):
    return text(name) + struct.pack("<QQqQQ", size, 17, 1_700_000_000_000_000_000, 1, 2)

def tensor(name, kind, spec, rows, cols, offset, size):
    return text(name) + struct.pack("<I4BiIIQQQ", kind, *spec, rows, cols, offset, size, 3)

def panel_file(sources, tensors, data_offset=64, data_bytes=None, layout=1):
    if data_bytes is None:
        data_bytes = max((t[5] + t[6] + 63 for t in tensors), default=0) // 64 * 64
    table = struct.pack("<I", len(sources)) + b"".join(source(*s) for s in sources) + struct.pack("<Q", 4)
    table += struct.pack("<I", len(tensors)) + b"".join(tensor(*t) for t in tensors) + bytes(8)
    head = b"ARNPANEL" + struct.pack("<IIQQQ", 1, layout, data_offset, data_bytes, data_offset + data_bytes)
    return head.ljust(data_offset, b"\0") + bytes(data_bytes) + table

C4, F32, A, NONE = 3, 9, 1, 0
gain = ("output_norm.weight", 0, (F32, NONE, 0, 0, 0), 1, 32, 0, 128)
matrix = ("token_embd.weight", 2, (C4, A, 0, 1, 8), 16, 64, 128, 576)
OUT.mkdir(parents=True, exist_ok=True)
for name, data in {
    "empty": panel_file([], []), "gain": panel_file([("a.gguf", 100)], [gain]),
    "model": panel_file([("a.gguf", 100)], [gain, matrix]),
    "split": panel_file([("a-00001-of-00002.gguf", 100), ("a-00002-of-00002.gguf", 90)], [matrix], data_offset=128),
    "overlap": panel_file([("a.gguf", 100)], [matrix, gain]), "layout": panel_file([], [gain], layout=9),
    "outside": panel_file([("a.gguf", 100)], [gain, matrix], data_bytes=640),
}.items():
    (OUT / name).write_bytes(data)

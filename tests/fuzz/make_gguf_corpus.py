#!/usr/bin/env python3
"""Writes the seeds of the GGUF fuzzer into corpus/gguf. Needs nothing but Python's own library."""
import pathlib, struct

OUT = pathlib.Path(__file__).parent / "corpus" / "gguf"
TYPES = dict(u8=(0, "<B"), i8=(1, "<b"), u16=(2, "<H"), i16=(3, "<h"), u32=(4, "<I"), i32=(5, "<i"), f32=(6, "<f"),
             bool=(7, "<B"), u64=(10, "<Q"), i64=(11, "<q"), f64=(12, "<d"), str=(8, None))

def string(text):
    return struct.pack("<Q", len(text)) + text.encode()

def value(kind, v):
    return string(v) if kind == "str" else struct.pack(TYPES[kind][1], v)

def entry(key, kind, v):
    if isinstance(v, list):
        return string(key) + struct.pack("<IIQ", 9, TYPES[kind][0], len(v)) + b"".join(value(kind, x) for x in v)
    return string(key) + struct.pack("<I", TYPES[kind][0]) + value(kind, v)

def gguf(entries, tensors=(), version=3, align=32):
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(entries)) + b"".join(entry(*e) for e in entries)
    body = b""
    for name, dims, kind, size in tensors:
        head += string(name) + struct.pack("<I", len(dims)) + struct.pack(f"<{len(dims)}Q", *dims)
        head += struct.pack("<IQ", kind, len(body))
        body += b"\1" * size + b"\0" * (-size % align)
    return head + b"\0" * (-len(head) % align) + body

scalars = [(f"k.{kind}", kind, "text" if kind == "str" else 1) for kind in TYPES]
arrays = [(f"a.{kind}", kind, ["a", "", "bc"] if kind == "str" else [0, 1]) for kind in TYPES]
vocabulary = [("general.architecture", "str", "llama"), ("llama.block_count", "u32", 1),
              ("tokenizer.ggml.tokens", "str", ["<s>", "</s>", "a"]), ("tokenizer.ggml.scores", "f32", [0.0, -1.0, -2.5]),
              ("tokenizer.ggml.token_type", "i32", [3, 3, 1]), ("tokenizer.ggml.bos_token_id", "u32", 0xFFFFFFFF)]
weights = [("token_embd.weight", [32, 3], 8, 102), ("blk.0.attn_norm.weight", [32], 0, 128),
           ("blk.0.attn_q.weight", [32, 32], 2, 576), ("blk.0.experts", [2, 2, 2, 2], 1, 32), ("x", [256], 10, 84)]
OUT.mkdir(parents=True, exist_ok=True)
for name, data in {
    "scalars": gguf(scalars), "arrays": gguf(arrays), "vocabulary": gguf(vocabulary), "model": gguf(vocabulary, weights),
    "aligned": gguf([("general.alignment", "u32", 64)], weights[:2], align=64), "version2": gguf(vocabulary[:2], version=2),
    "split": gguf([("split.no", "u16", 0), ("split.count", "u16", 2), ("split.tensors.count", "i32", 1)]),
    "empty": gguf([]),
}.items():
    (OUT / name).write_bytes(data)

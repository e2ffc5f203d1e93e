#!/usr/bin/env python3
"""Makes the fixtures of tests/quant with the gguf package (0.19.0, numpy 2.4) and, for the K-quant encoders and types
the package does not know, ggml.

  decode_NAME.npy   uint8 [n, block bytes + 4 * block values]: a block of random bytes and the float32 values it stands
                    for; formats without blocks have 32 values a record. Scales include subnormal, huge, negative, zero,
                    infinite and NaN ones.
  encode_input.npy  float32 [rows, 256], importance.npy float32 [256]
  encode_NAME.npy   uint8 [rows, bytes]: what the package's
                    quantize(), or for the searched types ggml, makes of the input
  weighted_NAME.npy the same by ggml with importance
  quant.json        versions, the pattern of each input row, ggml's errors

Usage: make_quant.py --libggml PATH/libggml-base.so     (the library inside the llama-cpp-python package, 0.3.36)
"""
import argparse, ctypes, json, pathlib, warnings
import gguf, numpy as np
from gguf import GGMLQuantizationType as Type, quants

warnings.simplefilter("ignore")
here = pathlib.Path(__file__).parent
rng = np.random.default_rng(20240611)
COLS = 256

# Offsets of the f16 scales inside a block. IQ1_M has its scale in pieces; MXFP4 and NVFP4 have others.
SCALES = {"Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q4_K": [0, 2], "Q5_K": [0, 2],
          "Q6_K": [208], "Q2_K": [80, 82], "Q3_K": [108], "IQ1_S": [0], "IQ1_M": [], "IQ2_XXS": [0], "IQ2_XS": [0],
          "IQ2_S": [0], "IQ3_XXS": [0], "IQ3_S": [0], "IQ4_NL": [0], "IQ4_XS": [0], "TQ1_0": [52], "TQ2_0": [64],
          "MXFP4": [], "NVFP4": [], "Q1_0": [0], "Q2_0": [0]}
# Types the package cannot decode: values and bytes of a block. ggml decodes them.
SIZES = {"Q1_0": (128, 18), "Q2_0": (64, 18)}
ENCODED = ["F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "TQ1_0", "TQ2_0", "MXFP4"]
# Types whose scales are searched, always or with importance.
SEARCHED = ["Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS"]
WEIGHTED = ["Q4_0", "Q4_1", "Q5_0", "Q5_1", *SEARCHED]
GRIDS = ["IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S"]
NEED_IMPORTANCE = ["IQ1_S", "IQ2_XXS", "IQ2_XS"]
SPECIAL = [0x0001, 0x03FF, 0x8001, 0x83FF, 0x0000, 0x8000, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0x7D01]


def decode(library, blocks, name):
    if name not in SIZES:
        return np.ascontiguousarray(quants.dequantize(blocks, Type[name]), np.float32)
    values = np.empty((len(blocks), SIZES[name][0]), np.float32)
    function = getattr(library, f"dequantize_row_{name.lower()}")
    function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
    function(blocks.ctypes.data, values.ctypes.data, values.size)
    return values


def make_decode(library, name):
    values, size = SIZES[name] if name in SIZES else gguf.GGML_QUANT_SIZES[Type[name]]
    group = 32 if values == 1 else 1
    n = 48 if values == 256 else 200
    blocks = rng.integers(0, 256, (n, size * group), dtype=np.uint8)
    for offset in SCALES.get(name, []):
        # Ordinary scales in two thirds of the blocks, special ones at the start, random bits in the rest.
        ordinary = (rng.standard_normal(n) * 0.02).astype(np.float16).view(np.uint8).reshape(n, 2)
        keep = np.arange(n) % 3 != 0
        blocks[keep, offset:offset + 2] = ordinary[keep]
        special = np.roll(np.array(SPECIAL, np.uint16), offset).view(np.uint8).reshape(-1, 2)
        blocks[:len(SPECIAL), offset:offset + 2] = special
    if name in ("F16", "BF16"):
        blocks.view(np.uint16)[0, :len(SPECIAL)] = SPECIAL
    values = decode(library, blocks, name).view(np.uint8)
    np.save(here / f"decode_{name}.npy", np.concatenate([blocks, values], axis=1))


def make_input():
    normal = rng.standard_normal
    outlier = normal((4, COLS))
    outlier[np.arange(4), rng.integers(0, COLS, 4)] = [100, -100, 30, -1000]
    patterns = {
        "gaussian": normal((8, COLS)) * np.array([[1e-4], [1e-3], [0.02], [0.02], [1], [1], [30], [1000]]),
        "uniform": rng.uniform(-1, 1, (4, COLS)),
        "negative": -np.abs(normal((4, COLS))),
        "positive": 0.5 + rng.random((2, COLS)),
        "outlier": outlier,
        "ties": rng.integers(-8, 9, (4, COLS)) * 0.25,
        "constant": np.repeat([[0.7], [-3.0]], COLS, axis=1),
        "zero": np.zeros((1, COLS)),
        "half_subnormal": normal((2, COLS)) * 1e-6,
        "float_subnormal": normal((1, COLS)) * 1e-40,
    }
    rows = np.concatenate(list(patterns.values())).astype(np.float32)
    return rows, [name for name, block in patterns.items() for _ in block]


def make_encode(name, rows):
    encoded = np.ascontiguousarray(quants.quantize(rows, Type[name]))
    np.save(here / f"encode_{name}.npy", encoded.view(np.uint8).reshape(len(rows), -1))


def ggml_encode(library, name, rows, importance):
    values, size = gguf.GGML_QUANT_SIZES[Type[name]]
    encoded = np.zeros((len(rows), COLS // values * size), np.uint8)
    weights = importance.ctypes.data if importance is not None else None
    library.ggml_quantize_chunk(int(Type[name]), rows.ctypes.data, encoded.ctypes.data, 0, len(rows), COLS, weights)
    return encoded


def make_searched(library, rows, importance):
    for name in SEARCHED:
        np.save(here / f"encode_{name}.npy", ggml_encode(library, name, rows, None))
    for name in WEIGHTED:
        np.save(here / f"weighted_{name}.npy", ggml_encode(library, name, rows, importance))


def ggml_errors(library, name, rows, importance):
    """Sum of (weighted) squared errors of each row."""
    decoded = quants.dequantize(ggml_encode(library, name, rows, importance), Type[name]).astype(np.float64)
    return ((decoded - rows) ** 2 * (1 if importance is None else importance)).sum(axis=1).tolist()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--libggml", required=True)
    library = ctypes.CDLL(parser.parse_args().libggml)
    library.ggml_quantize_chunk.restype = ctypes.c_size_t
    library.ggml_quantize_chunk.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64,
                                            ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p]
    names = ["F32", "F16", "BF16", *SCALES]
    first = names.index("Q6_K") + 1  # the others are drawn last, which leaves earlier fixtures as they were
    for name in names[:first]:
        make_decode(library, name)
    rows, patterns = make_input()
    importance = (rng.exponential(1, COLS) ** 2 + 1e-3).astype(np.float32)
    np.save(here / "encode_input.npy", rows)
    np.save(here / "importance.npy", importance.reshape(1, COLS))
    for name in ENCODED:
        make_encode(name, rows)
    make_searched(library, rows, importance)
    for name in names[first:]:
        make_decode(library, name)
    for name in GRIDS:
        library.ggml_quantize_init(int(Type[name]))
    searched = {
        "plain": {n: ggml_errors(library, n, rows, None) for n in GRIDS if n not in NEED_IMPORTANCE},
        "importance": {n: ggml_errors(library, n, rows, importance) for n in GRIDS},
    }
    versions = {"gguf": "0.19.0", "numpy": np.__version__, "llama-cpp-python": "0.3.36"}
    (here / "quant.json").write_text(
        json.dumps({"versions": versions, "patterns": patterns, "ggml_errors": searched}) + "\n")


main()

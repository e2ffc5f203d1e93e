#!/usr/bin/env python3
"""Compares `arion quantize` with llama.cpp's quantiser on one source: errors, bytes and time.

    PEER_VENV/bin/python bench/quantize_llama_cpp.py ARION MODEL-bf16.gguf [--types Q4_K,IQ3_S] [--imatrix F]
        [--threads 2] [--rounds 5] [--mixture] [--join 4] [--out RESULT.json]

Needs llama-cpp-python 0.3.36, whose libraries also decode both files. Every type is written by both programs in turn,
`--rounds` times; `speed` is the median of the ratios of wall times of neighbouring runs, `speed_cpu` of the processor
time, which other work on the machine hardly changes. Errors are those of the tensors that both wrote in the same type:
`plain` is the squared error, `weighted` counts it by the importance of the column, and both are given as the ratio of
root mean squares, ours over theirs, of the whole and of the worst tensor. `same` counts tensors that are byte for byte
equal. `--join N` makes one row of every N first: models with rows that 256 does not divide, such as SmolLM2 135M, have
few tensors that take the types with blocks of 256.
"""
import argparse
import ctypes
import json
import mmap
import os
import re
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import llama_cpp
import numpy as np

TYPES = ("Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K IQ1_S IQ1_M IQ2_XXS IQ2_XS IQ2_S IQ3_XXS IQ3_S IQ4_NL "
         "IQ4_XS TQ1_0 TQ2_0 MXFP4 Q1_0 Q2_0").split()
FILE_TYPES = {"Q3_K": "Q3_K_S", "Q4_K": "Q4_K_S", "Q5_K": "Q5_K_S", "IQ2_S": "IQ2_M", "MXFP4": "MXFP4_MOE"}
MIXTURE_ONLY = {"IQ1_S", "IQ2_XXS", "IQ2_XS"}  # llama.cpp refuses them for embeddings, of which there is no importance
NEEDS_IMATRIX = {"IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS"}

ggml = ctypes.CDLL(os.path.join(os.path.dirname(llama_cpp.__file__), "lib", "libggml-base.so"))


class TypeTraits(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("block_values", ctypes.c_int64), ("interleave", ctypes.c_int64),
                ("block_bytes", ctypes.c_size_t), ("is_quantized", ctypes.c_bool),
                ("to_float", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)),
                ("from_float", ctypes.c_void_p)]


class GgufParams(ctypes.Structure):
    _fields_ = [("no_alloc", ctypes.c_bool), ("ctx", ctypes.c_void_p)]


ggml.ggml_get_type_traits.restype = ctypes.POINTER(TypeTraits)
ggml.gguf_init_from_file.restype = ctypes.c_void_p
ggml.gguf_init_from_file.argtypes = [ctypes.c_char_p, GgufParams]
for name, result in {"n_tensors": ctypes.c_int64, "tensor_name": ctypes.c_char_p, "tensor_type": ctypes.c_int,
                     "tensor_offset": ctypes.c_size_t, "tensor_size": ctypes.c_size_t}.items():
    getattr(ggml, "gguf_get_" + name).restype = result
    getattr(ggml, "gguf_get_" + name).argtypes = [ctypes.c_void_p] + [ctypes.c_int64] * (name != "n_tensors")
ggml.gguf_get_data_offset.restype = ctypes.c_size_t
ggml.gguf_get_data_offset.argtypes = [ctypes.c_void_p]


class Gguf:
    """Tensors of a file by name: (type id, bytes)."""

    def __init__(self, path):
        handle = ggml.gguf_init_from_file(path.encode(), GgufParams(True, None))
        with open(path, "rb") as file:
            data = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
        base = ggml.gguf_get_data_offset(handle)
        self.tensors = {}
        for i in range(ggml.gguf_get_n_tensors(handle)):
            begin = base + ggml.gguf_get_tensor_offset(handle, i)
            self.tensors[ggml.gguf_get_tensor_name(handle, i).decode()] = (
                ggml.gguf_get_tensor_type(handle, i), data[begin:begin + ggml.gguf_get_tensor_size(handle, i)])


def decode(kind, data):
    traits = ggml.ggml_get_type_traits(kind).contents
    out = np.empty(data.size // traits.block_bytes * traits.block_values, np.float32)
    if traits.name == b"f32":
        return data.view(np.float32)
    traits.to_float(data.ctypes.data, out.ctypes.data, out.size)
    return out


def load_imatrix(path):
    """Mean squares by name."""
    with open(path, "rb") as file:
        data = file.read()
    if not data.startswith(b"GGUF"):
        return dict(old_imatrix(data))
    tensors = Gguf(path).tensors
    suffix = ".in_sum2"
    return {name[:-len(suffix)]: decode(*value) / np.maximum(decode(*tensors[name[:-len(suffix)] + ".counts"]), 1)
            for name, value in tensors.items() if name.endswith(suffix)}


def old_imatrix(data):
    at = 4
    for _ in range(struct.unpack_from("<i", data)[0]):
        length, = struct.unpack_from("<i", data, at)
        name = data[at + 4:at + 4 + length].decode()
        calls, count = struct.unpack_from("<ii", data, at + 4 + length)
        at += 12 + length
        yield name, np.frombuffer(data, np.float32, count, at) / calls
        at += 4 * count


def join_rows(model, count, out):
    """The same file but for the shapes of its matrices."""
    with open(model, "rb") as file:
        data = bytearray(file.read())
    for name in Gguf(model).tensors:
        info = struct.pack("<Q", len(name)) + name.encode() + struct.pack("<I", 2)  # of two dimensions
        at = data.find(info)
        if at < 0:
            continue
        at += len(info)
        cols, rows = struct.unpack_from("<QQ", data, at)
        if rows % count == 0:
            struct.pack_into("<QQ", data, at, cols * count, rows // count)
    with open(out, "wb") as file:
        file.write(data)


def join_imatrix(path, count, out):
    """In the older format, which both programs' readers know."""
    with open(out, "wb") as file:
        values = load_imatrix(path)
        file.write(struct.pack("<i", len(values)))
        for name, data in values.items():
            data = np.tile(data, count)
            file.write(struct.pack("<i", len(name)) + name.encode() + struct.pack("<ii", 1, data.size) + data.tobytes())


def cpu_seconds(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def quantize_with_llama_cpp(args):
    """Runs in a process of its own, as a user would run the tool."""
    settings = llama_cpp.llama_model_quantize_default_params()
    settings.nthread, settings.ftype, settings.pure = args.threads, args.file_type, args.pure
    settings.allow_requantize = True
    if args.imatrix:
        kind = llama_cpp.llama_cpp.llama_model_imatrix_data
        values = load_imatrix(args.imatrix)
        entries = (kind * (len(values) + 1))()
        for entry, (name, data) in zip(entries, values.items()):
            entry.name, entry.size = name.encode(), data.size
            entry.data = data.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
        settings.imatrix = entries
    start, cpu = time.perf_counter(), cpu_seconds(resource.RUSAGE_SELF)
    status = llama_cpp.llama_model_quantize(args.model.encode(), args.out.encode(), settings)
    print(json.dumps({"status": status, "wall": time.perf_counter() - start,
                      "cpu": cpu_seconds(resource.RUSAGE_SELF) - cpu}))


def is_pure(args, kind):
    return not args.mixture and kind not in MIXTURE_ONLY


def run_llama_cpp(args, kind, out, imatrix):
    number = getattr(llama_cpp, "LLAMA_FTYPE_MOSTLY_" + FILE_TYPES.get(kind, kind))
    command = [sys.executable, os.path.abspath(__file__), args.arion, args.model, "--child", "--file-type", str(number),
               "--threads", str(args.threads), "--out", out]
    command += ["--pure"] * is_pure(args, kind) + (["--imatrix", imatrix] if imatrix else [])
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        answer = json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        return None
    return (answer["wall"], answer["cpu"]) if answer["status"] == 0 else None


def run_arion(args, kind, out, imatrix):
    command = [args.arion, "quantize", args.model, out, "--type", FILE_TYPES.get(kind, kind), "-t", str(args.threads)]
    command += ["--pure"] * is_pure(args, kind) + (["--imatrix", imatrix] if imatrix else [])
    start, cpu = time.perf_counter(), cpu_seconds(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return time.perf_counter() - start, cpu_seconds(resource.RUSAGE_CHILDREN) - cpu


def errors(args, ours, theirs, importance):
    source, ours, theirs = Gguf(args.model).tensors, Gguf(ours).tensors, Gguf(theirs).tensors
    total = np.zeros((2, 2))
    worst = [0.0, 0.0]
    same = different = other_type = 0
    for name, (kind, data) in ours.items():
        if kind != theirs[name][0]:
            other_type += 1
            continue
        if np.array_equal(data, theirs[name][1]):
            same += 1
        else:
            different += 1
        x = decode(*source[name])
        weights = importance.get(name)
        sums = np.zeros((2, 2))
        for i, file in enumerate((ours, theirs)):
            squares = (decode(*file[name]).astype(np.float64) - x) ** 2
            sums[0, i] = squares.sum()
            if weights is not None:
                sums[1, i] = squares.reshape(-1, weights.size).sum(0) @ weights
        total += sums
        for metric in range(2):
            if sums[metric, 1] > 0:
                worst[metric] = max(worst[metric], (sums[metric, 0] / sums[metric, 1]) ** 0.5)
    ratio = [(t[0] / t[1]) ** 0.5 if t[1] > 0 else None for t in total]
    return {"same": same, "different": different, "other_type": other_type, "plain": ratio[0], "worst_plain": worst[0],
            "weighted": ratio[1], "worst_weighted": worst[1] or None}


def compare(args, kind, imatrix, folder):
    ours, theirs = os.path.join(folder, "ours.gguf"), os.path.join(folder, "theirs.gguf")
    walls, cpus = [], []
    for _ in range(args.rounds):
        a, b = run_arion(args, kind, ours, imatrix), run_llama_cpp(args, kind, theirs, imatrix)
        if b is None:
            return {"theirs": "refused"}
        walls.append((a[0], b[0]))
        cpus.append(b[1] / a[1])
    ratios = [b / a for a, b in walls]
    result = {"ours_s": statistics.median(a for a, b in walls), "theirs_s": statistics.median(b for a, b in walls),
              "speed": statistics.median(ratios), "speed_range": [min(ratios), max(ratios)],
              "speed_cpu": statistics.median(cpus)}
    return result | errors(args, ours, theirs, load_imatrix(imatrix) if imatrix else {})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("arion")
    parser.add_argument("model")
    parser.add_argument("--types", default=",".join(TYPES))
    parser.add_argument("--imatrix")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--mixture", action="store_true", help="the mixtures of types instead of one type for all")
    parser.add_argument("--join", type=int, default=1, metavar="N", help="make one row of every N")
    parser.add_argument("--tmp", help="folder for the files, better on a fast disk")
    parser.add_argument("--out")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--pure", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--file-type", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        return quantize_with_llama_cpp(args)
    results = {}
    with tempfile.TemporaryDirectory(dir=args.tmp) as folder:
        if args.join > 1:
            join_rows(args.model, args.join, joined := os.path.join(folder, "joined.gguf"))
            args.model = joined
            if args.imatrix:
                join_imatrix(args.imatrix, args.join, joined := os.path.join(folder, "joined.dat"))
                args.imatrix = joined
        for kind in args.types.split(","):
            for imatrix in (None, args.imatrix) if args.imatrix else (None,):
                if imatrix is None and kind in NEEDS_IMATRIX:
                    continue
                key = kind + ("+imatrix" if imatrix else "")
                results[key] = compare(args, kind, imatrix, folder)
                shown = {k: round(v, 4) if isinstance(v, float) else v for k, v in results[key].items()}
                print(f"{key:16}", json.dumps(shown), flush=True)
    if args.out:
        text = re.sub(r"(\d\.\d{4})\d+", r"\1", json.dumps(results, indent=1))
        with open(args.out, "w") as file:
            file.write(text + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Re-encodes a GGUF model in another format with llama.cpp, for comparisons of equal files:

    PEER_VENV/bin/python bench/requantise.py MODEL.gguf Q4_0 OUT.gguf

Needs llama-cpp-python 0.3.36. Quantising what was quantised before costs quality: such files are for speed and for
tests of formats only.
"""
import argparse

import llama_cpp


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("format", help="Q4_0, Q8_0, Q4_K_M, ...")
    parser.add_argument("out")
    parser.add_argument("--pure", action="store_true", help="every tensor in this format, no mix")
    args = parser.parse_args()
    settings = llama_cpp.llama_model_quantize_default_params()
    names = [f"LLAMA_FTYPE_MOSTLY_{args.format}", f"LLAMA_FTYPE_ALL_{args.format}"]
    kind = next((getattr(llama_cpp, name) for name in names if hasattr(llama_cpp, name)), None)
    if kind is None:
        raise SystemExit(f"llama.cpp has no format {args.format}")
    settings.ftype = kind
    settings.allow_requantize = True
    settings.pure = args.pure
    if llama_cpp.llama_model_quantize(args.model.encode(), args.out.encode(), settings) != 0:
        raise SystemExit("quantising failed")


if __name__ == "__main__":
    main()

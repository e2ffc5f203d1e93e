#!/usr/bin/env python3
"""Times llama.cpp through llama-cpp-python on one model and prints tokens per second as JSON; run by peers.py.

Like llama-bench: prompts of random ids in one batch, single tokens from an empty context, no sampling, flash attention,
one warm-up of each. Measured with llama-cpp-python 0.3.36, built for the machine (CMAKE_ARGS="-DGGML_NATIVE=ON").
"""
import argparse
import ctypes
import json
import random
import time

import llama_cpp


def decode(context, ids):
    tokens = (llama_cpp.llama_token * len(ids))(*ids)
    if llama_cpp.llama_decode(context, llama_cpp.llama_batch_get_one(tokens, len(ids))) != 0:
        raise SystemExit("llama_decode failed")
    llama_cpp.llama_synchronize(context)


def measure(context, batches):
    """Tokens per second of decoding `batches` one after the other from an empty context."""
    llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(context), True)
    start = time.perf_counter()
    for batch in batches:
        decode(context, batch)
    return sum(map(len, batches)) / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("-p", "--prompt", type=int, default=512)
    parser.add_argument("-n", "--generate", type=int, default=128)
    parser.add_argument("-t", "--threads", type=int, required=True)
    parser.add_argument("-r", "--repetitions", type=int, default=1)
    args = parser.parse_args()

    silent = llama_cpp.llama_log_callback(lambda level, text, data: None)
    llama_cpp.llama_log_set(silent, ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()
    model = llama_cpp.llama_model_load_from_file(args.model.encode(), llama_cpp.llama_model_default_params())
    if not model:
        raise SystemExit(f"cannot load {args.model}")
    settings = llama_cpp.llama_context_default_params()
    settings.n_ctx = max(args.prompt, args.generate) + 64
    settings.n_batch = settings.n_ubatch = max(args.prompt, 1)
    settings.n_threads = settings.n_threads_batch = args.threads
    settings.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_ENABLED
    context = llama_cpp.llama_init_from_model(model, settings)
    if not context:
        raise SystemExit(f"cannot make a context for {args.model}")

    size = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(model))
    pick = random.Random(1)
    prompt = [pick.randrange(size) for _ in range(args.prompt)]
    singles = [[pick.randrange(size)] for _ in range(args.generate)]
    tests = {f"pp{args.prompt}": [prompt], f"tg{args.generate}": singles}
    results = []
    for name, batches in tests.items():
        if not batches or not batches[0]:
            continue
        measure(context, batches[:8])
        samples = [measure(context, batches) for _ in range(args.repetitions)]
        results.append({"test": name, "samples_tokens_per_s": samples})
    print(json.dumps({"version": llama_cpp.__version__, "threads": args.threads, "results": results}))


if __name__ == "__main__":
    main()

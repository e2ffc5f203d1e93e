#!/usr/bin/env python3
"""Times llama.cpp through llama-cpp-python on one model and prints tokens per second as JSON; run by peers.py.

Like llama-bench: prompts of random ids in one batch, single tokens from an empty context, no sampling, flash attention,
one warm-up of each. With --clients like llama-server: clients that ask again at once, in every step a token of each
answer, then prompts up to the size of a batch, greedy. Measured with llama-cpp-python 0.3.36, built for the machine
(CMAKE_ARGS="-DGGML_NATIVE=ON").
"""
import argparse
import ctypes
import json
import random
import statistics
import time

import llama_cpp
import numpy as np


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


class Slot:
    """One client's request."""

    def __init__(self, prompt):
        self.asked = time.perf_counter()
        self.pending = prompt  # tokens not computed yet
        self.position = 0
        self.times = []  # of the answer's tokens


def serve(context, vocab, prompts, clients, generate, batch_tokens):
    """Answers all prompts; seconds in total, and of every request the times of its tokens."""
    memory = llama_cpp.llama_get_memory(context)
    llama_cpp.llama_memory_clear(memory, True)
    batch = llama_cpp.llama_batch_init(batch_tokens, 0, 1)
    start = time.perf_counter()
    waiting, done = list(prompts), []
    slots = [Slot(waiting.pop(0)) if waiting else None for _ in range(clients)]
    while any(slots):
        batch.n_tokens = 0
        rows = {}  # slot -> its row with logits
        # A decoding slot has one token pending; those go first.
        for index in sorted(range(clients), key=lambda i: len(slots[i].pending) if slots[i] else 0):
            slot = slots[index]
            take = min(len(slot.pending), batch_tokens - batch.n_tokens) if slot else 0
            for token in slot.pending[:take] if take else []:
                row = batch.n_tokens
                batch.token[row], batch.pos[row] = token, slot.position
                batch.n_seq_id[row], batch.seq_id[row][0], batch.logits[row] = 1, index, 0
                slot.position += 1
                batch.n_tokens += 1
            if take:
                slot.pending = slot.pending[take:]
                if not slot.pending:
                    rows[index] = batch.n_tokens - 1
                    batch.logits[rows[index]] = 1
        if llama_cpp.llama_decode(context, batch) != 0:
            raise SystemExit("llama_decode failed")
        for index, row in rows.items():
            slot = slots[index]
            logits = np.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(context, row), shape=(vocab,))
            slot.pending = [int(logits.argmax())]
            slot.times.append(time.perf_counter() - slot.asked)
            if len(slot.times) == generate:
                done.append(slot.times)
                llama_cpp.llama_memory_seq_rm(memory, index, -1, -1)
                slots[index] = Slot(waiting.pop(0)) if waiting else None
    seconds = time.perf_counter() - start
    llama_cpp.llama_batch_free(batch)
    return seconds, done


def describe_load(seconds, done):
    ttft = [times[0] * 1000 for times in done]
    tpot = [(times[-1] - times[0]) / (len(times) - 1) * 1000 for times in done]
    return {"output_tokens_per_s": sum(map(len, done)) / seconds,
            "ttft_ms": {"mean": statistics.mean(ttft), "p50": statistics.median(ttft)},
            "tpot_ms": {"mean": statistics.mean(tpot), "p50": statistics.median(tpot)}}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("-p", "--prompt", type=int, default=512)
    parser.add_argument("-n", "--generate", type=int, default=128)
    parser.add_argument("-t", "--threads", type=int, required=True)
    parser.add_argument("-r", "--repetitions", type=int, default=1)
    parser.add_argument("--clients", type=int, default=0, help="measure so many clients with prompts and answers of these lengths")
    parser.add_argument("--requests", type=int, default=64)
    args = parser.parse_args()

    silent = llama_cpp.llama_log_callback(lambda level, text, data: None)
    llama_cpp.llama_log_set(silent, ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()
    model = llama_cpp.llama_model_load_from_file(args.model.encode(), llama_cpp.llama_model_default_params())
    if not model:
        raise SystemExit(f"cannot load {args.model}")
    settings = llama_cpp.llama_context_default_params()
    if args.clients:
        settings.n_ctx = args.clients * (-(args.prompt + args.generate) // 256 * -256)
        settings.n_seq_max, settings.n_batch, settings.n_ubatch = args.clients, 2048, 512
    else:
        settings.n_ctx = max(args.prompt, args.generate) + 64
        settings.n_batch = settings.n_ubatch = max(args.prompt, 1)
    settings.n_threads = settings.n_threads_batch = args.threads
    settings.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_ENABLED
    context = llama_cpp.llama_init_from_model(model, settings)
    if not context:
        raise SystemExit(f"cannot make a context for {args.model}")

    size = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(model))
    pick = random.Random(1)
    if args.clients:
        prompts = [[pick.randrange(size) for _ in range(args.prompt)] for _ in range(args.requests)]
        result = describe_load(*serve(context, size, prompts, args.clients, args.generate, settings.n_batch))
        print(json.dumps({"version": llama_cpp.__version__, "threads": args.threads, **result}))
        return
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

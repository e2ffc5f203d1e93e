#!/usr/bin/env python3
"""Times llama.cpp through llama-cpp-python on one model and prints tokens per second as JSON; run by peers.py.

Like llama-bench and llama-batched-bench: prompts of random ids, then single tokens of each sequence behind --depth
others, no sampling, flash attention, batches of 2,048 and 512 tokens, one warm-up of each. With --clients like llama-server: clients that ask again at once, in every step a token of each
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


BATCH, MICRO_BATCH = 2048, 512  # tokens, the defaults of llama-bench


class Steps:
    """Decodes tokens of numbered sequences; keeps the batch they are written into."""

    def __init__(self, context, vocab):
        self.context, self.memory = context, llama_cpp.llama_get_memory(context)
        self.batch = llama_cpp.llama_batch_init(BATCH, 0, 1)
        self.vocab, self.random = vocab, random.Random(1)

    def run(self, rows):
        """`rows`: (sequence, position, whether logits are wanted), of random tokens."""
        for start in range(0, len(rows), BATCH):
            part = rows[start:start + BATCH]
            for i, (sequence, position, has_logits) in enumerate(part):
                self.batch.token[i], self.batch.pos[i] = self.random.randrange(self.vocab), position
                self.batch.n_seq_id[i], self.batch.seq_id[i][0], self.batch.logits[i] = 1, sequence, has_logits
            self.batch.n_tokens = len(part)
            if llama_cpp.llama_decode(self.context, self.batch) != 0:
                raise SystemExit("llama_decode failed")
            llama_cpp.llama_synchronize(self.context)

    def prefill(self, count, depth=0, sequence=0):
        self.run([(sequence, depth + i, i == count - 1) for i in range(count)])

    def generate(self, count, depth, sequences):
        for i in range(count):
            self.run([(sequence, depth + i, True) for sequence in range(sequences)])

    def forget(self, depth, sequences):
        """All that lies behind the first `depth` tokens."""
        for sequence in range(sequences):
            llama_cpp.llama_memory_seq_rm(self.memory, sequence, depth, -1)

    def measure(self, work, count, warm_up, repetitions, **where):
        """Tokens per second of work(count), each time behind the same tokens."""
        work(warm_up)
        samples = []
        for _ in range(repetitions):
            self.forget(**where)
            start = time.perf_counter()
            work(count)
            samples.append(count * where["sequences"] / (time.perf_counter() - start))
        self.forget(**where)
        return samples


def measure_steps(steps, args):
    results = []
    for sequence in range(args.batch):
        if args.depth:
            steps.prefill(args.depth, sequence=sequence)
    if args.prompt:
        samples = steps.measure(lambda count: steps.prefill(count, args.depth), args.prompt, args.prompt, args.repetitions,
                                depth=args.depth, sequences=1)
        results.append({"test": f"pp{args.prompt}", "samples_tokens_per_s": samples})
    if args.generate:
        samples = steps.measure(lambda count: steps.generate(count, args.depth, args.batch), args.generate, 8,
                                args.repetitions, depth=args.depth, sequences=args.batch)
        name = f"tg{args.generate}" + (f"x{args.batch}" if args.batch > 1 else "")
        results.append({"test": name, "samples_tokens_per_s": samples})
    return results


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
    parser.add_argument("-d", "--depth", type=int, default=0, help="tokens already in each sequence")
    parser.add_argument("-b", "--batch", type=int, default=1, help="sequences that generate at once")
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
    sequences = args.clients or args.batch
    tokens = args.prompt + args.generate if args.clients else args.depth + max(args.prompt, args.generate)
    settings.n_ctx = sequences * (-tokens // 256 * -256)
    settings.n_seq_max, settings.n_batch, settings.n_ubatch = sequences, BATCH, MICRO_BATCH
    settings.n_threads = settings.n_threads_batch = args.threads
    settings.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_ENABLED
    context = llama_cpp.llama_init_from_model(model, settings)
    if not context:
        raise SystemExit(f"cannot make a context for {args.model}")

    size = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(model))
    about = {"version": llama_cpp.__version__, "threads": args.threads}
    if args.clients:
        pick = random.Random(1)
        prompts = [[pick.randrange(size) for _ in range(args.prompt)] for _ in range(args.requests)]
        result = describe_load(*serve(context, size, prompts, args.clients, args.generate, settings.n_batch))
        print(json.dumps({**about, **result}))
        return
    print(json.dumps({**about, "results": measure_steps(Steps(context, size), args)}))


if __name__ == "__main__":
    main()

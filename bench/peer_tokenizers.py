#!/usr/bin/env python3
"""Encodes texts with the tokenizers package on one thread and prints median seconds as JSON; bench/tokenizer_peers.py runs it.

    peer_tokenizers.py TOKENIZER.json TEXT...
"""
import json
import os
import pathlib
import statistics
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
import tokenizers  # noqa: E402

RUNS = 5


def seconds(tokenizer, text):
    samples = []
    for _ in range(RUNS + 1):  # the first is the warm-up
        start = time.thread_time()
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        samples.append(time.thread_time() - start)
    return {"tokens": len(ids), "seconds": statistics.median(samples[1:])}


tokenizer = tokenizers.Tokenizer.from_file(sys.argv[1])
results = {path: seconds(tokenizer, pathlib.Path(path).read_text()) for path in sys.argv[2:]}
print(json.dumps({"version": tokenizers.__version__, "results": results}))

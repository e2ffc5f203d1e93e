#!/usr/bin/env python3
"""Makes sentencepiece.json: what the sentencepiece package does with the strings of golden.json, for the models of the
corpus. One 32-bit FNV-1a hash of the ids of every GROUP strings, as in make_tokenizers.py.
Usage: make_sentencepiece.py CORPUS/data/tokenizers/spm > sentencepiece.json      (needs sentencepiece, tokenizers)"""
import json
import pathlib
import sys

import sentencepiece
from make_tokenizers import HERE, hashes

MODELS = ("sp_test_ja_model", "sp_test_model", "spiece", "test_sentencepiece", "test_sentencepiece_bpe",
          "test_sentencepiece_bpe_char", "test_sentencepiece_no_bos", "test_sentencepiece_with_bytefallback")

strings = json.loads((HERE / "golden.json").read_text())["strings"]
golden = {"oracle": f"sentencepiece {sentencepiece.__version__}", "models": {}}
for name in MODELS:
    processor = sentencepiece.SentencePieceProcessor(str(pathlib.Path(sys.argv[1]) / f"{name}.model"))
    golden["models"][name] = hashes([processor.encode(s) for s in strings])
json.dump(golden, sys.stdout, separators=(",", ":"))
print()

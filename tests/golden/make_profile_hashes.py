#!/usr/bin/env python3
"""Renews profile_hashes.json: make_profile_hashes.py PROGRAM [TEST_DATA].

The hashes are those of `arion eval logits --hash` itself, on the generic level. They say that bits
have not changed, not that they are right: compare_model.py and the tests of the models do.
Without TEST_DATA (the folder holding data/) the hashes of its models are kept as they are.
"""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# Options that choose a profile: by weight format with f16 KV, and everything in fp32.
PROFILES = ["", "--act fp32"]


def hashes(program, model, tokens):
    result = {}
    for options in PROFILES:
        command = [program, "eval", "logits", "--hash", "--isa", "generic", *options.split()]
        command += ["--tokens", ",".join(map(str, tokens)), str(model)]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        result[options] = out.strip()
    return result


def main():
    program = sys.argv[1]
    file = HERE / "profile_hashes.json"
    golden = json.loads(file.read_text()) if file.exists() else {"hashes": {}}
    golden["about"] = "FNV-1a of all logits, by model and options; see make_profile_hashes.py"
    for name in ["llama", "qwen2", "qwen3", "gemma3"]:
        tokens = json.loads((HERE / "model" / f"{name}.json").read_text())["tokens"]
        golden["hashes"][name] = hashes(program, HERE / "model" / f"{name}.gguf", tokens)
    if len(sys.argv) > 2:
        folder = pathlib.Path(sys.argv[2]) / "data/models"
        tokens = json.loads((folder / "stories260K.greedy.json").read_text())["bos_greedy_ids"]
        golden["hashes"]["stories260K"] = hashes(program, folder / "stories260K.gguf", tokens)
    file.write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    main()

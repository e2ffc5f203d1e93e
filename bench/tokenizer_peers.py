#!/usr/bin/env python3
"""Compares encoding on one core with the tokenizers package, one after the other on the same texts, and writes the numbers
with machine, commit and date to bench/results/.

    bench/tokenizer_peers.py --text wikitext-2.test.txt --model llama3.gguf llama3.json --model qwen.gguf qwen.json
        --python VENV_0_21/bin/python --python VENV_NEWEST/bin/python --name tokenizers-epyc

A model is a GGUF file with the vocabulary and the tokenizer.json of the same. One warm-up, median of 5, processor time of
the thread. Texts: the given one, a megabyte of it with and without spaces, of one letter and of emoji.
"""
import argparse
import datetime
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from measuring import ROOT, commit, machine, run_json  # noqa: E402

MEGABYTE = 1_000_000


def make_texts(path, folder):
    prose = path.read_text()
    texts = {"whole": prose, "prose": prose[:MEGABYTE], "no_spaces": "".join(prose.split())[:MEGABYTE],
             "one_letter": "a" * MEGABYTE, "emoji": "\U0001F600" * (MEGABYTE // 4)}
    files = {}
    for name, text in texts.items():
        files[name] = pathlib.Path(folder) / name
        files[name].write_text(text)
    return files


def arion_rates(bench, gguf, files):
    done = subprocess.run(["taskset", "-c", "0", bench, gguf, *map(str, files.values())], capture_output=True, text=True,
                          check=True)
    found = re.findall(r"^(\S+) .* (\d+) tokens  encode +([\d.]+) MB/s", done.stdout, re.M)
    return {pathlib.Path(path).name: {"tokens": int(tokens), "mb_per_s": float(rate)} for path, tokens, rate in found}


def peer_rates(python, tokenizer, files):
    output = run_json(["taskset", "-c", "0", python, ROOT / "bench/peer_tokenizers.py", tokenizer, *files.values()])
    rates = {name: {"tokens": output["results"][str(path)]["tokens"],
                    "mb_per_s": round(path.stat().st_size / MEGABYTE / output["results"][str(path)]["seconds"], 2)}
             for name, path in files.items()}
    return output["version"], rates


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--text", type=pathlib.Path, required=True)
    parser.add_argument("--model", nargs=2, action="append", required=True, metavar=("GGUF", "JSON"))
    parser.add_argument("--python", action="append", required=True)
    parser.add_argument("--bench", default=ROOT / "build/release/bench/micro/tokenizer_bench")
    parser.add_argument("--name", required=True)
    args = parser.parse_args()
    report = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "commit": commit(),
              "machine": machine(), "models": []}
    with tempfile.TemporaryDirectory() as folder:
        files = make_texts(args.text, folder)
        for gguf, tokenizer in args.model:
            arion = arion_rates(args.bench, gguf, files)
            model = {"model": pathlib.Path(gguf).name, "arion": arion, "peers": {}}
            model["times_of_prose"] = {name: round(arion["prose"]["mb_per_s"] / rate["mb_per_s"], 2)
                                       for name, rate in arion.items()}
            for python in args.python:
                version, rates = peer_rates(python, tokenizer, files)
                model["peers"][version] = rates
                model.setdefault("ratio", {})[version] = round(arion["whole"]["mb_per_s"] / rates["whole"]["mb_per_s"], 2)
                model.setdefault("same_counts", {})[version] = all(
                    rates[name]["tokens"] == arion[name]["tokens"] for name in files)
            report["models"].append(model)
    path = ROOT / "bench/results" / f"{args.name}.json"
    path.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report["models"], indent=1))


if __name__ == "__main__":
    main()

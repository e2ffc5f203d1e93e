#!/usr/bin/env python3
"""Compares what `arion` computes with reference outputs made by make_model.py, and says whether the bounds hold.

    compare_model.py logits  MODEL.gguf --reference logits.npy [--arguments "--act fp32"]
    compare_model.py greedy  MODEL.gguf --reference greedy.json [--arguments "--act fp32 -t 2"]
    compare_model.py windows MODEL.gguf --reference FOLDER [--arguments "..."]
    compare_model.py perplexity MODEL.gguf --reference perplexity.json --text TEXT [--arguments "..."]

Exit status 1 if a bound is exceeded. Bounds: logits 2e-3 + 1e-4 * max|logit|; greedy ids equal up to a place where the
two best differ by less than that; windows: mean divergence 0.004, top-1 95 % (99.5 % where the best leads by 1.0);
perplexity of the whole text given to make_model.py: 0.5 %.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent


def run(args, *command):
    command = [str(part) for part in (args.arion, *command, *args.arguments.split())]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)[:300]}\nfailed with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def logits_of(args, tokens):
    """float32 [positions, vocab] as `arion eval logits` writes them"""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "logits.npy"
        run(args, "eval", "logits", args.model, "--tokens", ",".join(map(str, tokens)), "--out", out)
        return np.load(out)


def bound_of(reference):
    return 2e-3 + 1e-4 * float(np.abs(reference).max())


def compare_logits(args):
    reference = np.load(args.reference)
    tokens = json.loads(pathlib.Path(args.reference).with_suffix(".json").read_text())["tokens"]
    got = logits_of(args, tokens)
    if got.shape != reference.shape:
        sys.exit(f"shape {got.shape}, expected {reference.shape}")
    difference = np.abs(got - reference)
    report = {"positions": len(tokens), "max_difference": float(difference.max()), "bound": bound_of(reference),
              "worst_position": int(difference.max(1).argmax()), "mean_difference": float(difference.mean()),
              "same_top1": float((got.argmax(1) == reference.argmax(1)).mean())}
    return report, report["max_difference"] <= report["bound"]


def compare_greedy(args):
    reference = json.loads(pathlib.Path(args.reference).read_text())
    prompt, expected = reference["prompt_tokens"], reference["tokens"]
    # One logits row per step would be slow: the whole sequence is evaluated at once, which the engine promises to be
    # the same bit for bit.
    logits = logits_of(args, prompt + expected[:-1])[len(prompt) - 1:]
    got = logits.argmax(1).tolist()
    bound = bound_of(logits)
    first = next((i for i, (a, b) in enumerate(zip(got, expected)) if a != b), None)
    report = {"tokens": len(expected), "first_difference": first, "bound": bound,
              "gap_there": None if first is None else reference["gaps"][first]}
    return report, first is None or reference["gaps"][first] < bound


def log_softmax(rows):
    rows = rows.astype(np.float64)
    rows -= rows.max(1, keepdims=True)
    return rows - np.log(np.exp(rows).sum(1, keepdims=True))


def compare_windows(args):
    folder = pathlib.Path(args.reference)
    index = json.loads((folder / "index.json").read_text())
    first = index["first_scored"]
    divergences, kept, gaps, loss = [], [], [], np.zeros(2)
    for number in range(min(index["windows"], args.windows)):
        tokens = [int(t) for t in (folder / f"{number:04}.tokens").read_text().split(",")]
        exact = log_softmax(np.load(folder / f"{number:04}.npy"))
        got = log_softmax(logits_of(args, tokens)[first:])
        divergences.append((np.exp(exact) * (exact - got)).sum(1))
        kept.append(exact.argmax(1) == got.argmax(1))
        best = np.partition(exact, -2, axis=1)[:, -2:]
        gaps.append(best[:, 1] - best[:, 0])
        targets = np.array(tokens[first + 1:])
        rows = np.arange(len(targets))
        loss -= [exact[rows, targets].sum(), got[rows, targets].sum()]
        scored = len(targets) * (number + 1)
        print(f"window {number}: mean divergence {divergences[-1].mean():.6f}", file=sys.stderr)
    divergences, kept, gaps = map(np.concatenate, (divergences, kept, gaps))
    perplexity = np.exp(loss / scored)
    report = {"positions": len(divergences), "mean_kl": float(divergences.mean()),
              "p99_kl": float(np.quantile(divergences, 0.99)), "max_kl": float(divergences.max()),
              "same_top1": float(kept.mean()), "same_top1_clear": float(kept[gaps > 1].mean()),
              "perplexity_reference": float(perplexity[0]), "perplexity": float(perplexity[1])}
    return report, report["mean_kl"] <= 0.004 and report["same_top1"] >= 0.95 and report["same_top1_clear"] >= 0.995


def compare_perplexity(args):
    reference = json.loads(pathlib.Path(args.reference).read_text())
    if args.text is None:
        sys.exit("--text FILE is needed: the text whose ids make_model.py was given")
    got = json.loads(run(args, "eval", "ppl", args.model, "--file", args.text, "--ctx", reference["size"],
                         "--max-tokens", reference["tokens"], "--json"))
    if got["scored_tokens"] != reference["scored"]:
        sys.exit(f"scored {got['scored_tokens']} tokens, expected {reference['scored']}")
    report = {"scored": reference["scored"], "perplexity_reference": reference["perplexity"],
              "perplexity": got["perplexity"], "ratio": got["perplexity"] / reference["perplexity"]}
    return report, abs(report["ratio"] - 1) <= 0.005


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("logits", "greedy", "windows", "perplexity"))
    parser.add_argument("model")
    parser.add_argument("--reference", required=True)
    parser.add_argument("--arion", default=HERE.parents[2] / "build/release/arion")
    parser.add_argument("--arguments", default="", help="more arguments of arion, as one word")
    parser.add_argument("--text", help="of the perplexity")
    parser.add_argument("--windows", type=int, default=10**9)
    args = parser.parse_args()
    compare = {"logits": compare_logits, "greedy": compare_greedy, "windows": compare_windows,
               "perplexity": compare_perplexity}[args.what]
    report, holds = compare(args)
    print(json.dumps(report | {"holds": bool(holds)}, indent=1))
    sys.exit(not holds)


if __name__ == "__main__":
    main()

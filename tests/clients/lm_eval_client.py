"""lm-eval's local-completions against a server: loglikelihoods of a fixed set equal those of `arion eval logits`.
Usage: lm_eval_client.py http://127.0.0.1:8000/v1 MODEL ARION_PROGRAM"""
import pathlib
import subprocess
import sys
import tempfile

import numpy
import requests
from lm_eval.api.instance import Instance
from lm_eval.models.openai_completions import LocalCompletionsAPI

PAIRS = [("The capital of France is", " Paris"), ("The capital of France is", " banana"), ("1 + 1 =", " 2"),
         ("Water boils at a temperature of one hundred", " degrees"), ("def add(a, b):\n    return", " a + b"),
         ("Es war einmal", " ein König")]


def eval_logprob(arion: str, model: str, context: list[int], continuation: list[int]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "logits.npy"
        ids = ",".join(map(str, context + continuation))
        subprocess.run([arion, "eval", "logits", model, "--tokens", ids, "--out", str(path)], check=True,
                       capture_output=True)
        rows = numpy.load(path).astype(numpy.float64)
    total = 0.0
    for i, token in enumerate(continuation):
        row = rows[len(context) + i - 1]
        total += row[token] - row.max() - numpy.log(numpy.exp(row - row.max()).sum())
    return total


def main() -> None:
    address, model, arion = sys.argv[1:4]
    name = requests.get(f"{address}/models", timeout=60).json()["data"][0]["id"]
    client = LocalCompletionsAPI(base_url=f"{address}/completions", model=name, max_length=2048, batch_size=4)
    asked = [Instance(request_type="loglikelihood", doc={}, arguments=pair, idx=i) for i, pair in enumerate(PAIRS)]
    results = client.loglikelihood(asked, disable_tqdm=True)
    tokens = [client._encode_pair(*pair) for pair in PAIRS]
    worst = 0.0
    for (logprob, is_greedy), (context, text), pair in zip(results, tokens, PAIRS):
        expected = eval_logprob(arion, model, context, text)
        worst = max(worst, abs(expected - logprob))
        print(f"{pair[0]!r} -> {pair[1]!r}: {logprob:.6f}, eval {expected:.6f}, greedy {is_greedy}")
    print(f"largest difference {worst:.2e}")
    sys.exit(1 if worst > 1e-4 else 0)


if __name__ == "__main__":
    main()

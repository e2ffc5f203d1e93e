#!/usr/bin/env python3
"""Compares `arion bench --load` with llama.cpp's continuous batching on the same model, alternating, and writes the numbers
with machine, commit and date to bench/results/.

    bench/load_peers.py MODEL.gguf --python PEER_VENV/bin/python --name load-smollm2

Clients ask again at once; prompts and answers have fixed lengths. PEER_VENV as for peers.py.
"""
import argparse
import datetime
import json
import pathlib
import statistics

from measuring import HERE, ROOT, commit, machine, run_json


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--python", required=True, help="interpreter with llama-cpp-python")
    parser.add_argument("--arion", default=ROOT / "build/release/arion")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--requests", type=int, default=64)
    parser.add_argument("-p", "--prompt", type=int, default=128)
    parser.add_argument("-n", "--generate", type=int, default=128)
    parser.add_argument("-t", "--threads", type=int, default=2)
    parser.add_argument("-r", "--rounds", type=int, default=5)
    parser.add_argument("--name", help="writes bench/results/NAME.json")
    args = parser.parse_args()

    ours = [args.arion, "bench", args.model, "--load", "--json", "--max-concurrency", args.clients, "--num-prompts",
            args.requests, "--input-len", args.prompt, "--output-len", args.generate, "-t", args.threads]
    theirs = [args.python, HERE / "peer_llama_cpp.py", args.model, "--clients", args.clients, "--requests", args.requests,
              "-p", args.prompt, "-n", args.generate, "-t", args.threads]
    rounds = []
    for _ in range(args.rounds):
        rounds.append({"arion": run_json(ours), "llama.cpp": run_json(theirs)})
        a, b = rounds[-1]["arion"], rounds[-1]["llama.cpp"]
        print(f"tokens/s {a['output_tokens_per_s']:.1f} : {b['output_tokens_per_s']:.1f}, "
              f"TTFT {a['ttft_ms']['mean']:.0f} : {b['ttft_ms']['mean']:.0f} ms", flush=True)
    ratios = {"output_tokens_per_s": [r["arion"]["output_tokens_per_s"] / r["llama.cpp"]["output_tokens_per_s"] for r in rounds],
              "ttft_mean": [r["arion"]["ttft_ms"]["mean"] / r["llama.cpp"]["ttft_ms"]["mean"] for r in rounds]}
    for name, values in ratios.items():
        print(f"{name}: {statistics.median(values):.2f} of llama.cpp")
    if args.name:
        result = {"date": datetime.date.today().isoformat(), "commit": commit(), "machine": machine(),
                  "model": pathlib.Path(args.model).name, "clients": args.clients, "prompt": args.prompt,
                  "generate": args.generate, "threads": args.threads, "ratios": ratios, "rounds": rounds}
        path = ROOT / "bench/results" / f"{args.name}.json"
        path.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compares `arion bench` with llama.cpp on the same models, alternating, and writes the numbers with machine, commit and
date to bench/results/.

    bench/peers.py MODEL.gguf... --python PEER_VENV/bin/python --name smollm2

The peer runs with its best thread count per test (tried first), arion with --threads. PEER_VENV holds llama-cpp-python
0.3.36 built natively: CMAKE_ARGS="-DGGML_NATIVE=ON" pip install --no-binary llama-cpp-python llama-cpp-python==0.3.36
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent


def run_json(command, environment=None):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          env=os.environ | (environment or {}))
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nfailed with {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def by_test(output):
    return {result["test"]: result["samples_tokens_per_s"] for result in output["results"]}


def machine():
    model = "unknown"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return {"cpu": model, "cpus": len(os.sched_getaffinity(0)), "system": platform.platform(),
            "load_before": os.getloadavg()[0]}


def commit():
    def git(*arguments):
        return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True).stdout.strip()
    return git("rev-parse", "--short=12", "HEAD") + ("+changes" if git("status", "--porcelain") else "")


class Peers:
    def __init__(self, args, model):
        self.args, self.model = args, model

    def arion(self):
        command = [self.args.arion, "bench", self.model, "-p", self.args.prompt, "-n", self.args.generate, "-r", 1,
                   "-t", self.args.threads, "--json"]
        output = run_json(command)
        self.profile = {key: output.get(key) for key in ("threads", "isa", "profile")}
        return by_test(output)

    def llama_cpp(self, threads, only=None):
        prompt = self.args.prompt if only in (None, "pp") else 0
        generate = self.args.generate if only in (None, "tg") else 0
        output = run_json([self.args.python, HERE / "peer_llama_cpp.py", self.model, "-p", prompt, "-n", generate,
                           "-t", threads])
        self.version = output["version"]
        return by_test(output)

    def best_threads(self):
        """Per kind of test, the thread count with the highest median of three."""
        candidates = self.args.peer_threads
        best = {}
        for kind in ("pp", "tg"):
            medians = {n: statistics.median(next(iter(self.llama_cpp(n, kind).values()))[0] for _ in range(3))
                       for n in candidates}
            best[kind] = max(medians, key=medians.get)
        return best

    def compare(self):
        threads = self.best_threads()
        ours, theirs = {}, {}
        for round_number in range(self.args.rounds):
            def run_ours():
                for test, samples in self.arion().items():
                    ours.setdefault(test, []).extend(samples)

            def run_theirs():
                for kind in ("pp", "tg"):
                    for test, samples in self.llama_cpp(threads[kind], kind).items():
                        theirs.setdefault(test, []).extend(samples)
            for run in (run_ours, run_theirs) if round_number % 2 == 0 else (run_theirs, run_ours):
                run()
        results = []
        for test in theirs:
            if test not in ours:
                sys.exit(f"arion bench printed no test {test}, but {sorted(ours)}")
            a, b = statistics.median(ours[test]), statistics.median(theirs[test])
            results.append({"test": test, "arion": {"median": a, "samples": ours[test]},
                            "llama_cpp": {"median": b, "samples": theirs[test], "threads": threads[test[:2]]},
                            "ratio": round(a / b, 4)})
        return {"model": pathlib.Path(self.model).name, "arion": self.profile, "llama_cpp_python": self.version,
                "results": results}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--python", required=True, help="interpreter that has llama-cpp-python")
    parser.add_argument("--arion", default=ROOT / "build/release/arion")
    parser.add_argument("--name", required=True, help="of the file in bench/results")
    cpus = len(os.sched_getaffinity(0))
    parser.add_argument("--threads", type=int, default=cpus, help="of arion")
    parser.add_argument("--peer-threads", type=lambda text: [int(n) for n in text.split(",")],
                        default=list(range(1, cpus + 1)), help="thread counts to try for the peer, as 1,2,4")
    parser.add_argument("-p", "--prompt", type=int, default=512)
    parser.add_argument("-n", "--generate", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=5, help="alternations")
    args = parser.parse_args()

    report = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "commit": commit(),
              "machine": machine(), "rounds": args.rounds, "models": []}
    for model in args.models:
        compared = Peers(args, model).compare()
        report["models"].append(compared)
        for result in compared["results"]:
            print(f"{compared['model']:<40} {result['test']:<8} arion {result['arion']['median']:9.1f} t/s   "
                  f"llama.cpp {result['llama_cpp']['median']:9.1f} t/s   ratio {result['ratio']:.3f}", flush=True)
    out = HERE / "results" / f"{args.name}.json"
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps(report, indent=1) + "\n")
    print(f"written to {out}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compares `arion bench` with llama.cpp and ik_llama.cpp on the same models, alternating, and writes the numbers with
machine, commit and date to bench/results/.

    bench/peers.py MODEL.gguf|FOLDER... --python PEER_VENV/bin/python [--ik IK/build/bin/llama-bench] --name NAME

Tests: pp512 (a prompt), tg128 (generated tokens), tg64@4096 (behind 4,096 others), tg64x16@128 (of 16 sequences at once).
A file written before is gone on with: what stands in it is not measured again. PEER_VENV holds llama-cpp-python 0.3.36
built natively: CMAKE_ARGS="-DGGML_NATIVE=ON" pip install --no-binary llama-cpp-python llama-cpp-python==0.3.36
ik_llama.cpp is built natively of commit 8337e4cd: targets llama-bench and llama-batched-bench. bench/make_model.py makes
models.
"""
import argparse
import datetime
import fnmatch
import json
import os
import pathlib
import shlex
import statistics

from engines import Arion, IkLlamaCpp, LlamaCpp, Test
from measuring import HERE, ROOT, commit, machine

TESTS = "pp128,pp512,pp2048,tg128,tg64@4096,tg64x16@128"


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def best_threads(engine, model, test, candidates):
    """The number of threads with the highest median of three."""
    if len(candidates) == 1:
        return candidates[0]
    medians = {n: statistics.median(engine.run(model, test, n).tokens_per_s for _ in range(3)) for n in candidates}
    return max(medians, key=medians.get)


def measure(engines, model, test, args):
    """{engine: {median, samples, threads, limits}}; every second round runs in the opposite order."""
    threads = {engine: args.threads if engine.name == "arion" else best_threads(engine, model, test, args.peer_threads)
               for engine in engines}
    samples = {engine: [] for engine in engines}
    for round_number in range(args.rounds):
        for engine in engines if round_number % 2 == 0 else reversed(engines):
            samples[engine].append(engine.run(model, test, threads[engine]))
    return {engine.name: describe(samples[engine]) | {"threads": threads[engine]} for engine in engines}


def describe(samples):
    speeds = [sample.tokens_per_s for sample in samples]
    found = {"median": statistics.median(speeds), "samples": speeds}
    if samples[0].limit:
        found |= {"limit": samples[-1].limit_name, "limits": [sample.limit for sample in samples]}
    return found


def ratios(measured):
    """Of Arion to each peer: of the medians, and the range of rounds."""
    ours, found = measured["arion"], {}
    for name, theirs in measured.items():
        if name != "arion":
            rounds = [a / b for a, b in zip(ours["samples"], theirs["samples"])]
            found[name] = {"ratio": round(ours["median"] / theirs["median"], 4),
                           "range": [round(min(rounds), 4), round(max(rounds), 4)]}
    return found


def shares(measured):
    """Of every engine, its median as a share of what the machine allowed during the runs of Arion."""
    if "limits" not in measured["arion"]:
        return {}
    limit = statistics.median(measured["arion"]["limits"])
    return {name: round(result["median"] / limit, 4) for name, result in measured.items()}


def print_header(model, engines):
    peers = [engine.name for engine in engines if engine.name != "arion"]
    cells = ["arion", *peers, *(f"to {name}" for name in peers)]
    print(f"\n{model}\n{'':14}" + "".join(f"{cell:<29}" for cell in cells).rstrip())


def print_result(result, engines):
    """Medians with their ranges, shares of the limit, and ratios."""
    def cell(median, low, high, digits, more=""):
        return f"{f'{median:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})' + more:<29}"

    present = [engine.name for engine in engines if engine.name in result]
    line = f"{result['test']:<14}"
    for name in present:
        samples = result[name]["samples"]
        share = f" {100 * result['shares'][name]:.0f} %" if result["shares"] else ""
        line += cell(result[name]["median"], min(samples), max(samples), 1, share)
    for name in present[1:]:
        ratio = result["ratios"][name]
        line += cell(ratio["ratio"], *ratio["range"], 2)
    print(line + (f"% of the {result['arion']['limit']}" if result["shares"] else ""), flush=True)


class Report:
    """The file in bench/results, written after every test."""

    def __init__(self, path, rounds):
        self.path = path
        if path.exists():
            self.data = json.loads(path.read_text())
        else:
            self.data = {"date": now(), "machine": machine(), "rounds": rounds, "models": []}

    def model(self, name):
        for model in self.data["models"]:
            if model["model"] == name:
                return model
        self.data["models"].append({"model": name, "results": []})
        return self.data["models"][-1]

    def write(self):
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text(json.dumps(self.data, indent=1) + "\n")


def chosen_models(paths, patterns):
    found = []
    for path in map(pathlib.Path, paths):
        found += sorted(path.glob("*.gguf"), key=lambda file: file.stat().st_size) if path.is_dir() else [path]
    return [path for path in found if any(fnmatch.fnmatch(path.stem, pattern) for pattern in patterns)]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", metavar="MODEL", help="GGUF files, or folders of such")
    parser.add_argument("--models", default="*", help="only those with these names, as '1b.*,7b.Q4_0'")
    parser.add_argument("--tests", default=TESTS, help="default: %(default)s")
    parser.add_argument("--python", help="interpreter that has llama-cpp-python")
    parser.add_argument("--ik", type=pathlib.Path, help="llama-bench of ik_llama.cpp, with run-time repacking")
    parser.add_argument("--ik-plain", action="store_true", help="measure ik_llama.cpp without repacking as well")
    parser.add_argument("--arion", default=ROOT / "build/release/arion")
    parser.add_argument("--isa", help="forces a level of kernels of arion, as ARION_ISA does")
    parser.add_argument("--prefix", type=shlex.split, default=[], help="put in front of every measured command")
    parser.add_argument("--name", required=True, help="of the file in bench/results")
    cpus = len(os.sched_getaffinity(0))
    parser.add_argument("--threads", type=int, default=cpus, help="of arion")
    parser.add_argument("--peer-threads", type=lambda text: [int(n) for n in text.split(",")], default=[cpus],
                        help="numbers of threads to try for the peers first, as 1,2,4")
    parser.add_argument("--rounds", type=int, default=5, help="alternations")
    args = parser.parse_args()
    try:
        args.tests = [Test.parse(text) for text in args.tests.split(",")]
    except ValueError as error:
        parser.error(str(error))
    if not args.python and not args.ik:
        parser.error("no peer: give --python or --ik")
    if args.ik and any(test.kind == "pp" and test.depth for test in args.tests):
        parser.error("ik_llama.cpp's llama-bench does not measure prompts behind others")
    return args


def make_engines(args):
    engines = [Arion(args.arion, args.prefix, {"ARION_ISA": args.isa} if args.isa else None)]
    if args.python:
        engines.append(LlamaCpp(args.python, args.prefix))
    if args.ik:
        engines += [IkLlamaCpp(args.ik, args.prefix, repack) for repack in ([True, False] if args.ik_plain else [True])]
    return engines


def main():
    args = parse_arguments()
    engines = make_engines(args)
    report = Report(HERE / "results" / f"{args.name}.json", args.rounds)
    for path in chosen_models(args.paths, args.models.split(",")):
        model = report.model(path.name)
        known = {result["test"]: result for result in model["results"]}
        print_header(path.name, engines)
        for test in args.tests:
            if str(test) not in known:
                measured = measure(engines, path, test, args)
                known[str(test)] = {"test": str(test), "date": now(), "commit": commit(), **measured,
                                    "ratios": ratios(measured), "shares": shares(measured)}
                model["results"] = list(known.values())
                model["engines"] = model.get("engines", {}) | {engine.name: engine.about for engine in engines}
                report.write()
            print_result(known[str(test)], engines)
    print(f"written to {report.path}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures starts with packed and with compiled weights in turn: from the start of the process to its first token, peak memory, and
the speed of decoding afterwards.

    python3 bench/start_times.py ARION MODEL.gguf [--threads 2] [--rounds 5] [--decode 32] [--out RESULT.json]

The model is compiled into ARION_COMPILED_DIR, else a temporary folder, unless it is there already; both files are read once, so that
they lie in the page cache. Seconds are those of a whole process that ends with its first token.
"""
import argparse
import datetime
import json
import os
import statistics
import subprocess
import tempfile
import time

import measuring

PROMPT = "abcdefghijklmn"  # 16 tokens of byte-level vocabularies that begin with BOS, or somewhat fewer


def run(arguments, environment):
    """Standard output, wall seconds and peak KiB of one process."""
    begin = time.monotonic()
    process = subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(arguments)}: ended with status {status}")
    return json.loads(out), time.monotonic() - begin, usage.ru_maxrss


def start(options, compiled, environment):
    base = ["-t", str(options.threads), "-c", "512", "--compiled", compiled, "--json"]
    answer, seconds, peak = run([options.arion, "run", options.model, "--raw", "-p", PROMPT, "-n", "1", "--temp", "0", *base],
                                environment)
    result = {"seconds": round(seconds, 3), "load_ms": round(answer["timings"]["load_ms"], 1), "peak_kib": peak,
              "prompt_tokens": len(answer["prompt_tokens"])}
    if options.decode > 0:
        speed, _, _ = run([options.arion, "bench", options.model, "-p", "0", "-n", str(options.decode), "-r", "1", *base], environment)
        result["decode_tokens_per_s"] = round(speed["results"][0]["median"], 2)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("arion")
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--decode", type=int, default=32, help="tokens; 0: none, the starts alone")
    parser.add_argument("--out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        environment = {"ARION_COMPILED_DIR": folder, **os.environ}
        subprocess.run([options.arion, "compile", options.model], env=environment, check=True, stdout=subprocess.DEVNULL)
        compiled = measuring.run_json([options.arion, "inspect", options.model, "--json"], environment)["compiled"]["path"]
        subprocess.run(["cat", options.model, compiled], check=True, stdout=subprocess.DEVNULL)
        rounds = [{"packed": start(options, "off", environment), "compiled": start(options, "auto", environment)}
                  for _ in range(options.rounds)]
    median = {kind: {key: statistics.median(r[kind][key] for r in rounds) for key in rounds[0][kind]} for kind in rounds[0]}
    if options.decode > 0:
        ratios = [r["compiled"]["decode_tokens_per_s"] / r["packed"]["decode_tokens_per_s"] for r in rounds]
        median["decode_compiled_to_packed"] = round(statistics.median(ratios), 3)
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    result = {"date": now, "commit": measuring.commit(), "machine": measuring.machine(), "model": os.path.basename(options.model), "threads": options.threads,
              "median": median, "rounds": rounds}
    print(json.dumps(median, indent=1))
    if options.out:
        with open(options.out, "w") as file:
            json.dump(result, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()

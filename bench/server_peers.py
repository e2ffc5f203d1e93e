#!/usr/bin/env python3
"""Compares servers of one model under load, alternating, and writes the numbers with machine, commit and date to
bench/results/.

    bench/server_peers.py MODEL.gguf --llama PATH/llama-server --ik PATH/llama-server --name servers-1b-q4_0

Clients send random prompts as token ids to /v1/completions and ask again at once; every server is started anew for each
round. The time to the first token and the rate are those that the clients see.
"""
import argparse
import datetime
import http.client
import json
import pathlib
import random
import socket
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from measuring import ROOT, commit, machine  # noqa: E402

HOST = "127.0.0.1"
START_SECONDS = 120


class Load:
    """Clients that share a number of requests, and what they have seen."""

    def __init__(self, port, args, seed):
        self.port, self.args = port, args
        self.random = random.Random(seed)
        self.left = args.requests
        self.lock = threading.Lock()
        self.first_token_seconds, self.tokens = [], 0

    def next_prompt(self):
        with self.lock:
            if self.left == 0:
                return None
            self.left -= 1
            return [self.random.randrange(1000, self.args.vocabulary) for _ in range(self.args.prompt)]

    def client(self):
        while (prompt := self.next_prompt()) is not None:
            connection = http.client.HTTPConnection(HOST, self.port, timeout=600)
            body = {"prompt": prompt, "max_tokens": self.args.generate, "temperature": 0, "ignore_eos": True,
                    "stream": True, "stream_options": {"include_usage": True}, "cache_prompt": False}
            start = time.monotonic()
            connection.request("POST", "/v1/completions", json.dumps(body), {"Content-Type": "application/json"})
            response = connection.getresponse()
            if response.status != 200:
                raise RuntimeError(f"{response.status}: {response.read()[:300]}")
            first, tokens = None, 0
            for line in response:
                if not line.startswith(b"data: ") or line.startswith(b"data: [DONE]"):
                    continue
                first = first or time.monotonic() - start
                tokens = (json.loads(line[6:]).get("usage") or {}).get("completion_tokens", tokens)
            connection.close()
            if tokens != self.args.generate:
                raise RuntimeError(f"{tokens} tokens instead of {self.args.generate}")
            with self.lock:
                self.first_token_seconds.append(first)
                self.tokens += tokens

    def run(self):
        threads = [threading.Thread(target=self.client) for _ in range(self.args.clients)]
        start = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.monotonic() - start
        if len(self.first_token_seconds) != self.args.requests:
            sys.exit("a client failed")
        return {"tokens_per_s": round(self.tokens / seconds, 2),
                "ttft_s": round(statistics.median(self.first_token_seconds), 3)}


def is_ready(port):
    try:
        connection = http.client.HTTPConnection(HOST, port, timeout=5)
        connection.request("GET", "/v1/models")
        return connection.getresponse().status == 200
    except OSError:
        return False


def measure(command, port, args, seed):
    """One round of a server that is started for it."""
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + START_SECONDS
        while not is_ready(port):
            if server.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"no answer from {command[0]}")
            time.sleep(0.2)
        time.sleep(1)
        return Load(port, args, seed).run()
    finally:
        server.terminate()
        server.wait()


def free_port():
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


def commands(args, port):
    context = args.prompt + args.generate + 16
    threads = ["-t", args.threads]
    common = ["-m", args.model, "--host", HOST, "--port", port, "-np", args.clients, "-c", context * args.clients,
              *threads, "-cb"]
    found = {"arion": [args.arion, "serve", args.model, "--port", port, "--max-num-seqs", args.clients, "-c", context,
                       *threads]}
    if args.llama:
        found["llama.cpp"] = [args.llama, *common, "-fa", "on", "--no-warmup"]
    if args.ik:
        found["ik_llama.cpp"] = [args.ik, *common, "-fa", "on", "-rtr"]
    return {name: [str(word) for word in command] for name, command in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--arion", default=ROOT / "build/release/arion")
    parser.add_argument("--llama", help="llama-server of llama.cpp")
    parser.add_argument("--ik", help="llama-server of ik_llama.cpp")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--requests", type=int, default=32)
    parser.add_argument("-p", "--prompt", type=int, default=128)
    parser.add_argument("-n", "--generate", type=int, default=128)
    parser.add_argument("-t", "--threads", type=int, default=2)
    parser.add_argument("-r", "--rounds", type=int, default=5)
    parser.add_argument("--vocabulary", type=int, default=30000, help="prompts have ids from 1000 up to this")
    parser.add_argument("--name", help="writes bench/results/NAME.json")
    args = parser.parse_args()
    rounds = {name: [] for name in commands(args, 0)}
    for i in range(args.rounds):
        for name in rounds:
            port = free_port()
            rounds[name].append(measure(commands(args, port)[name], port, args, seed=i))
            print(i, name, rounds[name][-1], flush=True)
    medians = {name: {key: statistics.median(r[key] for r in found) for key in found[0]} for name, found in rounds.items()}
    report = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "commit": commit(),
              "machine": machine(), "model": args.model.name,
              **{key: getattr(args, key) for key in ("clients", "requests", "prompt", "generate", "threads")},
              "rounds": rounds, "medians": medians,
              "ratios": {name: {key: round(medians["arion"][key] / value, 2) for key, value in found.items()}
                         for name, found in medians.items() if name != "arion"}}
    print(json.dumps({"medians": medians, "ratios": report["ratios"]}, indent=1))
    if args.name:
        (ROOT / "bench/results" / f"{args.name}.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()

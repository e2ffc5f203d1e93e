"""The programs that bench/peers.py compares, each as one command per measurement."""
import dataclasses
import json
import re
import subprocess

from measuring import HERE, run_json, run_text


@dataclasses.dataclass(frozen=True)
class Test:
    """pp512, tg128, tg64@4096, tg64x16@128: prompts or generated tokens, of so many sequences, behind so many tokens."""
    kind: str
    count: int
    batch: int
    depth: int

    @staticmethod
    def parse(text):
        match = re.fullmatch(r"(pp|tg)([1-9]\d*)(?:x([1-9]\d*))?(?:@(\d+))?", text)
        if not match or (match[1] == "pp" and match[3]):
            raise ValueError(f"test '{text}': expected ppN, tgN, tgNxSEQUENCES, each with @DEPTH or without")
        return Test(match[1], int(match[2]), int(match[3] or 1), int(match[4] or 0))

    def __str__(self):
        return (f"{self.kind}{self.count}" + (f"x{self.batch}" if self.batch > 1 else "") +
                (f"@{self.depth}" if self.depth else ""))


@dataclasses.dataclass(frozen=True)
class Sample:
    tokens_per_s: float
    limit: float | None = None  # tokens/s that the machine allowed in this moment, where the program says so
    limit_name: str | None = None


class Engine:
    """One run measures one test once, after a warm-up. `about` describes the program after its first run."""

    def __init__(self, name, prefix, environment=None):
        self.name, self.prefix, self.environment, self.about = name, prefix, environment, {}

    def json(self, *command):
        return run_json([*self.prefix, *command], self.environment)

    def text(self, *command):
        return run_text([*self.prefix, *command], self.environment)


def common_options(test, threads):
    """Of arion bench and peer_llama_cpp.py."""
    return ["-p", test.count if test.kind == "pp" else 0, "-n", test.count if test.kind == "tg" else 0, "-b", test.batch,
            "-d", test.depth, "-t", threads, "-r", 1]


class Arion(Engine):
    def __init__(self, path, prefix, environment=None):
        super().__init__("arion", prefix, environment)
        self.path = path

    def run(self, model, test, threads):
        output = self.json(self.path, "bench", model, *common_options(test, threads), "--json")
        self.about = {key: output.get(key) for key in ("threads", "isa", "profile")}
        result = output["results"][0]
        return Sample(result["samples_tokens_per_s"][0], result.get("limit_tokens_per_s", [None])[0], result.get("limit"))


class LlamaCpp(Engine):
    def __init__(self, python, prefix):
        super().__init__("llama_cpp", prefix)
        self.python = python

    def run(self, model, test, threads):
        output = self.json(self.python, HERE / "peer_llama_cpp.py", model, *common_options(test, threads))
        self.about = {"llama_cpp_python": output["version"], "threads": threads}
        return Sample(output["results"][0]["samples_tokens_per_s"][0])


class IkLlamaCpp(Engine):
    """ik_llama.cpp with flash attention and no mmap, with run-time repacking or without (which some formats like better).
    `bench` is its llama-bench; several sequences are measured by the llama-batched-bench beside it."""

    def __init__(self, bench, prefix, repack):
        super().__init__("ik" if repack else "ik_plain", prefix)
        self.bench, self.batched, self.repack = bench, bench.with_name("llama-batched-bench"), repack

    def run(self, model, test, threads):
        if test.batch > 1:
            return self.run_batched(model, test, threads)
        # Its own warm-up is a single token; a generation behind others is warm by these.
        repetitions = 1 if test.depth else 2
        what = ["-p", test.count, "-n", 0] if test.kind == "pp" else ["-p", 0, "-n", test.count]
        if test.depth:
            what = ["-p", 0, "-n", 0, "-gp", f"{test.depth},{test.count}"]
        output = self.text(self.bench, "-m", model, *what, "-t", threads, "-r", repetitions, "-o", "json", "-fa", 1,
                           "-mmp", 0, "-rtr", int(self.repack))
        result = json.loads(output[output.index("[\n"):])[0]
        self.about = {"commit": result["build_commit"], "threads": threads}
        return Sample(result["samples_ts"][-1])

    def run_batched(self, model, test, threads):
        context = test.batch * (test.depth + test.count) + 512
        depth = max(test.depth, 1)
        command = [*self.prefix, self.batched, "-m", model, "-c", context, "-b", 2048, "-ub", 512, "-npp", depth, "-ntg",
                   test.count, "-npl", test.batch, "-t", threads, "-fa", "on", "--no-mmap"]
        output = run_text(command + (["-rtr"] if self.repack else []), self.environment, errors=subprocess.STDOUT)
        for line in output.splitlines():
            cells = line.strip().strip("|").split("|")
            if len(cells) == 10 and [cell.strip() for cell in cells[:3]] == [str(depth), str(test.count), str(test.batch)]:
                return Sample(float(cells[7]))
        raise SystemExit(f"{self.batched} printed no line of {test}:\n{output[-2000:]}")

"""The checks of tools/ and the comparison of bench/ on small made-up trees. Run by .ci/run:
    python3 -m unittest discover -s tests/tools -p '*_test.py'
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class ToolTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, name, content):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return path

    def run_tool(self, *command):
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


class CheckLayers(ToolTest):
    def check(self):
        return self.run_tool(sys.executable, ROOT / "tools/check_layers.py", self.root)

    def test_allowed_includes_pass(self):
        self.write("layers.toml", 'base = []\nop = ["base"]\napps = ["op"]\n')
        self.write("src/op/a.cpp", '#include "base/x.h"\n#include "op/y.h"\n#include <vector>\n')
        self.write("apps/main.cpp", '#include "op/y.h"\n#include "command.h"\n')
        self.assertEqual(self.check(), (0, "layers: ok\n"))

    def test_an_upward_include_is_named(self):
        self.write("layers.toml", 'base = []\nop = ["base"]\n')
        self.write("src/base/a.h", '  #  include "op/y.h"\n')
        status, text = self.check()
        self.assertEqual(status, 1)
        self.assertIn("a.h: must not include 'op'", text)

    def test_unknown_modules_and_cycles_are_named(self):
        self.write("layers.toml", 'a = ["b"]\nb = ["a", "nowhere"]\n')
        self.write("src/other/x.cpp", "")
        status, text = self.check()
        self.assertEqual(status, 1)
        for expected in ("cycle: a -> b -> a", "unknown module 'nowhere'", "module 'other' is not in layers.toml"):
            self.assertIn(expected, text)

    def test_cycles_between_folders_of_a_module_are_named(self):
        self.write("layers.toml", 'op = []\n')
        self.write("src/op/a.cpp", '#include "op/part/b.h"\n')
        self.write("src/op/part/b.h", '#include "op/part/c.h"\n')
        self.assertEqual(self.check(), (0, "layers: ok\n"))
        self.write("src/op/part/c.h", '#include "op/a.h"\n')
        self.assertEqual(self.check(), (1, "cycle: op -> op/part -> op\n"))


class CheckSizes(ToolTest):
    def setUp(self):
        super().setUp()
        subprocess.run(["git", "init", "-q", self.root], check=True)

    def check(self):
        return self.run_tool(sys.executable, ROOT / "tools/check_sizes.py", self.root)

    def test_the_soft_cap_warns_and_the_hard_cap_fails(self):
        self.write("src/soft.cpp", "x\n" * 501)
        status, text = self.check()
        self.assertEqual(status, 0)
        self.assertIn("soft.cpp: 501 lines", text)
        self.write("src/hard.cpp", "x\n" * 801)
        status, text = self.check()
        self.assertEqual(status, 1)
        self.assertIn("hard.cpp: 801 lines", text)

    def test_generated_tables_and_ignored_files_may_be_long(self):
        self.write("src/text/generated/table.cpp", "x\n" * 5000)
        self.write(".gitignore", "/build/\n")
        self.write("build/x.cpp", "x\n" * 5000)
        self.assertEqual(self.check()[0], 0)

    def test_a_big_file_fails(self):
        self.write("data.bin", "x" * (2 * 2**20 + 1))
        status, text = self.check()
        self.assertEqual(status, 1)
        self.assertIn("data.bin", text)


class CheckIsaSymbols(ToolTest):
    def check(self, source):
        path, made = self.write("kernel.cpp", source), self.root / "kernel.o"
        subprocess.run(["c++", "-O2", "-c", path, "-o", made], check=True)
        return self.run_tool(ROOT / "tools/check_isa_symbols.sh", made)

    def test_only_register_kernels_may_be_seen_from_outside(self):
        self.assertEqual(self.check("namespace avx2 { void register_kernels_linear() {} }")[0], 0)
        status, text = self.check("namespace avx2 { void register_kernels() {} int leak() { return 1; } }")
        self.assertEqual(status, 1)
        self.assertIn("leak", text)

    def test_a_weak_symbol_is_a_leak(self):
        status, text = self.check("inline int shared(int x) { return x + 1; }\n"
                                  "namespace avx2 { int (*register_kernels())(int) { return shared; } }")
        self.assertEqual(status, 1)
        self.assertIn("shared", text)


class Peers(ToolTest):
    # Arguments of both: ... -p P -n N -b B -d D -t T.
    FAKE = """#!/bin/sh
while [ "$1" != -p ]; do shift; done
echo run >> "$0.runs"
[ "$2" = 0 ] && test=tg$4 || test=pp$2
echo '{"version": "0", "threads": '${10}', "results": [{"test": "'$test'", "samples_tokens_per_s": ['SPEED'], '\\
'"limit": "peak", "limit_tokens_per_s": [200]}]}'
"""

    def program(self, name, text):
        path = self.write(name, text)
        path.chmod(0o755)
        return path

    def compare(self, *arguments):
        bench = self.root / "bench"
        bench.mkdir(exist_ok=True)
        for name in ("peers.py", "engines.py", "measuring.py"):
            (bench / name).write_text((ROOT / "bench" / name).read_text())
        return self.run_tool(sys.executable, bench / "peers.py", "m.gguf", "--name", "x", "--rounds", 5, *arguments)

    def result(self):
        return json.loads((self.root / "bench/results/x.json").read_text())["models"][0]["results"]

    def test_samples_of_alternating_runs_are_collected(self):
        arion = self.program("arion", self.FAKE.replace("SPEED", "100"))
        peer = self.program("peer", self.FAKE.replace("SPEED", "${10}"))  # as fast as it has threads
        arguments = ["--arion", arion, "--python", peer, "--peer-threads", "1,2"]
        status, text = self.compare(*arguments, "--tests", "pp8,tg4@16")
        self.assertEqual(status, 0, text)
        prompt, generate = self.result()
        self.assertEqual((prompt["test"], generate["test"]), ("pp8", "tg4@16"))
        self.assertEqual(prompt["llama_cpp"]["threads"], 2)
        self.assertEqual(prompt["ratios"]["llama_cpp"], {"ratio": 50.0, "range": [50.0, 50.0]})
        self.assertEqual(len(generate["arion"]["samples"]), 5)
        self.assertEqual(generate["shares"], {"arion": 0.5, "llama_cpp": 0.01})

        status, text = self.compare(*arguments, "--tests", "tg4@16,tg4x3")
        self.assertEqual(status, 0, text)
        self.assertEqual([result["test"] for result in self.result()], ["pp8", "tg4@16", "tg4x3"])
        runs = pathlib.Path(f"{arion}.runs").read_text().count("run")
        self.assertEqual(runs, 15, "what was measured is not measured again")

    def test_both_programs_of_ik_llama_cpp_are_read(self):
        arion = self.program("arion", self.FAKE.replace("SPEED", "100"))
        single = self.program("llama-bench", "#!/bin/sh\necho loading\n"
                              "echo '[\n  {\"build_commit\": \"c\", \"samples_ts\": [1.0, 20.0]}\n]'\n")
        self.program("llama-batched-bench", "#!/bin/sh\necho '| PP | TG | B |'\n"
                     "echo '|   128 |     4 |    3 |   396 |    0.1 |   99.0 |    0.2 |   50.00 |    0.3 |   70.0 |'\n")
        status, text = self.compare("--arion", arion, "--ik", single, "--tests", "pp8,tg4x3@128")
        self.assertEqual(status, 0, text)
        prompt, batched = self.result()
        self.assertEqual(prompt["ik"]["median"], 20.0)
        self.assertEqual(batched["ratios"]["ik"]["ratio"], 2.0)

    def test_a_test_that_no_program_knows_is_refused(self):
        for test in ("pp", "tg0", "pp8x2", "xx8"):
            status, text = self.compare("--python", "p", "--tests", test)
            self.assertEqual(status, 2)
            self.assertIn(f"'{test}'", text)


if __name__ == "__main__":
    unittest.main()

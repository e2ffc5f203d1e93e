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
    def test_samples_of_alternating_runs_are_collected(self):
        results = [{"test": test, "samples_tokens_per_s": [speed]} for test, speed in (("pp8", 100.0), ("tg4", 10.0))]
        arion = self.write("arion", f"#!/bin/sh\necho '{json.dumps({'threads': 2, 'results': results})}'\n")
        peer = self.write("peer", "#!/bin/sh\n"  # arguments: script model -p P -n N -t T
                          'test=pp$4; [ "$4" = 0 ] && test=tg$6\n'
                          'echo "{\\"version\\": \\"0\\", \\"results\\": [{\\"test\\": \\"$test\\", '
                          '\\"samples_tokens_per_s\\": [$8]}]}"\n')
        for script in (arion, peer):
            script.chmod(0o755)
        bench = self.root / "bench"
        bench.mkdir()
        (bench / "peers.py").write_text((ROOT / "bench/peers.py").read_text())
        status, text = self.run_tool(sys.executable, bench / "peers.py", "m.gguf", "--arion", arion, "--python", peer,
                                     "--name", "x", "-p", 8, "-n", 4, "--rounds", 5, "--peer-threads", "1,2")
        self.assertEqual(status, 0, text)
        model = json.loads((bench / "results/x.json").read_text())["models"][0]
        prompt, generate = model["results"]
        self.assertEqual(prompt["test"], "pp8")
        self.assertEqual(prompt["llama_cpp"]["threads"], 2)  # the fake is as fast as it has threads
        self.assertEqual(prompt["ratio"], 50.0)
        self.assertEqual(len(generate["arion"]["samples"]), 5)


if __name__ == "__main__":
    unittest.main()

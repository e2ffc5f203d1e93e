"""scripts/quickstart.sh with stand-ins for cmake, curl and the package manager. Run by .ci/run like tools_test.py."""
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Quickstart(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        shutil.copytree(ROOT / "scripts", self.root / "scripts")
        self.models = self.root / "cache/arion/models"
        # "Building" makes a program that prints its arguments and the model it would take.
        self.fake("cmake", 'mkdir -p build/release; printf \'#!/bin/sh\\necho "$@"\\n\' >build/release/arion\n'
                           "chmod +x build/release/arion; echo cmake $@ >>cmake.log")
        self.fake("dpkg-query", "printf 'ii '")  # everything is installed
        self.fake("curl", 'while [ "$1" != --output ]; do shift; done; echo fetched >"$2"; echo got >>curl.log')
        self.fake("python3", "exit 1")

    def fake(self, name, script):
        path = self.root / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def expect_checksum(self, content):
        """Makes the script expect a file with this content."""
        path = self.root / "scripts/quickstart.sh"
        lines = [f"smol_sha256={hashlib.sha256(content).hexdigest()}" if line.startswith("smol_sha256=") else line
                 for line in path.read_text().splitlines()]
        path.write_text("\n".join(lines) + "\n")

    def run_script(self, *arguments):
        environment = os.environ | {"PATH": f"{self.root / 'bin'}:{os.environ['PATH']}",
                                    "XDG_CACHE_HOME": str(self.root / "cache")}
        done = subprocess.run([self.root / "scripts/quickstart.sh", *map(str, arguments)], capture_output=True,
                              text=True, env=environment, cwd=self.root, stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout, done.stderr

    def test_a_file_at_hand_becomes_the_default_model(self):
        model = self.root / "a model.gguf"
        model.write_bytes(b"GGUF...")
        status, out, err = self.run_script("--model", model, "--prompt", "Well?")
        self.assertEqual(status, 0, err)
        self.assertEqual(out, "run -p Well? -n 96 --temp 0\n")
        self.assertEqual(os.readlink(self.models / "default.gguf"), str(model))
        self.assertIn("a model.gguf", err)

    def test_what_is_no_model_is_refused_before_anything_is_built(self):
        wrong = self.root / "wrong.gguf"
        wrong.write_text("hello")
        for path in (wrong, self.root / "none.gguf"):
            status, _, err = self.run_script("--model", path)
            self.assertEqual(status, 1)
            self.assertIn(path.name, err)
        self.assertFalse((self.root / "cmake.log").exists())

    def test_usage_errors(self):
        for arguments in (["--from", "elsewhere"], ["--from"], ["--dance"]):
            status, _, err = self.run_script(*arguments)
            self.assertEqual(status, 2, arguments)
            self.assertTrue(err)
        self.assertEqual(self.run_script("--help")[0], 0)

    def test_a_fetched_model_is_kept_and_not_fetched_again(self):
        self.expect_checksum(b"fetched\n")
        for _ in range(2):
            status, _, err = self.run_script("--from", "hf")
            self.assertEqual(status, 0, err)
        kept = [path.name for path in self.models.iterdir()]
        self.assertEqual(sorted(kept), ["SmolLM2-135M-Instruct.Q4_1.gguf", "default.gguf"])
        self.assertEqual((self.root / "curl.log").read_text(), "got\n")

    def test_a_wrong_checksum_leaves_nothing_behind(self):
        status, out, err = self.run_script("--from", "hf")
        self.assertEqual(status, 1)
        self.assertEqual(out, "")
        self.assertIn("SHA-256", err)
        self.assertEqual(list(self.models.iterdir()), [])

    def test_without_any_source_the_ways_out_are_named(self):
        status, _, err = self.run_script()
        self.assertEqual(status, 1)
        self.assertIn("--from hf", err)
        self.assertIn("--model FILE", err)


if __name__ == "__main__":
    unittest.main()

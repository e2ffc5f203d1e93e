"""What all comparisons share: programs that print JSON, and the machine and commit they ran on."""
import json
import os
import pathlib
import platform
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent


def run_text(command, environment=None, errors=subprocess.PIPE):
    """What the program prints; with errors=subprocess.STDOUT what it writes to stderr too."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=errors, text=True,
                          env=os.environ | (environment or {}))
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nfailed with {done.returncode}: {(done.stderr or done.stdout).strip()[-2000:]}")
    return done.stdout


def run_json(command, environment=None):
    return json.loads(run_text(command, environment))


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

#!/usr/bin/env python3
"""Fails if a source file exceeds the hard cap of lines, a tracked file is too big, or the tracked files together are;
warns about sources above the soft cap. Files under a generated/ folder may have any number of lines.
Usage: check_sizes.py [repo root]"""
import pathlib, subprocess, sys

SOFT_LINES, HARD_LINES = 500, 800
MAX_FILE_BYTES, MAX_REPO_BYTES = 2 << 20, 30 << 20
SOURCES = {".h", ".hpp", ".cpp", ".cu", ".cuh", ".py", ".sh", ".cmake"}

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
listing = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                         check=True, capture_output=True).stdout
files = [root / name for name in listing.decode().split("\0") if name]
files = [f for f in files if f.is_file() and not f.is_symlink()]

errors, warnings, lengths, total = [], [], [], 0
for file in files:
    content = file.read_bytes()
    total += len(content)
    if len(content) > MAX_FILE_BYTES:
        errors.append(f"{file}: {len(content)} bytes, at most {MAX_FILE_BYTES} allowed")
    if file.suffix not in SOURCES or "generated" in file.relative_to(root).parts:
        continue
    lines = content.count(b"\n")
    lengths.append(lines)
    if lines > HARD_LINES:
        errors.append(f"{file}: {lines} lines, at most {HARD_LINES} allowed: split it")
    elif lines > SOFT_LINES:
        warnings.append(f"warning: {file}: {lines} lines, aim at {SOFT_LINES}")
if total >= MAX_REPO_BYTES:
    errors.append(f"tracked files: {total} bytes together, at most {MAX_REPO_BYTES} allowed")

lengths.sort()
median = lengths[len(lengths) // 2] if lengths else 0
print("\n".join(warnings + errors + [f"sizes: {'failed' if errors else 'ok'}: {len(lengths)} sources, median {median} "
                                      f"lines, {total / 2**20:.1f} MiB tracked"]))
sys.exit(bool(errors))

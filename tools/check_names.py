#!/usr/bin/env python3
"""Runs clang-tidy (naming and a few bug checks, .clang-tidy) over the sources of a build folder.

Usage: check_names.py BUILD_FOLDER. Results are kept by content in BUILD_FOLDER/tidy, so that an unchanged file is not
looked at twice. Prints findings and exits with 1 when there is any.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def fingerprint() -> str:
    """Every header and the rules: a change in one may change any finding."""
    digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes())
    for path in sorted((ROOT / "src").rglob("*.h")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def look_at(path: pathlib.Path, build: pathlib.Path, headers: str) -> str:
    key = hashlib.sha256((headers + path.read_text(encoding="utf-8")).encode()).hexdigest()
    seen = build / "tidy" / key
    if seen.exists():
        return ""
    outcome = subprocess.run(["clang-tidy", "--quiet", "-p", str(build), str(path)], capture_output=True, text=True)
    if outcome.returncode == 0:
        seen.parent.mkdir(exist_ok=True)
        seen.touch()
        return ""
    return outcome.stdout or outcome.stderr


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    build = pathlib.Path(sys.argv[1])
    commands = json.loads((build / "compile_commands.json").read_text())
    files = sorted({pathlib.Path(c["file"]) for c in commands if "/src/" in c["file"] and "_test.cc" not in c["file"]})
    headers = fingerprint()
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        findings = [text for text in pool.map(lambda path: look_at(path, build, headers), files) if text]
    print("\n".join(findings) if findings else f"names: {len(files)} files follow the rules")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

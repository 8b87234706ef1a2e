#!/usr/bin/env python3
"""Every proof that doc/reports.md names exists: `Suite.test` as a GoogleTest, `section/item` as a self-test item,
`file.py:test` as a Python test. Prints one line a finding and exits with 1 when there is any.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "doc" / "reports.md"
SECTIONS = "families|mutants|honest|attacks|statistics|faults"


def read_sources(pattern: str, folder: str) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / folder).rglob(pattern)))


def main() -> int:
    tests = set(re.findall(r"TEST(?:_F)?\((\w+),\s*(\w+)\)", read_sources("*_test.cc", "src")))
    items = set(re.findall(r'"([^"\n]*)"', read_sources("*.cc", "src/selftest") + read_sources("family.cc", "src/problem")))
    scripts = read_sources("*.py", "test")
    findings, proofs = [], 0
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) < 5 or not re.match(r"[A-Z]\d\d", cells[1]):
            continue
        names = re.findall(r"`([^`]+)`", cells[3])
        if not names:
            findings.append(f"{cells[1]}: no proof is named")
        for name in names:
            proofs += 1
            section = re.fullmatch(rf"({SECTIONS})/(.+)", name)
            script = re.fullmatch(r"(\w+)\.py:(\w+)", name)
            test = re.fullmatch(r"(\w+)\.(\w+)", name)
            known = (section and section[2] in items or script and f"def {script[2]}" in scripts or
                     test and (test[1], test[2]) in tests)
            if not known:
                findings.append(f"{cells[1]}: {name} does not exist")
    print("\n".join(findings) if findings else f"reports: {proofs} proofs exist")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

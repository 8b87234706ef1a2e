#!/usr/bin/env python3
"""Include direction of design.md: a stage includes base, record, schedule, target, cage and itself.

learn and ship may also read store/query.h; only loop and selftest include stages; cli may include every stage's public header;
runtime includes nothing from src. Also checks that a file says what it is for in its first lines and that none is over
600 lines. Prints one line a finding and exits with 1 when there is any.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALWAYS = {"base", "record", "schedule", "target", "cage", "device"}
BELOW = {
    "base": set(),
    "record": {"base"},
    "schedule": {"base", "record"},
    "cage": {"base", "record"},
    "target": {"base", "record", "schedule", "cage", "device"},
}
ANY = {"loop", "selftest", "cli"}
MAX_LINES = 600
INCLUDE = re.compile(r'^\s*#include "([^"/]+)/([^"]+)"')


def allowed(folder: str, other: str, header: str) -> bool:
    if other == folder or folder in ANY:
        return True
    if folder in {"learn", "ship"} and (other, header) == ("store", "query.h"):
        return True
    return other in BELOW.get(folder, ALWAYS)


def check(path: pathlib.Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    name = path.relative_to(ROOT)
    found = []
    if len(lines) > MAX_LINES:
        found.append(f"{name}: {len(lines)} lines; split files over {MAX_LINES}")
    if path.suffix == ".h" and not lines[0].startswith(("//", "/*")):
        found.append(f"{name}:1: the first line says what the file is for")
    if path.parts[len(ROOT.parts)] != "src" or path.name.endswith("_test.cc"):
        return found
    folder = name.parts[1]
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if match and not allowed(folder, match[1], match[2]):
            found.append(f'{name}:{number}: {folder} must not include "{match[1]}/{match[2]}" (design.md section 2)')
    return found


def main() -> int:
    files = [p for top in ("src", "device", "test") for p in (ROOT / top).rglob("*") if p.suffix in {".h", ".cc"}]
    findings = [finding for path in sorted(files) for finding in check(path)]
    print("\n".join(findings) if findings else f"includes: {len(files)} files follow the direction")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

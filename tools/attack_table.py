#!/usr/bin/env python3
"""Prints the table attack -> verdict -> where caught; --write puts it into doc/attacks.md.

In: what `kernelwright selftest attacks --json` prints, from the program named by --program or from a file (--json).
Fails when an attack was not stopped as expected.
"""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "doc" / "attacks.md"
BEGIN, END = "<!-- table: tools/attack_table.py --write -->", "<!-- end of table -->"
STAGES = ["source rules", "compiler", "launch record", "loader", "worker", "comparison", "timing"]


def read_rows(options):
    if options.json:
        text = pathlib.Path(options.json).read_text()
    else:
        text = subprocess.run([options.program, "selftest", "attacks", "--json"], capture_output=True, text=True).stdout
    section = next(s for s in json.loads(text)["sections"] if s["name"] == "attacks")
    return section["rows"]


def print_table(rows):
    lines = ["| attack | verdict | caught by |", "|---|---|---|"]
    for stage in STAGES:
        for row in (r for r in rows if r["caught"] == stage):
            name = row["name"].replace("_", " ")
            code, _, says = row["expected"].partition(": ")
            verdict = f"`{code}`" + (f", \"{says}\"" if says else "")
            lines.append(f"| {name} | {verdict} | {stage} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default=ROOT / "build" / "kernelwright", help="the program (build/kernelwright)")
    parser.add_argument("--json", help="a file with its output instead")
    parser.add_argument("--write", action="store_true", help="put the table into doc/attacks.md")
    options = parser.parse_args()
    rows = read_rows(options)
    surprises = [row["name"] for row in rows if not row["ok"]]
    if surprises or not rows:
        sys.exit(f"not as expected: {', '.join(surprises) or 'no rows'}")
    table = print_table(rows)
    if not options.write:
        print(table)
        return
    text = DOCUMENT.read_text()
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    DOCUMENT.write_text(f"{head}{BEGIN}\n{table}\n{END}{tail}")
    print(f"{len(rows)} attacks in {DOCUMENT.relative_to(ROOT)}")


if __name__ == "__main__":
    main()

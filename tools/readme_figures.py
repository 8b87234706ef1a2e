#!/usr/bin/env python3
"""Keeps the README's figures those of results/bars.json.

Usage: readme_figures.py [--write]. Between the markers <!-- bars:begin --> and <!-- bars:end --> stands a table made from
results/bars.json. Without --write it checks: exit 1 when the README differs, when a bar lacks a field, or when a table that a
bar names is not there.
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- bars:begin -->", "<!-- bars:end -->"
FIELDS = ["name", "goal", "value", "unit", "device", "date", "command", "table"]


def make_table(bars: list[dict]) -> str:
    lines = ["| bar | goal | measured | unit | table |", "|---|---|---|---|---|"]
    for bar in bars:
        tables = ", ".join(f"[{pathlib.Path(path).name}]({path})" for path in bar["table"].split(", "))
        lines.append(f"| `{bar['name']}` | {bar['goal']} | {bar['value']:g} | {bar['unit']} | {tables} |")
    devices = sorted({f"{bar['device']}, {bar['date']}" for bar in bars})
    lines += ["", "Measured on: " + "; ".join(devices) + ". Each is repeated by the command beside it in "
              "[results/bars.json](results/bars.json)."]
    return "\n".join(lines)


def find_faults(bars: list[dict]) -> list[str]:
    faults = [f"results/bars.json: {bar.get('name', bar)} lacks {field}" for bar in bars for field in FIELDS
              if field not in bar]
    faults += [f"results/bars.json: {bar['name']} names {path}, which is not there" for bar in bars if "table" in bar
               for path in bar["table"].split(", ") if not (ROOT / path).is_file()]
    return faults


def main() -> int:
    bars = json.loads((ROOT / "results" / "bars.json").read_text())
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    wanted = f"{before}{BEGIN}\n{make_table(bars)}\n{END}{after}"
    faults = find_faults(bars)
    if "--write" in sys.argv[1:]:
        readme.write_text(wanted, encoding="utf-8")
    elif wanted != text:
        faults.append("README.md: its figures are not those of results/bars.json; run tools/readme_figures.py --write")
    print("\n".join(faults) if faults else f"figures: {len(bars)} bars stand in the README as measured")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

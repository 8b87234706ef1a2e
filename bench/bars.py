#!/usr/bin/env python3
"""Measures the bars of the CPU target and writes results/bars.json and the tables it names.

Usage: bench/bars.py [--program build/kernelwright] BAR ...
BARs: model model_all random random_all search rate warm kill9 mutants honest
attacks statistics faults fuzz, or `record` to measure the tables of `search`.
Each runs the program as a user would, in a store and cache of its own under build/bars. Run on a quiet machine.
"""
import argparse
import csv
import datetime
import hashlib
import json
import math
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRATCH = ROOT / "build" / "bars"
TABLES = ROOT / "results" / "cpu"
BARS = ROOT / "results" / "bars.json"
RECORDED = TABLES / "recorded.csv"


class Program:
    """The program under test; every call is shown as a user would type it."""

    def __init__(self, path: str):
        self.path = path

    def run(self, *words: str, check: bool = True) -> subprocess.CompletedProcess:
        print("$ kernelwright", *words, file=sys.stderr, flush=True)
        outcome = subprocess.run([self.path, *words], stdout=subprocess.PIPE, text=True)
        if check and outcome.returncode != 0:
            raise SystemExit(f"kernelwright {' '.join(words)} ended with {outcome.returncode}")
        return outcome

    def json(self, *words: str) -> dict:
        quiet = ["--quiet"] if words[0] in ("tune", "confirm", "check") else []
        return json.loads(self.run(*words, "--json", *quiet, check=words[0] != "tune").stdout)


def fresh(name: str) -> pathlib.Path:
    """An empty folder for one bar's store and cache."""
    folder = SCRATCH / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def describe(device: dict) -> str:
    return f"{device['name']}, {device['isa']}, {device['cores']} cores, {device['threads']} thread(s)"


def save_bar(name: str, goal: str, value: float, unit: str, device: str, command: str, table: str) -> None:
    bars = json.loads(BARS.read_text()) if BARS.exists() else []
    bars = [bar for bar in bars if bar["name"] != name]
    bars.append({"name": name, "goal": goal, "value": round(value, 4), "unit": unit, "device": device,
                 "date": datetime.date.today().isoformat(), "command": command, "table": table})
    BARS.write_text(json.dumps(sorted(bars, key=lambda bar: bar["name"]), indent=1) + "\n")
    print(f"{name} = {value:.4g} {unit} (goal {goal})")


def save_table(name: str, rows: list[dict]) -> str:
    path = TABLES / f"{name}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return str(path.relative_to(ROOT))


def significant(value):
    return float(f"{value:.5g}") if isinstance(value, float) else value


def measure_grid(program: Program, name: str, words: list[str], threads: str, goal: str, shape_budget: str,
                 again: bool = True) -> None:
    """Tunes a list of shapes, then measures the chosen kernels again in fresh processes."""
    folder = fresh(name)
    store = ["--store", str(folder / "store.db")]
    outcome = program.json("tune", *words, "--threads", threads, "--shape-budget", shape_budget, "--seed", "1", *store)
    left_out = [result["problem"] for result in outcome["results"] if result["choice"] == "not tuned"]
    if left_out or outcome["interrupted"]:  # such a shape would count as 1.00 unseen
        raise SystemExit(f"{name}: not every shape was tuned, no bar is written: {left_out}")
    impossible = [oddity["text"] for oddity in outcome["oddities"] if oddity["impossible"]]
    if impossible:
        raise SystemExit(f"{name}: faster than physics, no bar is written: {impossible}")
    confirmed = program.json("confirm", "--threads", threads, *store) if again else {"cases": []}
    now = {case["problem"]: case for case in confirmed["cases"]}
    rows = []
    for result in outcome["results"]:
        case = now.get(result["problem"], {})
        rows.append({key: significant(value) for key, value in {
            "problem": result["problem"], "calls": result["count"], "baseline": result["baseline"],
            "baseline_us": result["baseline_us"], "choice": result["choice"], "ours_us": result["median_us"],
            "ratio": result["ratio"], "ratio_low": result["ratio_low"], "ratio_high": result["ratio_high"],
            "again_ratio": case.get("ratio", ""), "again_low": case.get("ratio_low", ""),
            "again_high": case.get("ratio_high", ""), "loss": int(case["loss"]) if case else "",
            "best_measured_ratio": result.get("best_measured", {}).get("ratio", ""),
            "gflops": result["flops"] / result["median_us"] * 1e-3 if result["median_us"] else "", "evaluations": result["evaluations"],
            "schedule": result["schedule"] or "",
            **{f"{row['name']}_us": row["median_us"] or "" for row in sorted(result["baselines"], key=lambda row: row["name"])},
        }.items()})
    for row in rows:
        for vendor in ("libxsmm_us", "onednn_us", "openblas_us"):
            row.setdefault(vendor, "")
    rows.sort(key=lambda row: row["ratio"])
    table = save_table(name, rows)
    device, command, summary = describe(outcome["device"]), f"bench/bars.py {name}", outcome["summary"]
    prefix = f"cpu.{name}"
    save_bar(f"{prefix}.geomean", goal, summary["geomean"], "x best vendor routine", device, command, table)
    save_bar(f"{prefix}.vendor_share", "shown", summary["vendor_share"], "share of shapes", device, command, table)
    explain_grid(prefix, outcome, device, command, table)
    if again:
        save_bar(f"{prefix}.significant_losses", "= 0", confirmed["significant_losses"], "kernels", device, command, table)
        combine_grids(device)


def geomean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def explain_grid(prefix: str, outcome: dict, device: str, command: str, table: str) -> None:
    """Two figures beside the bar: against OpenBLAS and oneDNN alone, and what this machine's measured peak and bandwidth
    leave to win at all (protocol.md B, roofline; operands come from behind the L2)."""
    peak, bandwidth = outcome["device"]["peak_gflops"], outcome["device"]["bandwidth_gbs"]
    without_xsmm, limit = [], []
    for result in outcome["results"]:
        m, n, k = (int(word[1:]) for word in result["problem"].split()[3:6])
        ratio = result["ratio"] if result["choice"] == "ours" else result.get("best_measured", {}).get("ratio", 0)
        others = [row["median_us"] for row in result["baselines"] if row["median_us"] and row["name"] != "libxsmm"]
        without_xsmm.append(max(1.0, min(others) * ratio / result["baseline_us"]) if others else 1.0)
        floor_us = max(result["flops"] / peak, 4 * (m * k + k * n + m * n) / bandwidth) * 1e-3
        limit.append(max(1.0, result["baseline_us"] / floor_us))
    save_bar(f"{prefix}.geomean_over_openblas_onednn", "shown", geomean(without_xsmm),
             "x better of the two; unconfirmed where LIBXSMM stays", device, command, table)
    save_bar(f"{prefix}.roofline_limit", "shown", geomean(limit), "x best vendor routine, at the roofline", device,
             command, table)


def combine_grids(device: str) -> None:
    """cpu.significant_losses and cpu.vendor_share over the single-thread grids measured so far."""
    bars = {bar["name"]: bar for bar in json.loads(BARS.read_text())}
    grids = [grid for grid in ("model", "random") if f"cpu.{grid}.geomean" in bars]
    if not grids:
        return
    tables = ", ".join(bars[f"cpu.{grid}.geomean"]["table"] for grid in grids)
    command = "bench/bars.py " + " ".join(grids)
    losses = sum(bars[f"cpu.{grid}.significant_losses"]["value"] for grid in grids)
    shapes = {grid: sum(1 for _ in (ROOT / bars[f"cpu.{grid}.geomean"]["table"]).open()) - 1 for grid in grids}
    share = sum(bars[f"cpu.{grid}.vendor_share"]["value"] * shapes[grid] for grid in grids) / sum(shapes.values())
    save_bar("cpu.significant_losses", "= 0", losses, "kernels", device, command, tables)
    save_bar("cpu.vendor_share", "shown", share, "share of shapes", device, command, tables)


MODEL = ["--model", "examples/models/qwen2.5-0.5b.json", "--no-lm-head", "--tokens", "1,16,128"]
RANDOM = ["--shapes", "examples/shapes/random60.csv"]


def model(program: Program) -> None:
    measure_grid(program, "model", MODEL, "1", ">= 1.02", "60s")


def model_all(program: Program) -> None:
    measure_grid(program, "model_all", MODEL, "all", "shown", "6s", again=False)


def random_shapes(program: Program) -> None:
    measure_grid(program, "random", RANDOM, "1", ">= 1.25", "20s")


def random_all(program: Program) -> None:
    measure_grid(program, "random_all", RANDOM, "all", "shown", "2s", again=False)


def record(program: Program) -> None:
    """500 random legal schedules of each of 10 shapes, measured once."""
    folder = fresh("record")
    store = ["--store", str(folder / "store.db")]
    program.run("tune", "--shapes", "examples/shapes/recorded10.csv", "--proposers", "random", "--trials", "500",
                "--seed", "1", "--quiet", *store)
    program.run("store", "export", "--out", str(RECORDED), "--device-out", str(RECORDED.with_suffix(".device.json")),
                *store)


def search(program: Program) -> None:
    outcome = program.json("arena", "--table", str(RECORDED), "--proposer", "evolve", "--seeds", "20")
    rows = [{key: significant(value) for key, value in table.items()} for table in outcome["tables"]]
    device = describe(json.loads(RECORDED.with_suffix(".device.json").read_text()))
    save_bar("search.evolve.evaluations_ratio", "<= 0.33", outcome["ratio"], "evaluations of random", device,
             "bench/bars.py search", save_table("search", rows))


def rate(program: Program) -> None:
    """Candidates verified and timed per second of search (preparing and confirming are shown beside it), cold cache,
    shapes under 10 MFLOP."""
    rows = []
    for m, n, k in [(64, 64, 64), (31, 200, 90), (1, 896, 896), (128, 128, 256), (300, 7, 1000)]:
        folder = fresh("rate")
        outcome = program.json("tune", "--m", str(m), "--n", str(n), "--k", str(k), "--shape-budget", "20s", "--cache",
                               str(folder / "cache"), "--store", str(folder / "store.db"))
        result = outcome["results"][0]
        connection = sqlite3.connect(folder / "store.db")
        search_s = connection.execute("SELECT max(finished_s) FROM evaluations").fetchone()[0]
        connection.close()
        rows.append({"m": m, "n": n, "k": k, "mflop": result["flops"] * 1e-6, "evaluations": result["evaluations"],
                     "passed": result["passed"], "search_s": significant(search_s),
                     "whole_command_s": significant(outcome["elapsed_s"]),
                     "candidates_per_s": significant(result["evaluations"] / search_s)})
    rates = sorted(row["candidates_per_s"] for row in rows)
    save_bar("loop.candidates_per_s", ">= 3", rates[0], "candidates/s, slowest of the shapes",
             describe(outcome["device"]), "bench/bars.py rate", save_table("rate", rows))


def warm(program: Program) -> None:
    """The same search again: with the same cache and a new store, and with the same store."""
    folder = fresh("warm")
    words = ["tune", "--m", "64", "--n", "96", "--k", "128", "--trials", "64", "--proposers", "seed", "--seed", "1",
             "--cache", str(folder / "cache")]
    cold = program.json(*words, "--store", str(folder / "one.db"))
    new_store = program.json(*words, "--store", str(folder / "two.db"))
    same_store = program.json(*words, "--store", str(folder / "one.db"))
    rows = [{"run": name, "compiler_runs": outcome["compiler_runs"],
             "new_evaluations": outcome["results"][0]["new_evaluations"]}
            for name, outcome in [("cold cache", cold), ("warm cache, new store", new_store),
                                  ("warm cache, same store", same_store)]]
    compiles = new_store["compiler_runs"] + same_store["compiler_runs"]
    save_bar("loop.warm.compiles", "= 0", compiles, "compiler runs", describe(cold["device"]), "bench/bars.py warm",
             save_table("warm", rows))


def count_repeats(store: pathlib.Path) -> tuple[int, int]:
    """Rows of evaluations, and how many (problem, device, protocol, schedule) stand more than once."""
    connection = sqlite3.connect(store)
    total = connection.execute("SELECT count(*) FROM evaluations").fetchone()[0]
    repeats = connection.execute(
        "SELECT coalesce(sum(n - 1), 0) FROM (SELECT count(*) AS n FROM evaluations e JOIN verdicts v ON v.id = e.verdict "
        "WHERE e.schedule IS NOT NULL GROUP BY v.problem, v.device, v.protocol_version, e.family, e.schedule)"
    ).fetchone()[0]
    connection.close()
    return total, repeats


def kill9(program: Program, kills: int = 50) -> None:
    """kill -9 at random moments of one growing search. Lost: evaluations that the program had reported and a later
    look at the store does not find. Repeated: evaluations made although they were in the store."""
    folder = fresh("kill9")
    store = folder / "store.db"
    words = [program.path, "tune", "--m", "48", "--n", "80", "--k", "64", "--trials", "100000", "--shape-budget", "1h",
             "--seed", "3", "--store", str(store), "--cache", str(folder / "cache"), "--trace", str(folder / "trace")]
    draw, rows, seen = random.Random(7), [], set()
    lost = repeated = 0
    for moment in range(kills):
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(1.5 + 3.0 * draw.random())
        process.send_signal(signal.SIGKILL)
        process.wait()
        trace = (folder / "trace").read_text().splitlines() if (folder / "trace").exists() else []
        (folder / "trace").unlink(missing_ok=True)
        done = [json.loads(line)["schedule"] for line in trace if line.endswith("}")]
        connection = sqlite3.connect(store)
        stored = {row[0] for row in connection.execute("SELECT schedule FROM evaluations")}
        connection.close()
        missing = [schedule for schedule in done if schedule not in stored]
        again = [schedule for schedule in done if schedule in seen]
        gone = seen - stored
        lost += len(missing) + len(gone)
        repeated += len(again)
        rows.append({"kill": moment + 1, "reported": len(done), "stored": len(stored), "lost": len(missing) + len(gone),
                     "repeated": len(again)})
        seen |= stored
    total, twice = count_repeats(store)
    name = name_device(program)
    table = save_table("kill9", rows)
    print(f"{total} evaluations over {kills} kills")
    save_bar("store.kill9.lost", "= 0", lost, "evaluations", name, "bench/bars.py kill9", table)
    save_bar("store.kill9.repeated", "= 0", repeated + twice, "evaluations", name, "bench/bars.py kill9", table)


def name_device(program: Program) -> str:
    findings = json.loads(program.run("doctor", "--json").stdout)["findings"]
    return next(finding["found"] for finding in findings if finding["what"] == "CPU")


def run_section(program: Program, name: str) -> tuple[dict, str, str, str]:
    """One section of the self-test at full depth; its table, the device and the command. Resumable: an outcome of this
    very program that lies in build/bars/truth is not measured again (remove it to measure anew)."""
    build = hashlib.sha256(pathlib.Path(program.path).read_bytes()).hexdigest()[:12]
    path = SCRATCH / "truth" / f"{name}-{build}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_text(program.run("selftest", name, "--full", "--json", check=False).stdout)
    section = json.loads(path.read_text())["sections"][0]
    rows = [{"name": row["name"], "expected": row["expected"], "got": row["got"], "caught": row["caught"],
             "ok": int(row["ok"]), "seconds": significant(row["seconds"])} for row in section["rows"]]
    return section, save_table(f"truth_{name}", rows), name_device(program), f"bench/bars.py {name}"


def save_share(program: Program, section: str, share: str, least: int, unit: str) -> None:
    found, table, device, command = run_section(program, section)
    save_bar(f"truth.{section}.{share}", "= 1", found["passed"] / found["items"], unit, device, command, table)
    save_bar(f"truth.{section}.count", f">= {least}", found["measured"].get("kernels", found["items"]), section, device,
             command, table)


def mutants(program: Program) -> None:
    save_share(program, "mutants", "killed_share", 60, "share, each by its own verdict, over 3 secret seeds")


def honest(program: Program) -> None:
    save_share(program, "honest", "pass_share", 50, "share, over 20 secret seeds")


def attacks(program: Program) -> None:
    save_share(program, "attacks", "stopped_share", 40, "share, each by its own verdict at its own stage")


def statistics(program: Program) -> None:
    """Kernels against themselves, and a planted win of 3 %. Needs a quiet machine."""
    found, table, device, command = run_section(program, "statistics")
    figures = found["measured"]
    save_bar("truth.aa.false_win_share", "<= 0.01", figures["false_win_share"],
             f"share of {figures['equal_trials']} comparisons of a kernel with itself", device, command, table)
    if "power_3pct" not in figures:
        raise SystemExit("truth.power_3pct was not measured: others used the core in all but a few comparisons; "
                         "repeat it on a quiet machine")
    save_bar("truth.power_3pct", ">= 0.9", figures["power_3pct"],
             f"share of {figures['planted_trials']} planted wins of 3 % found", device, command, table)


def faults(program: Program) -> None:
    found, table, device, command = run_section(program, "faults")
    figures = found["measured"]
    save_bar("truth.faults.survived_share", "= 1 of 1000", figures["survived_share"],
             f"share of {figures['faults'] + figures['others']} candidates, {figures['faults']} of them faults", device,
             command, table)


def fuzz(program: Program) -> None:
    """Bars of the table that tools/fuzz.sh wrote."""
    path = TABLES / "fuzz.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    table, device = str(path.relative_to(ROOT)), name_device(program)
    save_bar("truth.fuzz.crashes", "= 0", sum(int(row["crashes"]) for row in rows), "crashes", device,
             "tools/fuzz.sh", table)
    save_bar("truth.fuzz.minutes", ">= 60", sum(float(row["minutes"]) for row in rows),
             f"minutes over {len(rows)} parsers", device, "tools/fuzz.sh", table)


ALL = {"model": model, "model_all": model_all, "random": random_shapes, "random_all": random_all, "record": record,
       "search": search, "rate": rate, "warm": warm, "kill9": kill9, "mutants": mutants, "honest": honest,
       "attacks": attacks, "statistics": statistics, "faults": faults, "fuzz": fuzz}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build" / "kernelwright"))
    parser.add_argument("bars", nargs="+", choices=list(ALL), metavar="BAR")
    options = parser.parse_args()
    for bar in options.bars:
        ALL[bar](Program(options.program))
    return 0


if __name__ == "__main__":
    sys.exit(main())

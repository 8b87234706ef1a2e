#!/usr/bin/env python3
"""Runs libFuzzer binaries of build-fuzz side by side, chooses the inputs that are kept as tests, writes results/cpu/fuzz.csv.

Called by tools/fuzz.sh from the repository's root. A target stops at its first crash: the input that made it lies in
build-fuzz/crashes/TARGET.
"""
import argparse
import concurrent.futures
import csv
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import time

BUILD, TESTS = pathlib.Path("build-fuzz"), pathlib.Path("test/fuzz")
TABLE = pathlib.Path("results/cpu/fuzz.csv")
COLUMNS = ["target", "minutes", "executions", "crashes", "corpus_files", "coverage_features"]
# Valid inputs of the repository besides the seeds.
EXAMPLES = {"model": "examples/models", "shapes_csv": "examples/shapes"}
LIMITS = ["-timeout=60", "-rss_limit_mb=2048", "-print_final_stats=1", "-verbosity=1"]
MAX_BYTES = {"object": 16384, "source_rules": 65536, "llm_answer": 16384}
KEPT_FILES, KEPT_FILE_BYTES = 10, 3000  # of each target; the whole corpus stays small enough for the repository


def folders_of(target: str) -> list[str]:
    found = [TESTS / "seeds" / target, TESTS / "corpus" / target]
    if target in EXAMPLES:
        found.append(pathlib.Path(EXAMPLES[target]))
    return [str(folder) for folder in found if folder.is_dir()]


def run_target(target: str, seconds: int) -> dict:
    corpus, crashes = BUILD / "corpus" / target, BUILD / "crashes" / target
    log_path = BUILD / "log" / f"{target}.log"
    for folder in (corpus, crashes, log_path.parent):
        folder.mkdir(parents=True, exist_ok=True)
    command = [f"{BUILD}/fuzz_{target}", f"-max_total_time={seconds}", f"-artifact_prefix={crashes}/",
               f"-max_len={MAX_BYTES.get(target, 8192)}", *LIMITS]
    dictionary = TESTS / "dictionary" / f"{target}.dict"
    if dictionary.exists():
        command.append(f"-dict={dictionary}")
    started = time.monotonic()
    with log_path.open("w") as log:
        code = subprocess.run([*command, str(corpus), *folders_of(target)], stdout=log, stderr=log, check=False).returncode
    minutes = (time.monotonic() - started) / 60
    text = log_path.read_text(errors="replace")
    executions = re.findall(r"stat::number_of_executed_units:\s*(\d+)", text)
    features = re.findall(r" ft: (\d+)", text)
    print(f"{target}: {'ok' if code == 0 else 'BROKEN, see ' + str(log_path)}", flush=True)
    return {"target": target, "minutes": f"{minutes:.1f}", "executions": executions[-1] if executions else 0,
            "crashes": 0 if code == 0 else 1, "corpus_files": len(list(corpus.iterdir())),
            "coverage_features": features[-1] if features else 0}


def read_features(control: pathlib.Path) -> dict[str, set[int]]:
    """Features of every input, from the control file of a libFuzzer merge."""
    lines = control.read_text(errors="replace").splitlines()
    if len(lines) < 2:
        return {}
    count = int(lines[0])
    names = lines[2:2 + count]
    features: dict[str, set[int]] = {}
    for line in lines[2 + count:]:
        words = line.split()
        if len(words) > 2 and words[0] == "FT":
            features[names[int(words[1])]] = {int(word) for word in words[2:]}
    return features


def choose_inputs(target: str) -> list[pathlib.Path]:
    """Greedy cover: each input adds the most features that the seeds and the chosen ones before it lack."""
    corpus, merged, control = BUILD / "corpus" / target, BUILD / "merged" / target, BUILD / "log" / f"{target}.merge"
    shutil.rmtree(merged, ignore_errors=True)
    merged.mkdir(parents=True)
    control.unlink(missing_ok=True)
    sources = [folder for folder in folders_of(target)] + [str(corpus)]
    subprocess.run([f"{BUILD}/fuzz_{target}", "-merge=1", f"-merge_control_file={control}", *LIMITS,
                    f"-max_len={MAX_BYTES.get(target, 8192)}", str(merged), *sources],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    features = read_features(control)
    seen = set()
    small = {}
    for name, found in features.items():
        path = pathlib.Path(name)
        if path.parts[:3] == (*TESTS.parts, "seeds"):
            seen |= found
        elif path.stat().st_size <= KEPT_FILE_BYTES:
            small[path] = found
    chosen: list[pathlib.Path] = []
    while small and len(chosen) < KEPT_FILES:
        best = max(small, key=lambda path: (len(small[path] - seen), -path.stat().st_size, path.name))
        if not small[best] - seen:
            break
        seen |= small.pop(best)
        chosen.append(best)
    # The minimal set replaces the found inputs, so that the next run starts from it.
    minimal = BUILD / "corpus" / f"{target}.old"
    shutil.rmtree(minimal, ignore_errors=True)
    contents = [path.read_bytes() for path in chosen]
    corpus.rename(minimal)
    merged.rename(corpus)
    shutil.rmtree(minimal)
    keep(target, contents)
    return chosen


def keep(target: str, contents: list[bytes]) -> None:
    kept = TESTS / "corpus" / target
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True)
    for content in contents:
        (kept / hashlib.sha1(content).hexdigest()[:16]).write_bytes(content)


def write_table(rows: list[dict]) -> None:
    known = {}
    if TABLE.exists():
        with TABLE.open(newline="") as file:
            known = {row["target"]: row for row in csv.DictReader(file)}
    known.update({row["target"]: row for row in rows})
    TABLE.parent.mkdir(parents=True, exist_ok=True)
    with TABLE.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(known[name] for name in sorted(known))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("targets", nargs="+")
    options = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(lambda target: run_target(target, round(options.minutes * 60)), options.targets))
    broken = [row["target"] for row in rows if row["crashes"]]
    for row in rows:
        if not row["crashes"]:
            choose_inputs(row["target"])
            row["corpus_files"] = len(list((BUILD / "corpus" / row["target"]).iterdir()))
    write_table(rows)
    print(f"{len(rows)} targets, {sum(float(row['minutes']) for row in rows):.0f} minutes, "
          f"{sum(int(row['executions']) for row in rows)} executions, broken: {', '.join(broken) or 'none'}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The report in a real browser. Usage: render_test.py KERNELWRIGHT FIXTURE [KEEP_FOLDER]

Fills stores, makes reports with the real command, opens them in headless Chromium wide and narrow, and checks: no script
error, all figures there and drawn, every shape named, no label on another, no sideways scrolling of the page, nothing
fetched from anywhere, hostile names harmless, screenshots not blank. Exit code 77 (skipped) without a browser.
"""
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import png

HERE = pathlib.Path(__file__).resolve().parent
BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")
SECTIONS = ("losses", "speedup", "shapes", "oddities", "bands", "roofline", "progress", "failures", "schedules", "machine")
DRAWN = ("speedup", "roofline", "progress", "failures")
WINDOWS = ((1280, 900), (400, 800))
MIN_COLOURS, MIN_INK = 40, 0.02  # distinct colours and share of pixels that are not the most frequent colour

failures: list[str] = []


def check(ok: bool, what: str) -> None:
    if not ok:
        failures.append(what)
        print("FAILED:", what)


class Page(html.parser.HTMLParser):
    """What a browser's DOM holds: ids, attributes that could load something, text, the probe's findings."""

    def __init__(self, text: str):
        super().__init__()
        self.ids: list[str] = []
        self.loads: list[str] = []
        self.scripts = 0
        self.text = ""
        self.probe: dict | None = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.scripts += tag == "script"
        if "id" in named:
            self.ids.append(named["id"])
        if "data-probe" in named:
            self.probe = json.loads(named["data-probe"])
        if tag in {"link", "iframe", "img", "object", "embed", "base"}:
            self.loads.append(tag)
        for name in ("src", "href", "srcset", "action", "xlink:href"):
            if name in named and not (named[name] or "").startswith("#"):
                self.loads.append(f"{tag} {name}={named[name]}")

    def handle_data(self, data):
        self.text += data + "\n"


class Browser:
    def __init__(self, program: str, folder: pathlib.Path):
        self.command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                        "--hide-scrollbars", f"--user-data-dir={folder / 'profile'}"]

    def run(self, window: tuple[int, int], page: pathlib.Path, *options: str) -> str:
        size = f"--window-size={window[0]},{window[1]}"
        command = [*self.command, size, *options, page.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise RuntimeError(f"the browser ended with {done.returncode}: {done.stderr[-500:]}")
        return done.stdout


def fill_store(fixture: str, store: pathlib.Path, *arguments: str) -> list[str]:
    """A fresh store; returns the problems that are decided in it."""
    for old in store.parent.glob(store.name + "*"):
        old.unlink()
    filled = subprocess.run([fixture, store, *arguments], capture_output=True, text=True)
    check(filled.returncode == 0, f"fixture for {store.name}: {filled.stderr}")
    return filled.stdout.splitlines()


def run_report(program: str, store: pathlib.Path, report: pathlib.Path) -> subprocess.CompletedProcess:
    report.unlink(missing_ok=True)
    return subprocess.run([program, "report", "--store", store, "--out", report], capture_output=True, text=True)


def check_file(name: str, text: str) -> None:
    page = Page(text)
    check(page.loads == [], f"{name}: loads {page.loads[:3]}")
    check(page.scripts == 1, f"{name}: {page.scripts} script elements, want our own alone")
    check(not re.search(r"https?:|@import|url\(", text), f"{name}: holds an address of the network")
    check(sorted(page.ids) == sorted(SECTIONS), f"{name}: sections are {page.ids}")
    order = [section for section in page.ids if section in SECTIONS]
    check(order == list(SECTIONS), f"{name}: order of sections is {order}")


def check_page(name: str, page: Page, problems: list[str], width: int) -> None:
    probe = page.probe
    check(probe is not None, f"{name}: the page did not finish loading")
    if probe is None:
        return
    check(probe["width"] == width, f"{name}: window is {probe['width']} px wide, want {width}")
    check(probe["needs"] <= width, f"{name}: the page is {probe['needs']} px wide and scrolls sideways")
    check(probe["hacked"] == 0, f"{name}: text from the store ran as a script")
    for kind in ("errors", "empty", "overlaps", "outside", "unsorted"):
        check(probe[kind] == [], f"{name}: {kind}: {len(probe[kind])}, such as {probe[kind][:3]}")
    for section in DRAWN:
        check(probe["drawings"].get(section, 0) > 0, f"{name}: nothing drawn in #{section}")
    for problem in problems:
        words = dict(re.findall(r"\b([mnk])(\d+)\b", problem))
        label = f"{words['m']}x{words['n']}x{words['k']} {problem.split()[2]} "
        check(page.text.count(label) >= 3, f"{name}: {label}is named {page.text.count(label)} times, want 3")


def check_screenshot(name: str, path: pathlib.Path) -> None:
    counts = png.count_colours(path.read_bytes())
    ink = 1 - max(counts.values()) / sum(counts.values())
    check(len(counts) >= MIN_COLOURS, f"{name}: screenshot has {len(counts)} colours, want {MIN_COLOURS}")
    check(ink >= MIN_INK, f"{name}: {ink:.1%} of the screenshot is not background, want {MIN_INK:.0%}")


def check_report(browser: Browser, folder: pathlib.Path, name: str, report: pathlib.Path, problems: list[str]) -> None:
    text = report.read_text(encoding="utf-8")
    check_file(name, text)
    probed = folder / f"{name}.probed.html"
    probe = (HERE / "probe.js").read_text(encoding="utf-8")
    first = '<meta charset="utf-8">'
    probed.write_text(text.replace(first, f"{first}<script>{probe}</script>", 1), encoding="utf-8")
    for window in WINDOWS:
        title = f"{name} at {window[0]} px"
        check_page(title, Page(browser.run(window, probed, "--dump-dom")), problems, window[0])
        picture = folder / f"{name}.{window[0]}.png"
        browser.run(window, report, f"--screenshot={picture}")
        check_screenshot(title, picture)


def check_empty(tools: list[str], folder: pathlib.Path) -> None:
    store, report = folder / "empty.db", folder / "empty.html"
    fill_store(tools[1], store, "0")
    made = run_report(tools[0], store, report)
    ok = made.returncode == 2 and "no decision yet" in made.stderr and made.stderr.count("\n") == 1
    check(ok, f"empty store: exit code {made.returncode}, {made.stderr!r}")
    check(not report.exists(), "empty store: a file was written")


def check_store(browser: Browser, tools: list[str], folder: pathlib.Path, name: str, *fixture: str) -> None:
    store, report = folder / f"{name}.db", folder / f"{name}.html"
    problems = fill_store(tools[1], store, *fixture)
    made = run_report(tools[0], store, report)
    check(made.returncode == 0, f"{name}: report ended with {made.returncode}: {made.stderr}")
    one_line = made.stdout.startswith(str(report)) and made.stdout.count("\n") == 1
    check(one_line, f"{name}: one line with the path, not {made.stdout!r}")
    if report.exists():
        check_report(browser, folder, name, report, problems)


def main() -> int:
    if len(sys.argv) not in {3, 4}:
        print(__doc__, file=sys.stderr)
        return 2
    program = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if program is None:
        print("skipped: no headless browser; ./setup.sh report installs chromium-headless-shell")
        return 77
    tools = [str(pathlib.Path(tool).resolve()) for tool in sys.argv[1:3]]
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(sys.argv[3] if len(sys.argv) == 4 else temporary).resolve()
        browser = Browser(program, pathlib.Path(temporary))
        check_empty(tools, folder)
        for name, fixture in (("one", ["1"]), ("usual", ["14"]), ("many", ["50", "both"])):
            check_store(browser, tools, folder, name, *fixture)
    print(f"{len(failures)} failed" if failures else "report: all checks passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The program as its user sees it: exit codes, one-line errors, JSON on stdout, resume, Ctrl-C, replay, own kernels.

Usage: cli_test.py PROGRAM [unittest options]. Every test works in a folder of its own; nothing but loopback is touched.
"""
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = ""
SMALL = ["tune", "--m", "24", "--n", "40", "--k", "16", "--quiet"]


class CliTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kernelwright-cli."))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.environment = dict(os.environ, XDG_CACHE_HOME=str(self.folder / "cache"))
        for name in ("KERNELWRIGHT_STORE", "KERNELWRIGHT_CXX", "KERNELWRIGHT_OPENBLAS"):
            self.environment.pop(name, None)

    def run_program(self, *words, **environment):
        return subprocess.run([PROGRAM, *words], cwd=self.folder, env=dict(self.environment, **environment), text=True,
                              capture_output=True, timeout=280)

    def expect_user_error(self, *words, says=()):
        outcome = self.run_program(*words)
        self.assertEqual(outcome.returncode, 2, outcome.stderr)
        self.assertEqual(outcome.stdout, "")
        self.assertEqual(len(outcome.stderr.strip().splitlines()), 1, outcome.stderr)
        for text in says:
            self.assertIn(text, outcome.stderr)

    def tune_json(self, *words):
        outcome = self.run_program(*SMALL, "--json", *words)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        return json.loads(outcome.stdout)


class BadInput(CliTest):
    def test_every_help_text_is_there(self):
        self.assertEqual(self.run_program("--help").returncode, 0)
        for command in ("tune", "best", "ls", "show", "check", "verify", "confirm", "report", "shapes", "store", "doctor", "arena", "bench"):
            outcome = self.run_program(command, "--help")
            self.assertEqual(outcome.returncode, 0, command)
            self.assertIn(command, outcome.stdout)

    def test_version_names_what_was_built_in(self):
        outcome = self.run_program("--version")
        self.assertEqual(outcome.returncode, 0)
        for text in ("kernelwright 0.", "protocol", "SQLite", "flags"):
            self.assertIn(text, outcome.stdout)

    def test_wrong_words_are_one_line_and_exit_code_2(self):
        self.expect_user_error("tunee")
        self.expect_user_error("tune", "--frobnicate")
        self.expect_user_error("tune")
        self.expect_user_error("tune", "--m", "4", "--n", "4", says=["--k -1"])
        self.expect_user_error("tune", "--m", "-4", "--n", "4", "--k", "4")
        self.expect_user_error("tune", "--m", "four", "--n", "4", "--k", "4", says=["four"])
        self.expect_user_error("tune", "--m", "4", "--n", "4", "--k", "4", "--layout", "xy", says=["xy", "nn, nt, tn or tt"])
        self.expect_user_error("tune", "--m", "4", "--n", "4", "--k", "4", "--dtype", "f8", says=["f8"])
        self.expect_user_error("tune", "--m", "4", "--n", "4", "--k", "4", "--lda", "3", says=["lda is 3"])
        self.expect_user_error("tune", "--m", "4", "--n", "4", "--k", "4", "--budget", "soon", says=["soon", "60s"])
        self.expect_user_error("tune", "--m", "4", "--n", "4", "--k", "4", "--threads", "9999", says=["9999"])
        self.expect_user_error("tune", "--m", "4", "--n", "4", "--k", "4", "--proposers", "oracle", says=["oracle", "evolve"])
        self.expect_user_error("tune", "--m", "4", "--n", "4", "--k", "4", "--alpha", "nan")
        self.expect_user_error("tune", "--m", "4", "--n", "4", "--k", "4", "--model", "x.json", says=["more than one way"])
        self.expect_user_error("tune", "--model", "missing.json", says=["missing.json"])
        self.expect_user_error("show", "ff", "--store", "none.db", says=["none.db"])

    def test_odd_model_fields_are_named(self):
        config = json.loads((ROOT / "examples/models/qwen2.5-0.5b.json").read_text())
        for field, value in (("hidden_size", "many"), ("num_attention_heads", 0), ("intermediate_size", None)):
            odd = dict(config)
            odd[field] = value
            (self.folder / "odd.json").write_text(json.dumps(odd))
            self.expect_user_error("shapes", "odd.json", says=[field])
        (self.folder / "odd.json").write_text("{ not json")
        self.expect_user_error("shapes", "odd.json")

    def test_store_that_is_no_database_is_refused(self):
        (self.folder / "text.db").write_text("this is a text, not a database, and it is long enough to be read\n" * 20)
        outcome = self.run_program("best", "--store", "text.db")
        self.assertIn(outcome.returncode, (1, 2))
        self.assertEqual(len(outcome.stderr.strip().splitlines()), 1)
        self.assertIn("text.db", outcome.stderr)


class Shapes(CliTest):
    def test_csv_of_a_model_is_read_back(self):
        model = str(ROOT / "examples/models/qwen2.5-0.5b.json")
        outcome = self.run_program("shapes", model, "--tokens", "1,16,512", "--csv")
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        (self.folder / "shapes.csv").write_text(outcome.stdout)
        again = self.run_program("shapes", "--shapes", "shapes.csv", "--csv")
        self.assertEqual(again.stdout, outcome.stdout)

    def test_every_example_model_is_read(self):
        models = sorted((ROOT / "examples/models").glob("*.json"))
        self.assertGreaterEqual(len(models), 8)
        for model in models:
            for words in ((), ("--training",)):
                outcome = self.run_program("shapes", str(model), "--tokens", "1,512", *words)
                self.assertEqual(outcome.returncode, 0, outcome.stderr)


class Bench(CliTest):
    FAST = ("--sample-us", "100", "--pairs", "2", "--quiet")

    def setUp(self):
        super().setUp()
        (self.folder / "shapes.csv").write_text("name,m,n,k,layout\na,24,40,16,nn\na,24,40,16,nt\nb,33,17,65,nn\n")
        self.table = self.folder / "bench.csv"

    def bench(self, *words):
        return self.run_program("bench", "--target", "cpu", "--grid", "shapes.csv", "--out", "bench.csv", *self.FAST, *words)

    def rows(self):
        lines = self.table.read_text().splitlines()
        self.assertTrue(lines[0].startswith("problem,name,mode,device_key,"))
        return lines[1:]

    def test_writes_a_row_a_case_and_a_summary(self):
        outcome = self.bench("--json")
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        document = json.loads(outcome.stdout)
        self.assertEqual((document["measured"], document["known"], document["failed"]), (3, 0, 0))
        self.assertEqual(document["summaries"][0]["cases"], 3)
        self.assertIsNone(document["summaries"][0]["same_layout"])
        self.assertEqual(len(self.rows()), 3)
        text = self.bench()
        self.assertEqual(text.returncode, 0, text.stderr)
        self.assertIn("offline: 3 cases", text.stdout)
        self.assertIn("0 rows measured, 3 were there", text.stdout)

    def test_goes_on_after_a_torn_line_and_begins_anew_when_asked(self):
        self.assertEqual(self.bench("--limit", "2").returncode, 0)
        whole = self.rows()
        self.assertEqual(len(whole), 2)
        self.table.write_bytes(self.table.read_bytes()[:-5])
        self.assertEqual(self.bench().returncode, 0)
        self.assertEqual(len(self.rows()), 3)
        self.assertEqual(self.rows()[0], whole[0])
        self.assertEqual(self.bench("--no-resume", "--limit", "1").returncode, 0)
        self.assertEqual(len(self.rows()), 1)
        self.assertEqual(len((self.folder / "bench.csv.old").read_text().splitlines()), 4)

    def test_named_grids_and_modes_run_on_the_cpu(self):
        outcome = self.run_program("bench", "--grid", "cuda-l2", "--limit", "1", "--layouts", "nt", "--out", "grid.csv",
                                   "--mode", "cuda-l2", "--check", "spots", *self.FAST)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertIn("cuda-l2: 1 cases", outcome.stdout)
        self.assertIn(" nt ", (self.folder / "grid.csv").read_text())

    def test_interrupt_keeps_what_is_done_and_ends_with_130(self):
        shapes = "".join(f"{m},64,64\n" for m in range(1, 400))
        (self.folder / "shapes.csv").write_text("m,n,k\n" + shapes)
        process = subprocess.Popen([PROGRAM, "bench", "--grid", "shapes.csv", "--out", "bench.csv", *self.FAST],
                                   cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not (self.table.exists() and self.table.read_text().count("\n") >= 3):
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertIn("the same command goes on", output)
        self.assertGreaterEqual(len(self.rows()), 2)

    def test_wrong_words_are_one_line_and_exit_code_2(self):
        words = ("bench", "--out", "bench.csv")
        self.expect_user_error(*words, says=["--grid"])
        self.expect_user_error(*words, "--grid", "cuda-l3", says=["cuda-l3", "decode"])
        self.expect_user_error(*words, "--grid", "none.csv", says=["none.csv"])
        self.expect_user_error(*words, "--grid", "shapes.csv", "--layouts", "nn,xy", says=["xy"])
        self.expect_user_error(*words, "--grid", "shapes.csv", "--mode", "online", says=["online", "offline"])
        self.expect_user_error(*words, "--grid", "shapes.csv", "--target", "tpu", says=["tpu"])
        self.expect_user_error(*words, "--grid", "shapes.csv", "--limit", "-1", says=["-1"])
        self.expect_user_error(*words, "--grid", "shapes.csv", "--mode", "server", "--quiet", says=["not supported"])
        self.expect_user_error("bench", "--grid", "shapes.csv", "--out", "shapes.csv", "--quiet", says=["not a bench table"])


class Doctor(CliTest):
    def test_says_what_is_here_and_is_ready(self):
        outcome = self.run_program("doctor", "--json")
        findings = {finding["what"]: finding for finding in json.loads(outcome.stdout)["findings"]}
        for what in ("CPU", "host compiler", "baseline openblas", "GPU", "NVRTC", "LLM endpoint"):
            self.assertIn(what, findings)
        self.assertEqual(outcome.returncode, 0, outcome.stdout)

    def test_missing_compiler_is_said_with_the_remedy(self):
        outcome = self.run_program("doctor", KERNELWRIGHT_CXX="no-such-compiler")
        self.assertEqual(outcome.returncode, 1)
        self.assertIn("no-such-compiler", outcome.stdout)
        self.assertIn("MISSING", outcome.stdout)


class Tune(CliTest):
    def test_finds_kernels_and_a_second_run_repeats_nothing(self):
        first = self.tune_json("--trials", "12")
        result = first["results"][0]
        self.assertEqual(result["evaluations"], 12)
        self.assertGreater(result["passed"], 0)
        self.assertGreater(first["compiler_runs"], 0)
        second = self.tune_json("--trials", "12")
        self.assertEqual(second["results"][0]["new_evaluations"], 0)
        self.assertEqual(second["compiler_runs"], 0)
        third = self.tune_json("--trials", "16")
        self.assertEqual(third["results"][0]["new_evaluations"], 4)

    def test_kernels_are_listed_shown_and_reported(self):
        result = self.tune_json("--trials", "8")["results"][0]
        kernel = result["best_measured"]["kernel"]
        shown = self.run_program("show", kernel[:16])
        self.assertEqual(shown.returncode, 0, shown.stderr)
        for text in (kernel, "verdict   pass", "kw_call", "samples"):
            self.assertIn(text, shown.stdout)
        self.assertIn("24x40x16", self.run_program("best").stdout)
        self.assertIn("24x40x16", self.run_program("ls").stdout)
        report = self.run_program("report", "--out", "report.html")
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertIn("24x40x16", (self.folder / "report.html").read_text())

    def test_layouts_strides_and_scalars_are_tuned_right(self):
        for layout in ("nn", "nt", "tn", "tt"):
            outcome = self.run_program("tune", "--m", "17", "--n", "23", "--k", "31", "--layout", layout, "--lda", "40",
                                       "--ldb", "50", "--ldc", "29", "--alpha", "1.5", "--beta", "0.5", "--trials", "8",
                                       "--json", "--quiet")
            self.assertEqual(outcome.returncode, 0, outcome.stderr)
            self.assertEqual(json.loads(outcome.stdout)["results"][0]["passed"], 8, layout)

    def test_interrupt_saves_and_ends_with_130(self):
        process = subprocess.Popen([PROGRAM, *SMALL, "--shape-budget", "100s"], cwd=self.folder, env=self.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        store = self.folder / "kernelwright.db"
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self.count(store) < 2:
            time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertIn("24x40x16", output)
        self.assertGreaterEqual(self.count(store), 2)
        self.assertIn("interrupted", self.run_program("ls", "--runs").stdout)

    def test_kill_loses_nothing_that_was_reported(self):
        store, trace = self.folder / "kernelwright.db", self.folder / "trace"
        seen = set()
        for _ in range(3):
            process = subprocess.Popen([PROGRAM, *SMALL, "--shape-budget", "100s", "--trace", str(trace)],
                                       cwd=self.folder, env=self.environment, stderr=subprocess.DEVNULL)
            start = time.monotonic()
            while time.monotonic() < start + 40 and not (trace.exists() and trace.read_text().count("\n") >= 3):
                time.sleep(0.1)
            process.kill()
            process.wait()
            reported = [json.loads(line)["schedule"] for line in trace.read_text().splitlines() if line.endswith("}")]
            trace.unlink()
            stored = set(self.schedules(store))
            self.assertGreaterEqual(len(reported), 3)
            self.assertLessEqual(set(reported), stored)
            self.assertFalse(seen & set(reported), "measured again")
            self.assertLessEqual(seen, stored)
            seen = stored
        self.assertEqual(len(seen), len(self.schedules(store)))

    def test_recorded_measurements_replay_and_a_miss_is_an_error(self):
        self.tune_json("--trials", "16", "--proposers", "random")
        outcome = self.run_program("store", "export", "--out", "table.csv", "--device-out", "table.device.json")
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        replay = self.tune_json("--target", "recorded", "--table", "table.csv", "--trials", "16", "--store", "replay.db")
        self.assertEqual(replay["results"][0]["evaluations"], 16)
        self.assertEqual(replay["results"][0]["choice"], "vendor", "a decision may not rest on replay alone")
        arena = self.run_program("arena", "--table", "table.csv", "--seeds", "2", "--json")
        self.assertEqual(arena.returncode, 0, arena.stderr)
        self.assertEqual(json.loads(arena.stdout)["tables"][0]["rows"], 16)
        self.expect_user_error("tune", "--m", "5", "--n", "5", "--k", "5", "--target", "recorded", "--table", "table.csv",
                               "--quiet", says=["m5 n5 k5"])

    def test_stores_merge_export_import_and_clean(self):
        self.tune_json("--trials", "6", "--store", "one.db")
        self.tune_json("--trials", "6", "--seed", "2", "--proposers", "random", "--store", "two.db")
        self.assertEqual(self.run_program("store", "merge", "two.db", "--store", "one.db").returncode, 0)
        joined = self.schedules(self.folder / "one.db")
        self.assertLessEqual(set(self.schedules(self.folder / "two.db")), set(joined))
        self.assertEqual(self.run_program("store", "export", "--out", "t.csv", "--store", "one.db").returncode, 0)
        self.assertEqual(self.run_program("store", "import", "t.csv", "--store", "three.db").returncode, 0)
        self.assertEqual(sorted(self.schedules(self.folder / "three.db")), sorted(joined))
        self.assertEqual(self.run_program("store", "clean", "--keep-best", "1", "--store", "three.db").returncode, 0)
        self.assertLess(len(self.schedules(self.folder / "three.db")), len(joined))

    def test_second_run_on_the_device_waits_or_says_so(self):
        first = subprocess.Popen([PROGRAM, *SMALL, "--shape-budget", "60s"], cwd=self.folder, env=self.environment,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and self.count(self.folder / "kernelwright.db") < 1:
                time.sleep(0.2)
            outcome = self.run_program(*SMALL, "--trials", "2", "--no-wait", "--store", "other.db")
            self.assertEqual(outcome.returncode, 1)
            self.assertIn(str(first.pid), outcome.stderr)
        finally:
            first.kill()
            first.wait()

    def test_unwritable_store_is_a_readable_error(self):
        (self.folder / "file").write_text("not a folder")
        outcome = self.run_program(*SMALL, "--trials", "2", "--store", "file/x.db")
        self.assertIn(outcome.returncode, (1, 2))
        self.assertEqual(len(outcome.stderr.strip().splitlines()), 1)
        self.assertIn("store", outcome.stderr)

    def count(self, store):
        return len(self.schedules(store)) if store.exists() else 0

    def schedules(self, store):
        try:
            with sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=10) as connection:
                return [row[0] for row in connection.execute("SELECT schedule FROM evaluations")]
        except sqlite3.OperationalError:
            return []  # not created yet


class OwnKernel(CliTest):
    SHAPE = ["--m", "17", "--n", "33", "--k", "65", "--quiet"]

    def check(self, text, *words, launch=None):
        (self.folder / "mine.c").write_text(text)
        record = json.loads((ROOT / "examples/kernels/dot_nt.json").read_text())
        record.update(launch or {})
        (self.folder / "mine.json").write_text(json.dumps(record))
        return self.run_program("check", "mine.c", "--launch", "mine.json", *self.SHAPE, *words)

    def example(self):
        return (ROOT / "examples/kernels/dot_nt.c").read_text()


class Check(OwnKernel):
    def test_right_kernel_gets_a_certificate(self):
        outcome = self.check(self.example(), "--out", "certificate.json")
        self.assertEqual(outcome.returncode, 0, outcome.stdout + outcome.stderr)
        self.assertIn("verdict   pass", outcome.stdout)
        certificate = json.loads((self.folder / "certificate.json").read_text())
        self.assertEqual(certificate["launch"]["layout"], "nt")
        self.assertGreater(len(certificate["timing"]["latency_us"]), 5)

    def test_wrong_kernel_is_refused_by_name(self):
        outcome = self.check(self.example().replace("p < k", "p < k - 1"))
        self.assertEqual(outcome.returncode, 3, outcome.stderr)
        self.assertIn("wrong_result/k_tail", outcome.stdout)

    def test_kernel_that_reads_files_is_refused_before_it_runs(self):
        outcome = self.check('#include "/etc/passwd"\n' + self.example())
        self.assertEqual(outcome.returncode, 3)
        self.assertIn("verdict   illegal/", outcome.stdout)

    def test_kernel_that_never_ends_is_stopped(self):
        outcome = self.check(self.example().replace("float sum = 0;", "float sum = 0; for (volatile int x = 1; x;) ;"))
        self.assertEqual(outcome.returncode, 3)
        self.assertIn("verdict   hang/", outcome.stdout)

    def test_odd_launch_record_is_a_user_error(self):
        outcome = self.check(self.example(), launch={"surprise": 1})
        self.assertEqual(outcome.returncode, 2)
        self.assertIn("surprise", outcome.stderr)


class Verify(OwnKernel):
    def verify(self, text, *words):
        (self.folder / "mine.c").write_text(text)
        (self.folder / "mine.json").write_text((ROOT / "examples/kernels/dot_nt.json").read_text())
        return self.run_program("verify", "mine.c", "--launch", "mine.json", "--m", "17", "--n", "33", "--k", "65",
                                *words)

    def certify(self):
        outcome = self.check(self.example(), "--out", "certificate.json")
        self.assertEqual(outcome.returncode, 0, outcome.stdout + outcome.stderr)
        return self.folder / "certificate.json"

    def test_shows_error_bound_and_margin_per_family_and_stores_nothing(self):
        outcome = self.verify(self.example())
        self.assertEqual(outcome.returncode, 0, outcome.stdout + outcome.stderr)
        for text in ("normal", "exact_integers", "nan_inf", "largest error", "its bound", "verdict   pass"):
            self.assertIn(text, outcome.stdout)
        self.assertFalse((self.folder / "kernelwright.db").exists())

    def test_equal_seeds_measure_equal_errors(self):
        runs = [json.loads(self.verify(self.example(), "--seed", seed, "--json").stdout) for seed in ("5", "5", "6")]
        families = [run["evidence"]["families"] for run in runs]
        self.assertEqual(families[0], families[1])
        self.assertNotEqual(families[0], families[2])
        self.assertEqual(len(families[0]), 11)
        for family in families[0]:
            self.assertLessEqual(family["error"], family["bound"])
            self.assertLess(family["margin"], 1)

    def test_refuses_32_bit_offsets_that_only_wide_strides_show(self):
        text = self.example().replace("long long lda = call->size[3], ldb = call->size[4]",
                                      "int lda = (int)call->size[3], ldb = (int)call->size[4]")
        text = text.replace(", ldc = call->size[5]", ", ldc = (int)call->size[5]")
        self.assertIn("const int lda", text)
        outcome = self.verify(text)
        self.assertEqual(outcome.returncode, 3, outcome.stdout + outcome.stderr)
        self.assertIn("index_32_bits", outcome.stdout)

    def test_certificate_is_verified_again(self):
        certificate = self.certify()
        outcome = self.run_program("verify", "--certificate", certificate.name)
        self.assertEqual(outcome.returncode, 0, outcome.stdout + outcome.stderr)
        for text in ("with the recorded seed", "with a fresh seed", "byte for byte", "verdict   pass"):
            self.assertIn(text, outcome.stdout)
        recorded = json.loads(certificate.read_text())["verified"]["families"]
        again = json.loads(self.run_program("verify", "--certificate", certificate.name, "--json").stdout)
        self.assertTrue(again["same_binary"])
        self.assertEqual(again["runs"][0]["evidence"]["families"], recorded)

    def test_changed_certificate_is_refused(self):
        certificate = self.certify()
        text = certificate.read_text()
        for old, new, says in (('"ratio": ', '"ratio": 9', "seal"), ('"threads": 1', '"threads": "1"', "threads"),
                               ('"source": ', '"sauce": ', '"source" is missing'), ("\n}", "\n }", "line"),
                               ("{", "", "JSON")):
            self.assertIn(old, text)
            certificate.write_text(text.replace(old, new, 1))
            self.expect_user_error("verify", "--certificate", certificate.name, says=[certificate.name, says])
        self.expect_user_error("verify", "--certificate", "none.json", says=["none.json"])

    def test_needs_one_kernel(self):
        self.expect_user_error("verify", says=["SOURCE", "--certificate"])
        self.expect_user_error("verify", "mine.c", "--certificate", "c.json", says=["two kernels"])
        self.expect_user_error("verify", "mine.c", says=["--launch"])

    def test_kernel_that_decides_nothing_gets_no_certificate(self):
        self.certify()
        kernel = json.loads((self.folder / "certificate.json").read_text())["kernel"]
        self.expect_user_error("show", kernel, "--certificate", "again.json", says=["no shape's decision", "check --out"])


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=2)

#!/usr/bin/env python3
"""The cuda target from outside, on the fake GPU of test/fake_cuda: worker, vendor libraries, bench, faults.

Usage: cuda_fake_test.py PROGRAM FOLDER [unittest options]; FOLDER holds the fake libraries. A fake's figures say nothing
about any GPU: no test looks at one, except for which of two routines is the faster, where one computes all of it again.
"""
import csv
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

import cli_test

FAKES = pathlib.Path()
BEST, WRONG, SLOW, NO_START = "cublaslt_w32_2", "cublaslt_w32_1", "cublaslt_w32_3", "cublaslt_w32_4"
FOUND = 8  # cublas, cublaslt_heuristic, five algorithms, one more with 256 MiB of workspace


class FakeGpuTest(cli_test.CliTest):
    BENCH = ("bench", "--target", "cuda", "--grid", "shapes.csv", "--out", "bench.csv", "--sample-us", "100", "--pairs", "2")

    def setUp(self):
        super().setUp()
        for name in [name for name in self.environment if name.startswith("KERNELWRIGHT_")]:
            del self.environment[name]
        self.environment |= {"LD_LIBRARY_PATH": str(FAKES), "KERNELWRIGHT_CUBLAS": str(FAKES / "libfake_cublas.so"),
                             "KERNELWRIGHT_CUBLASLT": str(FAKES / "libfake_cublaslt.so")}
        self.starts = self.folder / "starts"
        self.write_shapes("a,16,24,72,nn,f16", "a,16,24,72,nt,bf16", "b,33,40,100,tn,f16")

    def write_shapes(self, *lines):
        (self.folder / "shapes.csv").write_text("\n".join(["name,m,n,k,layout,dtype", *lines]) + "\n")

    def bench(self, *words, ends=0, **environment):
        outcome = self.run_program(*self.BENCH, *words, **environment)
        self.assertEqual(outcome.returncode, ends, outcome.stderr)
        return outcome

    def rows(self):
        with (self.folder / "bench.csv").open(newline="") as table:
            return list(csv.DictReader(table))

    def count_starts(self):
        return len(self.starts.read_text().splitlines())


class Doctor(FakeGpuTest):
    def test_names_the_gpu_and_the_libraries(self):
        outcome = self.run_program("doctor")
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertRegex(outcome.stdout, r"ok +GPU +Fake GPU .*, sm_90a, 4 SMs, driver for CUDA 12\.8\n")
        for library in ("cublas", "cublaslt"):
            self.assertRegex(outcome.stdout, rf"ok +baseline {library} +12\.8\.0\n")

    def test_says_which_library_is_missing_and_how_to_get_it(self):
        outcome = self.run_program("doctor", KERNELWRIGHT_CUBLAS="none.so")
        self.assertRegex(outcome.stdout, r"- +baseline cublas +.*none\.so.*CUDA toolkit")
        self.assertRegex(outcome.stdout, r"ok +baseline cublaslt ")


class Bench(FakeGpuTest):
    def test_writes_a_row_a_case_and_no_case_twice(self):
        self.assertIn("3 rows measured, 0 were there", self.bench().stdout)
        rows = self.rows()
        self.assertEqual([row["problem"].split()[1:3] for row in rows], [["f16", "nn"], ["bf16", "nt"], ["f16", "tn"]])
        for row in rows:
            self.assertIn("Fake GPU", row["device_key"])
            self.assertEqual(int(row["algorithms"]), FOUND)
            self.assertTrue(row["bar_us"] and row["cublas_us"] and row["heuristic_us"] and row["agreement"])
        self.assertIn("0 rows measured, 3 were there", self.bench().stdout)
        self.assertEqual(self.rows(), rows)

    def test_finds_the_best_and_refuses_the_wrong_with_its_reason(self):
        outcome = self.bench("--limit", "1")
        [row] = self.rows()
        self.assertRegex(row["refused"], f"^{WRONG} wrong_result/k_tail; {NO_START} failed while timed: launch_error/not_started .*INTERNAL_ERROR")
        self.assertIn(row["refused"], outcome.stderr)
        self.assertEqual((row["bar"], row["cublaslt"]), (BEST, BEST))
        self.assertIn("algorithm 66 tile 64x64", row["bar_identity"])
        self.assertGreater(float(row["heuristic_us"]), float(row["bar_us"]))

    def test_a_wrong_one_is_found_while_timed_too(self):
        self.bench("--limit", "1", "--check", "spots")
        [row] = self.rows()
        self.assertIn(f"{WRONG} failed while timed: cheat/wrong_when_timed", row["refused"])
        self.assertIn("CUBLAS_STATUS_INTERNAL_ERROR", row["refused"])
        self.assertEqual(row["bar"], BEST)

    def test_what_is_right_for_a_shape_is_not_refused_there(self):
        self.write_shapes("c,16,24,128,nn,f16")
        self.bench()
        [row] = self.rows()
        self.assertRegex(row["refused"], f"^{NO_START} failed while timed: launch_error/not_started .*INTERNAL_ERROR")
        self.assertIn(row["bar"], (BEST, WRONG))

    def test_all_modes_of_a_case_get_their_row(self):
        self.bench("--limit", "1", "--mode", "offline,server,cuda-l2", "--rate", "2000")
        rows = {row["mode"]: row for row in self.rows()}
        self.assertEqual(list(rows), ["offline", "server", "cuda-l2"])
        for row in rows.values():
            self.assertNotIn(row["bar"], (WRONG, SLOW, NO_START))
        self.assertGreaterEqual(float(rows["server"]["host_p50_us"]), float(rows["server"]["device_p50_us"]))

    def test_interrupt_keeps_what_is_done_and_ends_with_130(self):
        self.write_shapes(*(f"c,{m},16,72,nn,f16" for m in range(1, 200)))
        process = subprocess.Popen([cli_test.PROGRAM, *self.BENCH, "--quiet"], cwd=self.folder, env=self.environment,
                                   stdout=subprocess.PIPE, text=True, start_new_session=True)
        table, deadline = self.folder / "bench.csv", time.monotonic() + 60
        while time.monotonic() < deadline and not (table.exists() and table.read_text().count("\n") >= 3):
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        output, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertIn("the same command goes on", output)
        self.assertGreaterEqual(len(self.rows()), 2)

    def test_wrong_words_are_one_line_and_exit_code_2(self):
        words = ("bench", "--target", "cuda", "--out", "bench.csv")
        self.expect_user_error(*words, says=["--grid"])
        self.expect_user_error(*words, "--grid", "odd", "--dtype", "f8", says=["f8"])
        self.expect_user_error(*self.BENCH, "--mode", "online", says=["online", "server"])
        self.expect_user_error(*self.BENCH, "--rate", "0", says=["--rate 0"])
        self.expect_user_error(*self.BENCH, "--frobnicate", says=["frobnicate"])
        self.assertFalse((self.folder / "bench.csv").exists())


class Faults(FakeGpuTest):
    # Launches of a worker: the first empties the cache, the next ones are those of the first routine, cublas.
    def bench_with_fault(self, launch, *words, **options):
        return self.bench(*words, KERNELWRIGHT_FAKE_FAULT=str(launch), KERNELWRIGHT_FAKE_STARTS=str(self.starts), **options)

    def test_without_one_a_single_worker_does_it_all(self):
        self.bench("--limit", "2", KERNELWRIGHT_FAKE_STARTS=str(self.starts))
        self.assertEqual(self.count_starts(), 1)

    def test_one_while_ranked_costs_one_start_and_is_named(self):
        self.bench_with_fault(3)
        self.assertEqual(self.count_starts(), 2)
        rows = self.rows()
        self.assertRegex(rows[0]["refused"], "cublas failed while timed: crash/.*CUDA_ERROR_ILLEGAL_ADDRESS")
        self.assertEqual([row["cublas_us"] == "" for row in rows], [True, False, False])
        self.assertEqual([row["bar"] for row in rows], [BEST] * 3)

    # Which routine it hits depends on their order by speed; that it costs that one alone does not. The 30th launch lies
    # between two calls of one run: the vendor library is the first to see that the context is dead.
    def expect_one_crash(self, launch, crash, *words):
        self.bench_with_fault(launch, "--limit", "1", *words)
        self.assertEqual(self.count_starts(), 2)
        [row] = self.rows()
        self.assertEqual(row["refused"].count("crash/"), 1, row["refused"])
        self.assertRegex(row["refused"], crash)
        self.assertTrue(row["bar"])
        self.assertNotIn(row["bar"], (WRONG, NO_START))

    def test_one_while_verified_costs_one_start_and_is_named(self):
        self.expect_one_crash(30, "crash/segfault")

    def test_one_later_while_verified_costs_one_start_and_is_named(self):
        self.expect_one_crash(160, "crash/segfault")

    def test_one_between_watched_runs_costs_one_start_and_is_named(self):
        self.expect_one_crash(40, "failed while timed: crash/.*CUDA_ERROR_ILLEGAL_ADDRESS", "--check", "spots")

    def test_a_gpu_that_is_not_healthy_is_said_in_one_line(self):
        outcome = self.bench_with_fault(1, ends=1)
        self.assertEqual(len(outcome.stderr.strip().splitlines()), 1)
        self.assertIn("the GPU is not healthy", outcome.stderr)
        self.assertIn("CUDA_ERROR_ILLEGAL_ADDRESS", outcome.stderr)

    def test_no_driver_is_said_with_the_remedy(self):
        outcome = self.bench(LD_LIBRARY_PATH="", ends=1)
        self.assertEqual(len(outcome.stderr.strip().splitlines()), 1)
        self.assertIn("libcuda.so.1", outcome.stderr)
        self.assertIn("install the driver", outcome.stderr)


if __name__ == "__main__":
    cli_test.PROGRAM, FAKES = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
    unittest.main(verbosity=2)

"""scripts/sweep: a tiny simulated sweep, what it keeps, and how it fails."""

import json
import os
import stat
import subprocess
import sys
import unittest

import support

PROGRAM = os.environ.get("XFERBENCH_PROGRAM", "")
TINY = ["--sizes", "1M,4M", "--streams", "1,2", "--chunks", "2,4"]
SIMULATED = ["--", "--simulate", "--max-samples", "10", "--quiet"]


class Sweep(support.Folder):
    def sweep(self, *arguments, program=PROGRAM):
        command = [str(support.SCRIPTS / "sweep"), *arguments]
        environment = {**os.environ, "XFERBENCH": program}
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=300, check=False
        )

    def pretend(self, body):
        """A program of our own in place of xferbench."""
        path = self.folder / "pretended"
        path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    def test_measures_and_reports(self):
        outcome = self.sweep(*TINY, "-o", "out", *SIMULATED)
        self.assertEqual((outcome.returncode, outcome.stdout), (0, ""), outcome.stderr)
        self.assertEqual(
            sorted(os.listdir(self.folder / "out")),
            ["memcpy.json", "memcpy.txt", "overlap.json", "overlap.txt", "report.html"],
        )
        pipelines = json.loads((self.folder / "out" / "overlap.json").read_text(encoding="utf-8"))
        found = {
            (one["params"]["size"], one["params"]["streams"], one["params"]["chunks"]) for one in pipelines["results"]
        }
        self.assertEqual(found, {(s << 20, n, c) for s in (1, 4) for n in (1, 2) for c in (2, 4)})
        page = (self.folder / "out" / "report.html").read_text(encoding="utf-8")
        for words in ("SIMULATED (profile h200)", "Efficiency: 1 MiB", "Efficiency: 4 MiB", "Host to GPU"):
            self.assertIn(words, page)
        self.assertIn("--streams", outcome.stderr)

    def test_goes_on_where_it_was(self):
        self.assertEqual(self.sweep(*TINY, "-o", "out", *SIMULATED).returncode, 0)
        out = self.folder / "out"
        cut = json.loads((out / "overlap.json").read_text(encoding="utf-8")) | {"complete": False}
        (out / "overlap.json").write_text(json.dumps(cut), encoding="utf-8")
        before = (out / "memcpy.json").stat().st_mtime_ns
        again = self.sweep(*TINY, "-o", "out", *SIMULATED)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("memcpy.json is complete", again.stderr)
        self.assertEqual((out / "memcpy.json").stat().st_mtime_ns, before)
        self.assertTrue(json.loads((out / "overlap.json").read_text(encoding="utf-8"))["complete"])
        forced = self.sweep(*TINY, "-o", "out", "--force", *SIMULATED)
        self.assertNotIn("is complete", forced.stderr)
        self.assertNotEqual((out / "memcpy.json").stat().st_mtime_ns, before)

    def test_another_command_is_measured_anew(self):
        self.assertEqual(self.sweep(*TINY, "-o", "out", *SIMULATED).returncode, 0)
        other = self.sweep("--sizes", "2M", *TINY[2:], "-o", "out", *SIMULATED)
        self.assertNotIn("is complete", other.stderr)

    def test_dry_run_shows_and_runs_nothing(self):
        outcome = self.sweep(*TINY, "-o", "out", "--dry-run", *SIMULATED)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertEqual(len(outcome.stdout.splitlines()), 2, outcome.stdout)
        self.assertFalse((self.folder / "out").exists())

    def test_names_with_spaces(self):
        outcome = self.sweep(*TINY, "-o", "a folder; $(touch pwned)", *SIMULATED)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertTrue((self.folder / "a folder; $(touch pwned)" / "report.html").exists())
        self.assertFalse((self.folder / "pwned").exists())

    def test_with_a_gpu_the_chip_is_measured_too(self):
        outcome = self.sweep("--dry-run", program=self.pretend("exit 0"))
        self.assertIn("'smem'", outcome.stdout)

    def test_usage(self):
        for arguments, words in (
            (["--frobnicate"], "unknown argument"),
            (["--sizes"], "needs a value"),
            (["--sizes", ""], "needs a value"),
            (["--", "--json", "x"], "cannot be passed on"),
            (["256M"], "unknown argument"),
        ):
            with self.subTest(arguments=arguments):
                outcome = self.sweep(*arguments)
                self.assertEqual((outcome.returncode, outcome.stdout), (2, ""))
                self.assertIn(words, outcome.stderr)
        self.assertEqual(os.listdir(self.folder), [])

    def test_program_that_is_none(self):
        outcome = self.sweep(program="/no/such/program")
        self.assertEqual(outcome.returncode, 2)
        self.assertIn("/no/such/program", outcome.stderr)

    def test_exit_code_of_the_program_is_the_sweeps(self):
        for code in (2, 3, 130):
            outcome = self.sweep("-o", "out", program=self.pretend(f"exit {code}"))
            self.assertEqual(outcome.returncode, code)
            self.assertFalse((self.folder / "out" / "report.html").exists())

    def test_after_a_failed_case_the_report_is_made_all_the_same(self):
        broken = self.pretend(f'{PROGRAM} "$@"; exit 1')
        outcome = self.sweep(*TINY, "-o", "out", *SIMULATED, program=broken)
        self.assertEqual(outcome.returncode, 1, outcome.stderr)
        self.assertTrue((self.folder / "out" / "report.html").exists())

    def test_folder_that_cannot_be(self):
        (self.folder / "file").write_text("", encoding="utf-8")
        outcome = self.sweep("-o", "file/out", *SIMULATED)
        self.assertEqual(outcome.returncode, 2)
        self.assertIn("cannot be made", outcome.stderr)


if __name__ == "__main__":
    if not PROGRAM:
        sys.exit("XFERBENCH_PROGRAM does not name the program to sweep with; ctest sets it")
    unittest.main()

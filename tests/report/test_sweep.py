"""scripts/sweep: a tiny simulated sweep, its output, and failures."""

import json
import os
import shlex
import subprocess
import unittest

import support

TINY = ["--sizes", "64K,1M", "--streams", "1,2", "--chunks", "2,4"]
SIMULATED = ["--", "--simulate", "--no-verify", "--max-samples", "10", "--quiet"]


class Sweep(support.Folder):
    def sweep(self, *arguments, program=support.PROGRAM):
        command = [str(support.SCRIPTS / "sweep"), *arguments]
        environment = {**os.environ, "XFERBENCH": program}
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=300, check=False
        )

    def pretend(self, body):
        """Writes a stand-in for xferbench. Returns its path."""
        return support.put_script(self.folder / "pretended", f"#!/bin/sh\n{body}\n")

    def test_measures_and_reports_and_goes_on_where_it_was(self):
        sweep = [*TINY, "-o", "a folder; $(touch pwned)"]
        first = self.sweep(*sweep, *SIMULATED)
        self.assertEqual((first.returncode, first.stdout), (0, ""), first.stderr)
        self.assertEqual(os.listdir(self.folder), ["a folder; $(touch pwned)"])
        out = self.folder / "a folder; $(touch pwned)"
        self.assertEqual(sorted(os.listdir(out)), ["command", "report.html", "sweep.json", "sweep.txt"])
        self.assert_measured(out)

        again = self.sweep(*sweep, *SIMULATED)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("no case is missing", again.stderr)
        self.assert_measured(out)

        whole = json.loads((out / "sweep.json").read_text(encoding="utf-8"))
        cut = whole | {"complete": False, "results": whole["results"][:4], "findings": []}
        (out / "sweep.json").write_text(json.dumps(cut), encoding="utf-8")
        rest = self.sweep(*sweep, *SIMULATED)
        self.assertEqual(rest.returncode, 0, rest.stderr)
        self.assertIn("which continues", rest.stderr)
        self.assert_measured(out)
        found = json.loads((out / "sweep.json").read_text(encoding="utf-8"))["results"]
        self.assertEqual([one["key"] for one in found], [one["key"] for one in whole["results"]])
        self.assertEqual(found[0], whole["results"][0])

        other = self.sweep(*sweep, "--sizes", "128K", *SIMULATED)
        self.assertEqual(other.returncode, 0, other.stderr)
        self.assertNotIn("continues", other.stderr)
        self.assertEqual({size for size, _, _ in self.pipelines(out)}, {128 << 10})

    def pipelines(self, out):
        found = json.loads((out / "sweep.json").read_text(encoding="utf-8"))
        self.assertTrue(found["complete"])
        params = [one["params"] for one in found["results"] if one["scenario"] == "overlap"]
        return {(one["size"], one["streams"], one["chunks"]) for one in params}

    def assert_measured(self, out):
        self.assertEqual(self.pipelines(out), {(s << 10, n, c) for s in (64, 1024) for n in (1, 2) for c in (2, 4)})
        self.assertIn("efficiency", (out / "sweep.txt").read_text(encoding="utf-8"))
        page = (out / "report.html").read_text(encoding="utf-8")
        for words in ("SIMULATED by profile h200", ">memcpy <span", ">overlap <span", "<svg"):
            self.assertIn(words, page)

    def test_force_measures_again(self):
        self.write("kept.json", support.results([support.case()]))
        program = self.pretend('[ "$1" = report ] && exit; echo "$1" >> log; cp kept.json out/sweep.json')
        for force in ([], [], ["--force"]):
            outcome = self.sweep(*TINY, "-o", "out", *force, "--", "--quiet", program=program)
            self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertEqual((self.folder / "log").read_text(encoding="utf-8"), "--quiet\n--resume\n--quiet\n")

    def dry_run(self, *flags):
        outcome = self.sweep(*TINY, "-o", "out", "--dry-run", "--", *flags, program=self.pretend("exit 9"))
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        return shlex.split(outcome.stdout)

    def test_dry_run_shows_and_runs_nothing(self):
        words = self.dry_run("--simulate")
        self.assertEqual(words[:4], ["pretended", "--simulate", "--json", "out/sweep.json"])
        for scenario in ("memcpy", "overlap", "smem"):
            self.assertIn(scenario, words)
        self.assertFalse((self.folder / "out").exists())

    def test_usage(self):
        for arguments, words in (
            (["--frobnicate"], "unknown argument"),
            (["--sizes"], "needs a value"),
            (["--sizes", ""], "needs a value"),
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
        (self.folder / "out").mkdir()
        self.write("failed.json", support.results([support.case(status="failed", reason="wrong byte")]))
        outcome = self.sweep("-o", "out", program=self.pretend(f'[ "$1" = report ] && exec {support.PROGRAM} "$@"; cp failed.json out/sweep.json; exit 1'))
        self.assertEqual(outcome.returncode, 1, outcome.stderr)
        self.assertIn("wrong byte", (self.folder / "out" / "report.html").read_text(encoding="utf-8"))

    def test_folder_that_cannot_be(self):
        (self.folder / "file").write_text("", encoding="utf-8")
        outcome = self.sweep("-o", "file/out", *SIMULATED)
        self.assertEqual(outcome.returncode, 2)
        self.assertIn("cannot be created", outcome.stderr)


if __name__ == "__main__":
    support.require_program()
    unittest.main()

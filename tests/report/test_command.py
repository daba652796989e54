"""scripts/report as its users call it: exit codes, messages, and that nothing partial is ever written."""

import os
import stat
import subprocess
import unittest

import support
from support import case, measurement, results


class Command(support.Folder):
    def assert_refused(self, outcome, *words):
        self.assertEqual(outcome.returncode, 2, outcome.stderr)
        self.assertEqual(outcome.stdout, "")
        self.assertEqual(len(outcome.stderr.splitlines()), 1, outcome.stderr)
        for word in words:
            self.assertIn(word, outcome.stderr)
        self.assertEqual([name for name in os.listdir(self.folder) if ".html" in name], [])

    def test_without_files_says_how_it_is_used(self):
        outcome = self.report()
        self.assertEqual(outcome.returncode, 2)
        self.assertIn("usage: report", outcome.stderr)

    def test_unknown_flag_is_usage(self):
        self.assertEqual(self.report("x.json", "--frobnicate").returncode, 2)

    def test_help_explains(self):
        outcome = self.report("--help")
        self.assertEqual((outcome.returncode, outcome.stderr), (0, ""))
        for word in ("--output", "--title", "Exit codes"):
            self.assertIn(word, outcome.stdout)

    def test_missing_file(self):
        self.assert_refused(self.report("absent.json"), "absent.json", "cannot be read", "No such file")

    def test_folder_instead_of_a_file(self):
        self.assert_refused(self.report(self.folder), "cannot be read")

    def test_bad_json(self):
        self.assert_refused(self.report(self.write("bad.json", "{")), "bad.json", "not JSON")

    def test_json_with_nan(self):
        self.assert_refused(self.report(self.write("bad.json", '{"x": NaN}')), "not JSON", "NaN")

    def test_deeply_nested_json(self):
        self.assert_refused(self.report(self.write("deep.json", "[" * 200000)), "not JSON")

    def test_other_json(self):
        self.assert_refused(self.report(self.write("x.json", [])), "not a valid results file")

    def test_results_file_that_breaks_the_schema(self):
        broken = results([case(status="excellent", reason="x")])
        self.assert_refused(self.report(self.write("x.json", broken)), "x.json", "results[0].status", "excellent")

    def test_one_bad_file_among_good_ones(self):
        good = self.write("good.json", results([case()]))
        self.assert_refused(self.report(good, self.write("bad.json", {})), "bad.json")

    def test_timeline_that_is_none(self):
        broken = {"traceEvents": [{"name": "x", "ph": "X", "pid": 1, "tid": 1}]}
        self.assert_refused(self.report(self.write("t.json", broken)), "not a valid timeline file", "ts")

    def test_name_of_several_lines_stays_one_line(self):
        self.assert_refused(self.report("a\nb.json"), "a b.json")

    def test_output_in_a_folder_that_is_not_there(self):
        good = self.write("good.json", results([case()]))
        self.assert_refused(self.report(good, "-o", "nowhere/page.html"), "nowhere/page.html", "cannot be written")

    def test_output_that_is_a_folder(self):
        good = self.write("good.json", results([case()]))
        self.assert_refused(self.report(good, "-o", str(self.folder)), "is a folder")

    @unittest.skipIf(os.geteuid() == 0, "root may write anywhere")
    def test_output_in_a_protected_folder(self):
        good = self.write("good.json", results([case()]))
        (self.folder / "protected").mkdir(mode=0o500)
        self.assert_refused(self.report(good, "-o", "protected/page.html"), "cannot be written")

    def test_output_never_replaces_an_input(self):
        good = self.write("good.json", results([case()]))
        self.assert_refused(self.report(good, "-o", good), "is one of the files to read")
        self.assertIn("xferbench/1", (self.folder / "good.json").read_text(encoding="utf-8"))

    def test_old_page_survives_a_failure(self):
        good = self.make(self.write("good.json", results([case()])))
        before = good.read_bytes()
        self.assertEqual(self.report(self.write("bad.json", "{"), "-o", good).returncode, 2)
        self.assertEqual(good.read_bytes(), before)

    def test_page_is_for_everyone_whom_the_mask_allows(self):
        page = self.make(self.write("good.json", results([case()])))
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual(stat.S_IMODE(page.stat().st_mode), 0o666 & ~mask)
        self.assertEqual(sorted(os.listdir(self.folder)), ["good.json", "page.html"])

    def test_default_name(self):
        self.assertEqual(self.report(self.write("good.json", results([case()]))).returncode, 0)
        self.assertTrue((self.folder / "report.html").exists())

    def script(self, *arguments, **environment):
        """The script itself."""
        return subprocess.run(
            [str(support.SCRIPTS / "report"), *arguments],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def test_same_files_make_the_same_bytes(self):
        """Whatever order Python's sets have."""
        flags = [measurement(flags=["drift", "bimodal", "outliers"])]
        cases = [case(params={"size": n, "host": host}, measurements=flags) for n in (1, 2) for host in "ab"]
        for name in ("a.json", "b.json"):
            self.write(name, results(cases))
        for seed in ("1", "2"):
            outcome = self.script("a.json", "b.json", "-o", f"{seed}.html", PYTHONHASHSEED=seed)
            self.assertEqual((outcome.returncode, outcome.stdout, outcome.stderr), (0, "", ""))
        self.assertEqual((self.folder / "1.html").read_bytes(), (self.folder / "2.html").read_bytes())

    def test_several_files_need_the_program(self):
        """One that is not there, or is something else; a single file needs none."""
        good = self.write("good.json", results([case()]))
        for program in ("/no/such/program", "/bin/true"):
            outcome = self.script(good, good, XFERBENCH_PROGRAM=program)
            self.assert_refused(outcome, program)
            self.assertEqual(self.script(good, "-o", "one.page", XFERBENCH_PROGRAM=program).returncode, 0)

    def test_page_refers_to_nothing_outside(self):
        page = self.make(self.write("good.json", results([case()]))).read_text(encoding="utf-8")
        html = page[: page.index("<script")]
        self.assertNotIn("http://", html)
        self.assertNotIn("https://", html)
        self.assertEqual(page.count("plotly.js v"), 1, "Plotly is embedded once")


if __name__ == "__main__":
    unittest.main()

"""scripts/report as its users call it: exit codes, messages, and that nothing partial is ever written."""

import json
import os
import re
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

    def test_wrong_usage(self):
        for arguments in ([], ["x.json", "--frobnicate"]):
            outcome = self.report(*arguments)
            self.assertEqual(outcome.returncode, 2)
            self.assertIn("usage: report", outcome.stderr)

    def test_help_explains(self):
        outcome = self.report("--help")
        self.assertEqual((outcome.returncode, outcome.stderr), (0, ""))
        for word in ("--output", "--title", "Exit codes"):
            self.assertIn(word, outcome.stdout)

    def test_manual_pages_name_every_flag(self):
        for script in ("report", "validate-results"):
            said = subprocess.run([support.SCRIPTS / script, "--help"], capture_output=True, text=True, check=True).stdout
            page = support.ROOT / "packaging" / "man" / f"xferbench-{script}.1"
            told = page.read_text(encoding="utf-8").replace("\\-", "-")
            flag = r"(?<![\w-])--?[a-z][a-z-]*"
            flags = set(re.findall(flag, said.partition("options:")[2].partition("Exit codes")[0]))
            self.assertGreaterEqual(flags, {"-h", "--help"})
            own = told.partition(".SH OPTIONS")[2].partition(".SH ")[0]
            self.assertEqual(flags - {"--repeat"}, set(re.findall(flag, own)), script)

    def test_files_that_make_no_report(self):
        good, broken = results([case()]), results([case(status="excellent", reason="x")])
        self.write("good.json", good)
        event = {"name": "x", "ph": "X", "pid": 1, "tid": 1}
        for name, content, words in (
            ("absent.json", None, ["absent.json: cannot be read", "No such file"]),
            (".", None, ["cannot be read"]),
            ("a\nb.json", None, ["a b.json"]),
            ("bad.json", "{", ["bad.json", "not JSON"]),
            ("nan.json", '{"x": NaN}', ["not JSON", "NaN"]),
            ("deep.json", "[" * 200000, ["not JSON"]),
            ("other.json", [], ["not a valid results file"]),
            ("broken.json", broken, ["broken.json", "results[0].status", "excellent"]),
            ("trace.json", {"traceEvents": [event]}, ["not a valid timeline file", "ts"]),
        ):
            with self.subTest(file=name):
                if content is not None:
                    self.write(name, content)
                self.assert_refused(self.report(name), *words)
                self.assert_refused(self.report("good.json", name), *words)

    def test_explanations_have_a_page_of_their_own(self):
        found = json.loads((support.ROOT / "tests/unit/golden/explain/torch.json").read_text(encoding="utf-8"))
        explained, good = self.write("explain.json", found), self.write("good.json", results([case()]))
        for several in ((explained, good), (good, explained), (explained, explained)):
            self.assert_refused(self.report(*several), "explain.json", "one such file by itself")
        self.assert_refused(self.report("--base", explained, "--new", good), "one such file by itself")
        self.assert_refused(self.report("--trend", explained), "one such file by itself")
        found["processes"][0]["findings"][0]["kind"] = "curse"
        self.assert_refused(self.report(self.write("bad.json", found)), "not a valid file of xferbench explain", "kind")
        self.assert_refused(self.report(self.write("next.json", {"schema": "xferbench-explain/2"})), "next.json")
        self.assertEqual(self.report(explained, "-q").returncode, 0)
        page = (self.folder / "report.html").read_text(encoding="utf-8")
        self.assertIn("xferbench explain: python3 train.py on NVIDIA H200", page)

    def test_outputs_that_cannot_be(self):
        good = self.write("good.json", results([case()]))
        for output, words in (
            ("nowhere/page.html", ["nowhere/page.html", "cannot be written"]),
            (str(self.folder), ["is a folder"]),
            (good, ["is one of the files to read"]),
        ):
            with self.subTest(output=output):
                self.assert_refused(self.report(good, "-o", output), *words)
        self.assertIn("xferbench/1", (self.folder / "good.json").read_text(encoding="utf-8"))

    @unittest.skipIf(os.geteuid() == 0, "root may write anywhere")
    def test_output_in_a_protected_folder(self):
        good = self.write("good.json", results([case()]))
        (self.folder / "protected").mkdir(mode=0o500)
        self.assert_refused(self.report(good, "-o", "protected/page.html"), "cannot be written")

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
        outcome = self.report(self.write("good.json", results([case()])))
        self.assertEqual((outcome.returncode, outcome.stdout), (0, ""))
        self.assertTrue((self.folder / "report.html").exists())

    def test_says_where_the_page_is(self):
        good = self.write("good.json", results([case()]))
        outcome = self.report(good, "-o", "a\x1b[2Jb.html")
        self.assertEqual(len(outcome.stderr.splitlines()), 1)
        self.assertIn("b.html", outcome.stderr)
        self.assertNotIn("\x1b", outcome.stderr)
        self.assertEqual(self.report(good, "--quiet").stderr, "")

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
            outcome = self.script("a.json", "b.json", "--quiet", "-o", f"{seed}.html", PYTHONHASHSEED=seed)
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
        self.assertEqual(page.count("plotly.js (cartesian"), 1, "Plotly is embedded once")


if __name__ == "__main__":
    unittest.main()

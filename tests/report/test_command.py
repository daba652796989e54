"""scripts/report as users call it, and its manual page."""

import os
import re
import subprocess

import support

QUICK = support.ROOT / "docs" / "results" / "h100-quick.json.xz"


class Command(support.Folder):
    def report(self, *arguments):
        """XFERBENCH_PROGRAM is set: otherwise the script would build a program."""
        command = [support.SCRIPTS / "report", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)

    def assert_made(self, outcome, page):
        self.assertEqual((outcome.returncode, outcome.stdout), (0, ""), outcome.stderr)
        self.assertEqual(os.listdir(self.folder), [page])
        self.assertTrue((self.folder / page).read_text(encoding="utf-8").startswith("<!DOCTYPE html>"))
        (self.folder / page).unlink()

    def test_makes_a_page_of_the_usual_name_or_of_any(self):
        self.assert_made(self.report(QUICK, "-q"), "report.html")
        for flags in (["-o", "a b.html"], ["--output", "a b.html"], ["--output=a b.html"]):
            self.assert_made(self.report(QUICK, *flags), "a b.html")

    def test_refuses_what_the_program_refuses(self):
        for arguments in ([], ["absent.json"], [QUICK, "--frobnicate"], [QUICK, "-o"]):
            outcome = self.report(*arguments)
            self.assertEqual((outcome.returncode, outcome.stdout), (2, ""), arguments)
            self.assertNotEqual(outcome.stderr, "")
            self.assertEqual(os.listdir(self.folder), [])

    def test_manual_pages_name_every_flag(self):
        for script in ("report", "validate-results"):
            said = subprocess.run([support.SCRIPTS / script, "--help"], capture_output=True, text=True, check=True).stdout
            page = support.ROOT / "packaging" / "man" / f"xferbench-{script}.1"
            told = page.read_text(encoding="utf-8").replace("\\-", "-")
            flag = r"(?<![\w-])-[a-z]\b"
            own = told.partition(".SH OPTIONS")[2].partition(".SH ")[0]
            self.assertEqual(set(re.findall(flag, said)) | {"-h"}, set(re.findall(flag, own)), script)


if __name__ == "__main__":
    support.require_program()
    support.main()

"""Pictures of patterns in docs/ are up to date, are readable in light and dark mode, and load nothing."""

import os
import re
import subprocess
import unittest

import support
from support import ROOT

DOCS = ROOT / "docs"
STORED = sorted([DOCS / "measured-pass.svg", *(DOCS / "patterns").glob("*.svg")])


def draw(*arguments):
    command = [ROOT / "scripts" / "pattern-pictures", *map(str, arguments)]
    environment = os.environ | {"XFERBENCH_PROGRAM": str(support.PROGRAM)}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)


class Stored(unittest.TestCase):
    def test_have_a_name_and_both_schemes_and_fetch_nothing(self):
        self.assertEqual(len(STORED), 7)
        for path in STORED:
            svg = path.read_text(encoding="utf-8")
            with self.subTest(picture=path.name):
                self.assertIn('role="img" aria-label="', svg)
                self.assertIn("prefers-color-scheme: dark", svg)
                self.assertIn("SIMULATED", svg)
                self.assertEqual(re.findall(r"(?:href|src|url)\W+(?!#)\w+:", svg), [])

    def test_each_is_shown_on_a_page(self):
        shown = {(page.parent / target).resolve() for page in DOCS.rglob("*.md")
                 for target in re.findall(r"!\[[^\]]{40,}\]\(([^)]+\.svg)\)", page.read_text(encoding="utf-8"))}
        self.assertEqual(shown, {path.resolve() for path in STORED})


class Drawn(support.Folder):
    def test_again_are_the_same(self):
        outcome = draw("-o", self.folder)
        self.assertEqual((outcome.returncode, outcome.stdout, outcome.stderr), (0, "", ""))
        for path in STORED:
            with self.subTest(picture=path.name, draw_again="scripts/pattern-pictures"):
                self.assertEqual((self.folder / path.relative_to(DOCS)).read_text(), path.read_text())

    def test_unknown_ones_are_refused(self):
        outcome = draw("-o", self.folder, "none")
        self.assertEqual((outcome.returncode, outcome.stdout), (2, ""))
        self.assertIn("no picture none; there are measured-pass", outcome.stderr)


if __name__ == "__main__":
    support.main()

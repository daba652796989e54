"""Pictures of patterns and of a terminal in docs/ are up to date, readable in light and dark mode, and load nothing."""

import os
import re
import subprocess
import unittest
import xml.etree.ElementTree

import support
from support import ROOT

DOCS = ROOT / "docs"
RECORDING = DOCS / "terminal-recording.svg"
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


class Recorded(support.Folder):
    """The terminal of README.md. Times, and which progress was seen, differ from run to run; the output does not."""

    @staticmethod
    def says(path):
        """The command, and the lines that stay, in their order."""
        texts = xml.etree.ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")
        return [one.get("data-command") or "".join(one.itertext()) for one in texts if one.get("class") != "now"]

    def test_says_what_the_program_says_now(self):
        again = self.folder / "again.svg"
        command = [ROOT / "scripts" / "terminal-recording", "-o", again]
        environment = os.environ | {"XFERBENCH_PROGRAM": str(support.PROGRAM)}
        outcome = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)
        self.assertEqual((outcome.returncode, outcome.stdout, outcome.stderr), (0, "", ""))
        self.assertEqual(self.says(again), self.says(RECORDING), "draw it again: scripts/terminal-recording")

    def test_can_be_read_by_everybody_and_is_small(self):
        svg = RECORDING.read_text(encoding="utf-8")
        self.assertLess(len(svg.encode()), 60_000)
        self.assertIn('role="img" aria-label="', svg)
        self.assertIn("prefers-color-scheme: dark", svg)
        self.assertIn("prefers-reduced-motion", svg)
        self.assertIn("SIMULATED", "".join(self.says(RECORDING)))
        self.assertNotIn("<script", svg)
        self.assertEqual(re.findall(r"(?:href|src|url)\W+(?!#)\w+:", svg), [])
        page = (ROOT / "README.md").read_text(encoding="utf-8")
        self.assertRegex(page, r"!\[[^\]]{40,}\]\(docs/terminal-recording\.svg\)")


if __name__ == "__main__":
    support.main()

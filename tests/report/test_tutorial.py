"""The tutorial as users follow it: every command runs and prints what is quoted, and every quoted number of an H200
or H100 is in the stored run that the lesson names."""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import unittest

import support
from support import RESULTS, ROOT

TUTORIAL = ROOT / "docs" / "tutorial"
LESSONS = sorted(TUTORIAL.glob("[1-9]-*.md"))
READS = ("info", "list", "check", "compare", "report", "help")  # commands that measure nothing
NOTHING_MEASURED = 5
MOST_BYTES = 600_000  # of all pictures together


def section(page, heading):
    return re.split(r"^## ", page.read_text(encoding="utf-8").partition(f"## {heading}\n")[2], flags=re.MULTILINE)[0]


def table(text):
    """Heads and rows of the first table, without code marks."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip().replace("`", "") for cell in line.strip("|").split("|")] for line in lines]
    return cells[0], cells[2:]


class Follower(support.Folder):
    """A user in an empty folder who types the tutorial's commands."""

    def setUp(self):
        super().setUp()
        for name in ("docs", "scripts"):
            (self.folder / name).symlink_to(ROOT / name)
        (self.folder / "run.json").symlink_to(RESULTS / "h200-quick.json")
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "xferbench").symlink_to(support.PROGRAM)

    def type(self, line):
        ours = {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}  # charts need UTF-8
        environment = os.environ | ours
        return subprocess.run(["bash", "-c", line], cwd=self.folder, env=environment, capture_output=True, text=True,
                              check=False, timeout=120, stdin=subprocess.DEVNULL)

    def run_line(self, line, more=""):
        """Runs a command line, with `more` if it is simulated, and returns its output. Commands that need a GPU must
        fail properly; nothing is installed."""
        words = line.split()
        if words[0] == "scripts/setup":
            self.assertIn(words[1], (ROOT / "scripts" / "setup").read_text(encoding="utf-8"))
            return ""
        if words == ["cd", "/usr/share/doc/xferbench"]:  # where packages install the files that this folder has
            return ""
        line = line.replace("/tmp/", f"{self.folder}/")
        if words[0] == "xferbench" and words[1] not in READS:
            line = line + more if "--simulate" in words else re.sub(r" --timeline \S+", "", line) + " --dry-run"
        outcome = self.type(line)
        nothing = outcome.returncode == NOTHING_MEASURED and "NOTHING MEASURED" in outcome.stdout
        refused = words[1:] == ["info"] and outcome.returncode == 3  # the expected error without a GPU
        self.assertTrue(outcome.returncode == 0 or nothing or refused, f"{line}\n{outcome.stderr}")
        return outcome.stdout

    def assert_quoted(self, quoted, printed):
        """All quoted lines are printed in this order; a line of dots stands for any lines."""
        at = 0
        for part in quoted.split("...\n"):
            found = printed.find(part, at)
            self.assertNotEqual(found, -1, f"not printed:\n{part}\nbut:\n{printed}")
            self.assertTrue(found == at or at > 0 or quoted.startswith("..."), "it begins otherwise")
            at = found + len(part)
        self.assertTrue(quoted.endswith("...\n") or at == len(printed), f"more is printed:\n{printed[at:]}")


class Commands(Follower):
    FEWER = " --no-verify --max-samples 2 --min-samples 2"  # for commands whose output is not quoted

    def test_run_and_print_what_is_quoted(self):
        quotes = 0
        for page in [TUTORIAL / "README.md", *LESSONS]:
            printed, found = None, support.blocks(page)
            for (language, text), (following, _) in zip(found, [*found[1:], (None, "")]):
                with self.subTest(page=page.name, block=text):
                    if language == "sh":
                        lines = [line.partition("#")[0].strip() for line in text.splitlines()]
                        fewer = "" if following == "" else self.FEWER
                        printed = [self.run_line(line, fewer) for line in lines if line][-1]
                    elif language == "":
                        quotes += 1
                        self.assertTrue(text.startswith("SIMULATED"), "what is quoted says that it is simulated")
                        self.assert_quoted(text, printed)
        self.assertEqual(quotes, len(LESSONS))

    def test_come_in_pairs(self):
        """Each measuring command is shown twice: for readers with a GPU and without."""
        for page in LESSONS:
            for language, text in support.blocks(page):
                lines = [line.partition("#")[0].split() for line in text.splitlines()]
                lines = [" ".join(words) for words in lines if words[:1] == ["xferbench"] and words[1] not in READS]
                if language == "sh" and lines:
                    with self.subTest(page=page.name, block=text):
                        self.assertEqual([f"{line} --simulate" for line in lines[::2]], lines[1::2])


class CommandsLong(Follower):
    FEWER = ""
    test_run_and_print_what_is_quoted = Commands.test_run_and_print_what_is_quoted


def children_of(row):
    launchers = re.search(r"(\d+) threads? launch", row[0])
    launch = row[0].partition(",")[0]
    return rf"launch={launch}/.*children={{}}/work=0/" + (rf"launchers={launchers[1]}/" if launchers else "")


# For each lesson: the stored run of its table, and a pattern for the key of a cell's case from its row and head.
QUOTED = {
    "1": ("h200-async", lambda row, head: f"h2d/host={row[0]}/api=async/in-flight=none/size={row[1].replace(' ', '')}$"),
    "2": ("h200-overlap", lambda row, head: (
        "size=256MiB/strategy=" + re.sub(r"streams, (\d+) chunks", r"streams/streams=3/chunks=\1/growth=1/", row[0]))),
    "3": ("h200-memcpy-sizes", lambda row, head: f"h2d/host={row[0]}/.*size={head.replace(' ', '')}$"),
    "4": ("h200-overlap", lambda row, head: (
        f"size=256MiB/strategy={re.match('[a-z-]+', row[0])[0]}/.*"
        f"chunks={(re.match('[0-9]+', head) or ['32'])[0]}/growth=1/")),
    "5": ("h200-callback", lambda row, head: f"method={row[0].split()[0]}/"),
    "6": ("h200-smem-stages", lambda row, head: f"method={row[0]}/.*stages={re.search('([0-9]) stage', head)[1]}/"),
    "7": ("h200-dynpar", lambda row, head: children_of(row).format(re.match("[0-9]+", head)[0])),
    "8": ("h100-scatter", lambda row, head: f"h2d/.*piece={head.replace(' ', '')}/.*way={row[0]}/"),
    "9": ("h100-storage-warm", lambda row, head: rf"way={row[0]}(/threads={head.split()[0]}/|/request=|$)"),
}
# Numbers in sentences: lesson, number, stored run, pattern of the key.
SAID = [
    ("1", "27 us", "h200-latency", "op=wait/method=stream/schedule=blocking"),
    ("1", "3 us", "h200-latency", "op=wait/method=stream/schedule=spin"),
    ("3", "14.8 GB/s", "h200-staging", "h2d/.*size=256MiB/method=direct"),
    ("3", "20.4 GB/s", "h200-staging", "h2d/.*size=256MiB/method=register"),
    ("3", "48.4 GB/s", "h200-staging", "h2d/.*size=256MiB/method=threads/threads=6/"),
    ("7", "9.11 ms", "h200-dynpar", "task=sort/size=64MiB/keys=random"),
    ("7", "2.46 ms", "h200-dynpar", "task=sort/size=64MiB/keys=random"),
    ("8", "1.4 us", "h100-scatter", "d2h/.*piece=256KiB/.*way=calls/"),
    ("8", "2.6 us", "h100-scatter", "h2d/.*piece=1MiB/.*way=calls/"),
    ("8", "45 ms", "h100-scatter", "h2d/.*piece=4KiB/.*way=calls/"),
    ("8", "1.2 ms", "h100-scatter", "h2d/.*piece=4KiB/.*way=calls/"),
    ("8", "30 %", "h100-scatter-beside", "h2d/.*way=kernel/.*beside=memory"),
    ("8", "4 %", "h100-scatter-beside", "h2d/.*way=staged/.*beside=memory"),
    ("8", "0.48 us", "h100-scatter", "h2d/.*piece=64KiB/.*way=batch/"),
    ("9", "0.56 ms", "h100-storage-warm", "way=threads/threads=12/"),
    ("9", "307 ms", "h100-storage-warm", "way=mmap$"),
    ("9", "1.36 GB/s", "h100-storage-slots", "threads=1/.*slot-memory=pinned/"),
    ("9", "2.08 GB/s", "h100-storage-slots", "threads=1/.*slot-memory=registered-huge/"),
]


class Numbers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        names = {name for name, _ in QUOTED.values()} | {name for _, _, name, _ in SAID}
        cls.cases = {name: json.loads((RESULTS / f"{name}.json").read_bytes())["results"] for name in names}

    def values(self, name, pattern):
        """All numbers of the single case that matches the pattern, with their units."""
        cases = [case for case in self.cases[name] if re.search(pattern, case["key"])]
        self.assertEqual(len({case["key"] for case in cases}), 1, (pattern, [case["key"] for case in cases]))
        found = [(metric["value"], metric["unit"]) for metric in cases[0]["metrics"].values()]
        for one in cases[0]["measurements"]:
            found += [(one[field], one["unit"]) for field in ("median", "p99") if field in one]
        return found

    def assert_found(self, quoted, values):
        """One of the values, rounded to as many digits as are quoted."""
        number, unit = re.fullmatch(r"([\d.]+) ?(us|ms|%|GB/s)", quoted).groups()
        scale, of = {"us": (1e6, "s"), "ms": (1e3, "s"), "%": (100, "1"), "GB/s": (1, "GB/s")}[unit]
        half = 0.5000001 * 10.0 ** -len(number.partition(".")[2])
        near = [value for value, its in values if its == of and abs(value * scale - float(number)) <= half]
        self.assertTrue(near, f"{quoted} is none of {sorted(value * scale for value, its in values if its == of)}")

    def test_of_tables_are_those_of_the_run_that_is_linked(self):
        checked = 0
        for page in LESSONS:
            name, key = QUOTED[page.name[0]]
            text = section(page, f"On an {name[:4].upper()}")
            self.assertIn(f"../results/{name}.json.xz", text)
            heads, rows = table(text)
            for row in rows:
                for head, cell in list(zip(heads, row))[1:]:
                    if not cell or cell.endswith(("KiB", "MiB")):
                        continue
                    quoted = cell if re.search(r"[a-z%]", cell) else f"{cell} GB/s"
                    checked += 1
                    with self.subTest(page=page.name, row=row[0], column=head, quoted=quoted):
                        self.assert_found(quoted, self.values(name, key(row, head)))
        self.assertGreater(checked, 100)

    def test_of_sentences_are_those_of_the_run_that_is_linked(self):
        pages = {page.name[0]: page.read_text(encoding="utf-8") for page in LESSONS}
        for lesson, quoted, name, pattern in SAID:
            with self.subTest(lesson=lesson, quoted=quoted):
                self.assertIn(f"{name}.json.xz", pages[lesson])
                self.assertRegex(pages[lesson], rf"\b{re.escape(quoted.split()[0])}\b")
                self.assert_found(quoted, self.values(name, pattern))


def pictures():
    path = ROOT / "scripts" / "tutorial-pictures"
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # the script imports pictures.py beside it
    loader = importlib.machinery.SourceFileLoader("tutorial_pictures", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class Pictures(support.Folder):
    DRAWN = ["1-calls"]

    def test_each_lesson_has_one_with_words_and_names_its_run(self):
        drawn = {pathlib.Path(one.name).name + ".png": one for one in pictures().ALL if one.name.startswith("tutorial/")}
        shown = []
        for page in LESSONS:
            with self.subTest(page=page.name):
                ((words, name),) = re.findall(r"!\[([^\]]+)\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
                self.assertGreater(len(words), 40)
                self.assertIn(f"](../{drawn[name].file})", page.read_text(encoding="utf-8"))
                shown.append(name)
        self.assertEqual(sorted(shown), sorted(drawn))
        self.assertEqual(sorted(shown), sorted(path.name for path in TUTORIAL.glob("*.png")))
        self.assertLess(sum(path.stat().st_size for path in TUTORIAL.glob("*.png")), MOST_BYTES)

    @unittest.skipUnless(support.BROWSER and support.DRIVER, "no chromium or chromedriver on PATH")
    def test_can_be_drawn_again(self):
        command = [ROOT / "scripts" / "tutorial-pictures", "-o", self.folder, *self.DRAWN]
        outcome = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        self.assertEqual((outcome.returncode, outcome.stdout, outcome.stderr), (0, "", ""))
        drawn = {str(path.relative_to(self.folder)): size_of(path)[0] for path in self.folder.rglob("*.png")}
        wanted = [f"{one.name}.png" for one in pictures().ALL if not self.DRAWN or one.name.endswith(tuple(self.DRAWN))]
        self.assertEqual(drawn, {name: size_of(ROOT / "docs" / name)[0] for name in wanted})

    def test_unknown_ones_are_refused(self):
        command = [ROOT / "scripts" / "tutorial-pictures", "8-nothing"]
        outcome = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual((outcome.returncode, outcome.stdout), (2, ""))
        self.assertIn("no picture 8-nothing; there are 1-calls", outcome.stderr)


class PicturesLong(support.Folder):
    DRAWN = []  # all
    test_can_be_drawn_again = Pictures.test_can_be_drawn_again


def size_of(picture):
    """Width and height of a PNG."""
    return struct.unpack(">II", picture.read_bytes()[16:24])


if __name__ == "__main__":
    support.require_program()
    support.main()

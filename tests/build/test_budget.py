"""Limits on compile time, as counts that are the same on every machine: lines that the compiler reads, and units
that include headers that take a second. Usage: test_budget.py BUILD_FOLDER [unittest's arguments]. It reads
Ninja's dependency log of a unity build."""

import collections
import functools
import re
import subprocess
import sys
import unittest
from pathlib import Path

# Lines of our own files, over all units of the program. To lower it: include less in headers, or put folders with the
# same includes into one unit (cmake/unity.cmake). `clang++ -ftime-trace` shows what is slow in one unit.
MOST_LINES = 146_000
# Most units that may include each of these headers, which take about a second each.
MOST_UNITS = {"nlohmann/json.hpp": 4, "CLI/App.hpp": 1, "regex": 0, "fmt/chrono.h": 0}
_PROGRAM = re.compile(r"^CMakeFiles/xferbench(_core|_hot|_fmt)?\.dir/.*\.c(xx|pp)\.o$")


@functools.cache
def lines_of(path):
    """Lines with code: comments cost a compiler next to nothing."""
    return sum(not re.match(rb"\s*(?://|$)", line) for line in path.read_bytes().splitlines())


def files_read(folder):
    """Returns {compilation unit of the program: the files that it reads}."""
    said = subprocess.run(["ninja", "-t", "deps"], cwd=folder, check=True, capture_output=True, text=True).stdout
    read = collections.defaultdict(list)
    unit = None
    for line in said.splitlines():
        if not line.startswith(" "):
            unit = line.partition(":")[0]
        elif unit and _PROGRAM.search(unit):
            read[unit].append((folder / line.strip()).resolve())
    return read


class Budget(unittest.TestCase):
    folder: Path

    @classmethod
    def setUpClass(cls):
        cls.read = files_read(cls.folder)
        cls.source = Path(__file__).resolve().parents[2]

    def test_our_own_lines_are_few(self):
        lines = {
            unit: sum(lines_of(f) for f in files if f.is_relative_to(self.source) and not f.is_relative_to(self.folder))
            for unit, files in self.read.items()
        }
        largest = sorted(lines.items(), key=lambda entry: -entry[1])[:5]
        self.assertGreater(len(lines), 15, "these are not all units of the program")
        self.assertLessEqual(sum(lines.values()), MOST_LINES, f"the most are in {largest}")

    def test_few_units_read_what_takes_long(self):
        for header, most in MOST_UNITS.items():
            readers = sorted(unit for unit, files in self.read.items() if any(str(f).endswith("/" + header) for f in files))
            self.assertLessEqual(len(readers), most, f"{header} is read by {readers}")


if __name__ == "__main__":
    Budget.folder = Path(sys.argv[1]).resolve()
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])

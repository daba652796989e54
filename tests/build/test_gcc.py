"""GCC, the compiler of releases, compiles all C++ without a warning; for builds made with clang.

Usage: test_gcc.py BUILD_FOLDER. It reads compile_commands.json and checks the syntax only, which takes minutes.
"""

import concurrent.futures
import json
import os
import shlex
import subprocess
import sys
import unittest
from pathlib import Path

# Flags to drop, because only clang knows them or because they produce code: {flag: number of words after it}.
_CLANGS = {"-Xclang": 1, "-Winvalid-pch": 0, "-fpch-instantiate-templates": 0, "-Werror": 0, "-c": 1, "-o": 1}


def as_gcc(entry):
    """Returns GCC's command and the source file."""
    words = iter(shlex.split(entry["command"]))
    while not next(words).endswith("clang++"):
        pass
    kept = []
    for word in words:
        if word in _CLANGS:
            for _ in range(_CLANGS[word]):
                next(words)
        else:
            kept.append(word)
    return ["g++", *kept, "-fsyntax-only", "-Werror", entry["file"]]


class Gcc(unittest.TestCase):
    maxDiff = None
    folder: Path

    def test_takes_every_unit_without_a_warning(self):
        entries = [e for e in json.loads((self.folder / "compile_commands.json").read_text())
                   if e["file"].endswith((".cpp", "_cxx.cxx")) and "clang++ " in e["command"]]
        if not entries:
            self.skipTest("this build was not made by clang")

        def said_of(entry):
            done = subprocess.run(as_gcc(entry), cwd=entry["directory"], check=False, capture_output=True, text=True)
            return done.stderr if done.returncode != 0 else ""

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            said = "".join(pool.map(said_of, entries))
        self.assertEqual(said, "")


if __name__ == "__main__":
    Gcc.folder = Path(sys.argv[1]).resolve()
    unittest.main(argv=[sys.argv[0]])

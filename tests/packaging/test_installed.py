"""Content of `cmake --install`: test_installed.py BUILD PORTABLE

Packages have the same content; test_packages.py installs and uses them, which takes minutes.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import elf

BUILD = pathlib.Path(sys.argv[1])
PORTABLE = sys.argv[2].upper() in ("ON", "TRUE", "1")
EXPECTED = (
    *("bin/xferbench", "bin/xferbench-report", "bin/xferbench-validate-results", "share/man/man1/xferbench.1"),
    *("share/xferbench/schemas/results-schema.json", "share/xferbench/suites/ci.json"),
    *("share/xferbench/expectations/h200.json", "share/doc/xferbench/README.md"),
    *("share/xferbench/scripts/report", "share/bash-completion/completions/xferbench"),
)


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="xferbench-installed-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        command = ["cmake", "--install", BUILD, "--prefix", cls.folder]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=120)

    def test_all_that_is_expected_is_there(self):
        self.assertEqual([name for name in EXPECTED if not (self.folder / name).exists()], [])
        self.assertEqual(list(self.folder.rglob("__pycache__")), [])

    def test_the_program_answers(self):
        program = self.folder / "bin/xferbench"
        command = [program, "--suite", "ci", "--simulate", "--dry-run"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=120)

    def test_programs_need_glibc_and_nothing_else(self):
        if not PORTABLE:
            self.skipTest("XFERBENCH_PORTABLE is off: this build needs the shared libraries of this machine")
        found = [path for path in self.folder.rglob("*") if not path.is_symlink() and elf.is_elf(path)]
        self.assertTrue(found)
        for path in found:
            allowed = elf.libraries_allowed(path)
            self.assertLessEqual(elf.read(path).libraries, allowed, path.name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

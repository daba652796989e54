"""Explains stored recordings of real programs, and compares predicted times with measured times of the fixed programs.

Recordings and times are those of examples/prove on an H200 and on an H100 (recordings/README.md)."""

import functools
import json
import os
import pathlib
import runpy
import subprocess
import tarfile
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PROVE = runpy.run_path(str(HERE.parents[1] / "examples" / "prove"), run_name="prove")
PROGRAM = os.environ["XFERBENCH_PROGRAM"]

# Known exceptions. The recordings of the H200 are older than samples of page faults, by which cupy_stencil has another
# first fault, and its own copies; cupy_small saves work of the program that no record shows; the mended managed did not
# yet prefetch back to the host. The fixed loops of PyTorch and CuPy still run copies and kernels in turn.
MORE_TO_MEND = {"torch_loop", "torch_train"}


class OnH200(unittest.TestCase):
    ARCHIVE, EXAMPLES = "h200", 12
    PREDICTED_ELSEWHERE, FIRST_ELSEWHERE = {"cupy_stencil", "cupy_small", "managed"}, {"cupy_stencil": "pageable"}

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        with tarfile.open(HERE / "recordings" / f"{cls.ARCHIVE}.tar.xz") as archive:
            archive.extractall(cls.folder.name)
        cls.root = pathlib.Path(cls.folder.name) / cls.ARCHIVE
        facts = json.loads((cls.root / "prove.json").read_text(encoding="utf-8"))
        cls.taken = {row["example"]: row for row in facts["examples"]}
        cls.examples = [example for example in PROVE["EXAMPLES"] if example.name in cls.taken]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    @functools.cache  # cached: all tests need the same answers
    def explained(cls, name):
        """Explains a recording with --fix for the example's fixes, which changes no other part of the answer."""
        mends = [",".join(example.mends) for example in cls.examples if example.name == name and example.mends]
        words = [PROGRAM, "explain", "--quiet", "--json", "-", *(["--fix", *mends] if mends else []), cls.root / name]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return json.loads(done.stdout)

    def test_there_are_all_of_them(self):
        self.assertGreaterEqual(len(self.examples), self.EXAMPLES)

    def test_the_first_finding_is_the_fault_that_was_put_there(self):
        for example in self.examples:
            with self.subTest(example.name):
                expected = self.FIRST_ELSEWHERE.get(example.name, (example.mends or ("",))[0])
                self.assertEqual(PROVE["first_finding"](self.explained(example.name)), expected)

    def test_mended_versions_take_what_was_predicted(self):
        for example in self.examples:
            if example.name in self.PREDICTED_ELSEWHERE:
                continue
            with self.subTest(example.name):
                told = self.explained(example.name)
                ends = PROVE["least_seconds"](told, example.way), PROVE["predicted_seconds"](told, example.way)
                truth = self.taken[example.name]["mended"]
                self.assertLess(abs(PROVE["error_of_prediction"](truth, *ends)), example.error, f"{ends} of {truth} s")

    def test_replayed_unchanged_they_take_what_they_took(self):
        for example in self.examples:
            for name in (example.name, f"{example.name}-mended"):
                if not (self.root / name).is_dir():  # versions shared by two examples are recorded once
                    continue
                with self.subTest(name):
                    self.assertLess(abs(PROVE["replay_error"](self.explained(name))), 0.03)

    def test_mended_versions_have_little_left_to_mend(self):
        for example in self.examples:
            name = f"{example.name}-mended"
            if not (self.root / name).is_dir() or example.name in MORE_TO_MEND:
                continue
            with self.subTest(name):
                self.assertLess(PROVE["largest_gain"](self.explained(name)), 0.05)

    def test_shares_add_up(self):
        for example in self.examples:
            with self.subTest(example.name):
                process = PROVE["process_of"](self.explained(example.name))
                stretch = process["stretch"]  # the profiled run may have been the faster one
                whole = max(stretch["seconds"], stretch.get("bare") or 0)
                self.assertAlmostEqual(sum(process["shares"].values()), whole, places=9)


class OnH100(OnH200):
    """Recordings with samples of page faults, reads and CPU times, and managed pages that the host waits for."""

    ARCHIVE, EXAMPLES = "h100", 5
    PREDICTED_ELSEWHERE, FIRST_ELSEWHERE = set(), {}


if __name__ == "__main__":
    unittest.main()

"""`explain` end to end, with the recording library and a stand-in for CUPTI:
test_explain.py FAKE_CUPTI VICTIM [CLASS...]; XFERBENCH_PROGRAM names the program, whose folder has the library.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

FAKE, VICTIM = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:3])
PROGRAM = os.environ["XFERBENCH_PROGRAM"]


class Explained(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.TemporaryDirectory(prefix="xferbench-explain-")
        cls.addClassCleanup(cls.shared.cleanup)
        cls.limits = str(pathlib.Path(cls.shared.name) / "limits.json")
        subprocess.run(
            [PROGRAM, "--suite", "limits", "--simulate", "h200", "--quiet", "--json", cls.limits],
            check=True,
            stdout=subprocess.DEVNULL,
        )

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="xferbench-explain-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def explain(self, life, *flags, **variables):
        """Explains the victim. Returns the JSON answer and the victim's own output."""
        answer = self.folder / "answer.json"
        command = [PROGRAM, "explain", "--limits", self.limits, "--json", answer, *flags, "--", VICTIM, life]
        environment = {n: v for n, v in os.environ.items() if not n.startswith("XFERBENCH") and "INJECTION" not in n}
        environment.update({"VICTIM_FILE": str(self.folder / "theirs"), "XFERBENCH_RECORD_CUPTI": FAKE, **variables})
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.stderr, "")
        said = json.loads(answer.read_text(encoding="utf-8"))
        self.assertEqual(done.returncode, 0 if said["processes"] else 5)
        return said, done.stdout

    def test_counts_what_the_program_did(self):
        said, output = self.explain("seven")
        self.assertTrue(output.startswith("worked\nworked\n"), output)
        (process,) = said["processes"]
        self.assertEqual(process["gpus"], ["Pretended GPU"])
        self.assertEqual(process["counts"]["copies"], 5)
        self.assertIn("bare", process["stretch"])
        self.assertIn("The program ended with exit code 7", said["warnings"])

    def test_knows_what_a_range_takes_unwatched(self):
        said, _ = self.explain("works_in_ranges", "--range", "step")
        stretch = said["processes"][0]["stretch"]
        self.assertEqual(stretch["range"], "step")
        # Three gaps of 10 ms between ranges; the last one is after all ranges.
        self.assertGreater(stretch["bare"], 0.02)
        self.assertLess(stretch["bare"], said["runs"]["bare"][0])

    def test_of_a_process_that_became_another_one_takes_neither_for_the_whole(self):
        said, _ = self.explain("executes")
        self.assertEqual(len(said["processes"]), 2)
        for process in said["processes"]:
            self.assertNotIn("bare", process["stretch"])
            self.assertLess(process["stretch"]["seconds"], said["runs"]["watched"][0])

    def test_explains_only_the_time_that_was_recorded(self):
        said, _ = self.explain("works_long", "--no-bare", "--from", "1", "--for", "1")
        stretch = said["processes"][0]["stretch"]
        self.assertLess(stretch["seconds"], 1.5)
        self.assertGreater(said["runs"]["watched"][0], 4.5)

    def test_explains_what_a_killed_process_left(self):
        said, output = self.explain("killed")
        self.assertIn("The program was killed by signal 9 (Killed)", output)
        self.assertIn("half second", said["processes"][0]["ending"])

    def test_does_not_say_of_a_program_that_it_used_no_gpu_where_it_cannot_know(self):
        said, output = self.explain("seven", FAKE_CUPTI_BUSY="1")
        self.assertEqual(said["processes"], [])
        self.assertTrue(output.startswith("worked\nworked\nNothing was recorded"), output)
        self.assertIn("another tool in this program uses CUPTI", said["blind"])
        self.assertIn(said["blind"], " ".join(output.split()))

    def test_knows_what_was_read_twice_where_that_is_asked_for(self):
        for flags, kinds in ((["--files"], {"read-twice"}), ([], set())):
            said, output = self.explain("reads_a_file", "--all", "--no-bare", *flags)
            self.assertIn("4194304 4194304 4096", output)
            found = {finding["kind"]: finding for finding in said["processes"][0]["findings"]}
            self.assertEqual(found.keys() & {"read-twice"}, kinds)
            if kinds:
                self.assertEqual(found["read-twice"]["count"], 2)
                self.assertEqual(found["read-twice"]["bytes"], 4 << 20)

    def test_leaves_a_program_without_cuda_alone(self):
        said, output = self.explain("uses_nothing")
        self.assertEqual(said["processes"], [])
        self.assertTrue(output.startswith("worked\nworked\nThe program used no GPU"), output)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])

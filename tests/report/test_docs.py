"""Whether the results that the documentation rests on are there, are described, and do what is expected of an H200."""

import copy
import json
import os
import pathlib
import re
import subprocess
import unittest

import support
from support import RESULTS, ROOT

PROGRAM = os.environ.get("XFERBENCH_PROGRAM", "")
def xferbench(*arguments, folder=None):
    command = [PROGRAM, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, timeout=120)


class Results(unittest.TestCase):
    def test_each_is_described_and_no_other(self):
        described = re.findall(r"^\| \[.*?\]\((h200-\S+)\)", (ROOT / "docs/results/README.md").read_text(), re.MULTILINE)
        there = [path.name for path in (ROOT / "docs" / "results").iterdir() if path.name != "README.md"]
        self.assertEqual(sorted(described), sorted(there))

    def test_are_not_too_many_for_a_repository(self):
        size = sum(path.stat().st_size for path in (ROOT / "docs" / "results").iterdir())
        self.assertLess(size, 4_000_000)

    def test_have_one_measurement_on_a_line(self):
        for path in RESULTS.glob("*.json"):
            text = path.read_text(encoding="utf-8")
            of_measurements = [line for line in text.splitlines() if '"samples": [' in line]
            parsed = [one for case in json.loads(text)["results"] for one in case["measurements"]]
            with self.subTest(file=path.name):
                self.assertEqual([json.loads(line.rstrip(",")) for line in of_measurements], parsed)


def slower(report, factor):
    """The same run on a slower machine: times grow, and what is better when higher falls."""
    report = copy.deepcopy(report)
    for case in report["results"]:
        for measurement in case["measurements"]:
            for field in ("min", "median", "max", "p90", "p99"):
                if field in measurement:
                    measurement[field] *= factor
            measurement["samples"] = [sample * factor for sample in measurement["samples"]]
            measurement["ci95"] = [end * factor for end in measurement.get("ci95", [])] or None
            if not measurement["ci95"]:
                del measurement["ci95"]
        for name, metric in case["metrics"].items():
            if metric["unit"] == "s":
                metric["value"] *= factor
            elif metric["unit"] == "GB/s" or name in ("efficiency", "of_pinned"):
                metric["value"] /= factor
    return report


@unittest.skipUnless(PROGRAM, "XFERBENCH_PROGRAM does not name the program")
class Expectations(support.Folder):
    def verdicts(self, path):
        outcome = xferbench("check", path, "--expect", "h200", "--json", "-")
        self.assertIn(outcome.returncode, (0, 1), outcome.stderr)
        return {row["name"]: row["verdict"] for row in json.loads(outcome.stdout)["checks"]}

    def test_hold_for_every_result_and_fail_for_a_slower_machine(self):
        """Each expectation for an H200 is met by some results, and fails if these are made 20 % slower."""
        expected = json.loads((ROOT / "scenarios/expectations/h200.json").read_text(encoding="utf-8"))["expect"]
        met = set()
        for name in ("memcpy", "memcpy-inside", "overlap", "smem", "latency", "staging", "callback"):
            path = pathlib.Path(RESULTS / f"h200-{name}.json")
            now = self.verdicts(path)
            then = self.verdicts(self.write("slower.json", slower(json.loads(path.read_text(encoding="utf-8")), 1.2)))
            with self.subTest(results=name):
                self.assertNotIn("fails", now.values())
                holding = {one for one, verdict in now.items() if verdict == "holds"}
                self.assertEqual({then[one] for one in holding}, {"fails"})
                met |= holding
        self.assertEqual(met, {one["name"] for one in expected})


if __name__ == "__main__":
    unittest.main()

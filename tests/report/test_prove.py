"""examples/prove with stand-ins for its programs: successes, failures and missing programs."""

import json
import os
import subprocess
import sys
import unittest

import support

PROVE = support.ROOT / "examples" / "prove"

# A stand-in for `xferbench explain`: returns the JSON file next to the program.
EXPLAINS = """#!/bin/sh
[ "$1" = explain ] || { echo "xferbench 0"; exit; }
while [ "$1" != -- ]; do [ "$1" = --json ] && file=$2; shift; done
cp "$2.json" "$file"
"""


def explanation(seconds, *findings, mended=None, least=None, replayed=None, withheld=""):
    found = [{"kind": kind, "seconds_after": after} for kind, after in findings]
    stretch = {"seconds": seconds, "replayed": replayed or seconds}
    process = {"stretch": stretch, "findings": found, "withheld": withheld}
    ends = {"seconds_mended": mended, "seconds_mended_least": least}
    return {"processes": [process | {name: end for name, end in ends.items() if end}]}


class Prove(support.Folder):
    def setUp(self):
        super().setUp()
        self.examples = self.folder / "examples"
        self.examples.mkdir()
        support.put_script(self.folder / "xferbench", EXPLAINS)

    def example(self, name, milliseconds, explained):
        program = self.examples / f"explain-{name}"
        support.put_script(program, f'#!/bin/sh\necho "steps: {milliseconds} ms"\n')
        (self.examples / f"explain-{name}.json").write_text(json.dumps(explained))

    def prove(self, *arguments):
        command = [sys.executable, PROVE, "--examples", self.examples, "--out", self.folder / "out", *arguments]
        outcome = subprocess.run(
            list(map(str, command)), capture_output=True, text=True, check=False, timeout=120, env=os.environ
        )
        rows = json.loads((self.folder / "out" / "prove.json").read_text())["examples"]
        return outcome, {row["example"]: row for row in rows}

    def cells(self, outcome, name):
        lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in outcome.stdout.splitlines()]
        return dict(zip(lines[0], next(line for line in lines if line[0] == name)))

    def test_a_good_prediction_stands_in_plain_letters(self):
        slow = explanation(0.101, ("pageable", 0.06), ("blocking", 0.09), mended=0.026, replayed=0.1)
        self.example("pageable-slow", 100, slow)
        self.example("pageable-mended", 25, explanation(0.025))
        outcome, rows = self.prove("--only", "pageable")
        self.assertEqual(outcome.returncode, 0, outcome.stdout)
        self.assertAlmostEqual(rows["pageable"]["error"], 0.04)
        self.assertNotIn("**", outcome.stdout)
        cells = self.cells(outcome, "pageable")
        self.assertEqual((cells["ratio"], cells["error"], cells["first finding"]), ("4.00", "+4.0 %", "pageable"))
        self.assertEqual((cells["replay"], cells["watching"], cells["left in mended"]), ("-1.0 %", "1.0 %", "0.0 %"))

    def test_the_truth_may_lie_anywhere_in_the_range(self):
        for truth, error in ((25, "+0.0 %"), (16, "**+25.0 %**"), (40, "**-25.0 %**")):
            self.example("pageable-slow", 100, explanation(0.1, ("pageable", 0.03), mended=0.03, least=0.02))
            self.example("pageable-mended", truth, explanation(truth / 1000))
            cells = self.cells(self.prove("--only", "pageable")[0], "pageable")
            self.assertEqual((cells["predicted, ms"], cells["error"]), ("20.00 to 30.00", error))

    def test_what_is_not_as_promised_stands_out(self):
        self.example("pageable-slow", 100, explanation(0.11, ("other", 0.03), mended=0.03, replayed=0.1))
        self.example("pageable-mended", 25, explanation(0.025, ("rest", 0.02)))
        outcome, _ = self.prove("--only", "pageable")
        cells = self.cells(outcome, "pageable")
        self.assertEqual((cells["error"], cells["first finding"]), ("**+20.0 %**", "**other**"))
        self.assertEqual((cells["replay"], cells["watching"]), ("**-9.1 %**", "**10.0 %**"))
        self.assertEqual(cells["left in mended"], "**20.0 %** rest")

    def test_gains_that_are_withheld_are_a_problem(self):
        self.example("pageable-slow", 100, explanation(0.1, ("pageable", None), withheld="the replay is off"))
        self.example("pageable-mended", 25, explanation(0.025))
        outcome, rows = self.prove("--only", "pageable")
        self.assertEqual(outcome.returncode, 1)
        cells = self.cells(outcome, "pageable")
        self.assertEqual((cells["predicted, ms"], cells["error"], cells["first finding"]), ("", "", "pageable"))
        self.assertEqual(cells["problem"], "withheld: the replay is off")
        self.assertNotIn("predicted", rows["pageable"])

    def test_one_that_fails_or_never_ends_keeps_none_of_the_others_from_being_tried(self):
        for name in ("pageable", "serial", "small"):
            self.example(f"{name}-slow", 50, explanation(0.05))
            self.example(f"{name}-mended", 50, explanation(0.05))
        support.put_script(self.examples / "explain-pageable-slow", "#!/bin/sh\nsleep 60\n")
        support.put_script(self.examples / "explain-serial-mended", "#!/bin/sh\necho all is lost\nexit 1\n")
        only = [word for name in ("pageable", "serial", "small", "alloc") for word in ("--only", name)]
        outcome, rows = self.prove(*only, "--timeout", "1")
        self.assertEqual(outcome.returncode, 1)
        self.assertIn("pageable-slow-bare took more than 1 s", rows["pageable"]["problem"])
        self.assertIn("serial-mended-bare ended with 1: all is lost", rows["serial"]["problem"])
        self.assertAlmostEqual(rows["serial"]["predicted"], 0.05)
        self.assertIn("FileNotFoundError", rows["alloc"]["problem"])
        self.assertNotIn("problem", rows["small"])


if __name__ == "__main__":
    unittest.main()

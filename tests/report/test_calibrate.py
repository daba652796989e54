"""Profiles made from stored results predict other stored results as well as docs/calibrate.md says."""

import json
import math
import pathlib
import re
import subprocess
import tempfile
import unittest

import jsonschema
import support

MADE_OF = [
    "h200-memcpy-sizes.json",
    "h200-memcpy.json",
    "h200-quick.json",
    "h200-scatter-blocks.json",
    "h200-scatter-batch.json",
]
STORED = support.ROOT / "docs" / "examples" / "h200-calibrated.json"


def run(*arguments, folder=None):
    """Runs the program in a folder; by default in the folder of stored results, after unpacking those that are
    named."""
    for word in map(str, arguments):
        support.RESULTS / word  # unpacks it if it is a stored result
    return support.run(*arguments, folder=folder or support.RESULTS.whole)


def validated(profile, *files, every=1):
    """The JSON of validate for these results, or for every `every`-th case of them."""
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            whole = json.loads((support.RESULTS / file).read_text())
            pathlib.Path(folder, file).write_text(json.dumps(whole | {"results": whole["results"][::every]}))
        done = run("validate", *files, "--simulate", profile, "--json", "-", folder=folder)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


class Calibrate(unittest.TestCase):
    FEWER = ("--no-verify", "--max-samples", "2", "--min-samples", "2")

    def test_the_stored_profile_is_what_stored_results_make(self):
        made = run("calibrate", *MADE_OF, "--name", "h200-calibrated")
        self.assertEqual(made.returncode, 0, made.stderr)
        made, stored = json.loads(made.stdout), json.loads(STORED.read_text())
        self.assertEqual(made["set"].keys(), stored["set"].keys())
        for name, value in stored["set"].items():
            self.assertAlmostEqual(made["set"][name] / value if value else 1, 1, 9, name)
        self.assertEqual(made["sources"].keys(), made["set"].keys(), "every number says where it comes from")

    def test_every_source_is_there(self):
        results = {file: json.loads((support.RESULTS / file).read_text())["results"] for file in MADE_OF}
        for name, source in json.loads(STORED.read_text())["sources"].items():
            files, _, what = source["source"].partition(": ")
            for file in files.split(", "):
                self.assertIn(file, MADE_OF, name)
            key, _, of_it = what.partition(" ")
            if not of_it or what.startswith("memcpy dir="):
                continue
            case = next((r for r in results[files] if r["key"] == key), None)
            self.assertIsNotNone(case, f"{name}: {key}")
            told = {m["name"] for m in case["measurements"]} | case["metrics"].keys()
            of_it = of_it.split(", median of ")[0].removesuffix(" without a duplex factor")
            for part in re.split(r" - |, ", of_it):
                self.assertIn(part, told, name)

    def test_results_that_do_not_tell_enough_are_no_profile(self):
        short = run("overlap", "--simulate", str(support.RESULTS / "h200-memcpy-sizes.json"), "--size", "1M")
        self.assertEqual(short.returncode, 2, short.stderr)
        self.assertIn("these results lack the cost of a pipeline's operations", short.stderr)

    def test_a_results_file_is_a_profile_where_it_has_enough(self):
        with tempfile.TemporaryDirectory() as folder:
            whole = f"{folder}/whole.json"
            suite = ("--suite", "calibrate", "--simulate", "--quiet", "--json", whole)
            self.assertEqual(run(*suite, *self.FEWER).returncode, 0)
            made = run("calibrate", whole, "--allow-simulated")
            self.assertEqual(json.loads(made.stdout)["description"], "calibrated on a simulated NVIDIA H200")
            simulated = run("overlap", "--simulate", whole, "--size", "1M")
            self.assertEqual(simulated.returncode, 0, simulated.stderr)
            self.assertIn("SIMULATED by profile whole (h200 with ", simulated.stdout)


class CalibrateLong(unittest.TestCase):
    """The whole suite with verification and its usual number of samples."""

    FEWER = ()
    test_of_the_whole_suite = Calibrate.test_a_results_file_is_a_profile_where_it_has_enough


class Validate(unittest.TestCase):
    EVERY = 16

    def test_what_is_held_out_comes_out_as_promised(self):
        told = validated(STORED, "h200-overlap.json", "h200-overlap-rounds.json", every=self.EVERY)
        jsonschema.validate(told, json.loads((support.ROOT / "docs" / "validation-schema.json").read_text()))
        groups = {group["name"]: group for group in told["groups"]}
        for name, most in [
            ("overlap 16 MiB", 0.03),
            ("overlap 64 MiB", 0.01),
            ("overlap 256 MiB", 0.01),
            ("overlap 16 MiB, 10 rounds", 0.01),
        ]:
            self.assertLessEqual(groups[name]["errors"]["median"], most, name)
            self.assertLessEqual(groups[name]["regret"], 0.01, name)

    def test_the_whole_space_of_tune_and_the_built_in_profile_as_well(self):
        for profile in [STORED, "h200"]:
            group = validated(profile, "h200-overlap-exhaustive.json", every=self.EVERY)["groups"][0]
            self.assertEqual(group["errors"]["cases"], math.ceil(265 / self.EVERY))
            self.assertLessEqual(group["errors"]["median"], 0.01, profile)
            self.assertLessEqual(group["regret"], 0.01, profile)

    def test_results_of_several_gpus(self):
        for name in ["together", "p2p", "overlap"]:
            told = validated("h200-x2", f"h200-x2-{name}.json")
            self.assertGreater(told["errors"]["cases"], 8, name)
            self.assertLess(told["errors"]["median"], 0.1, name)

    def test_what_a_profile_is_made_of_is_not_held_out(self):
        told = validated(STORED, "h200-quick.json")
        why = "h200-quick.json is not held out: the profile was made from a file of this name"
        self.assertTrue(any(text.startswith(why) for text in told["left_out"]), told["left_out"])

    def test_says_what_it_cannot_do(self):
        for arguments, said in [
            (["h200-overlap.json"], "validate needs --simulate"),
            (["--simulate", "h200"], "validate needs results of a machine"),
            (["h200-smem.json", "--simulate", "h200"], "the simulated device can run none of these cases"),
            (["missing.json", "--simulate", "h200"], "missing.json"),
            (["h200-overlap.json", "--simulate", "missing.json"], "cannot read missing.json: No such file"),
        ]:
            done = run("validate", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(said, done.stderr)


class Pieces(unittest.TestCase):
    """Scenario scatter: docs/lab/scatter.md tells the share of cases that come out within 5 %."""

    FILES = ["", "-both", "-blocks", "-beside", "-batch", "-pageable", "-runs", "-merged", "-strided"]
    STEADY = ("strided", "kernel", "bulk", "staged")

    def whole(self, card):
        return {name: json.loads((support.RESULTS / f"{card}-scatter{name}.json").read_text()) for name in self.FILES}

    def shares(self, profile, files):
        """The shares of all cases and of those whose times hardly vary from run to run."""
        cases = []
        for whole in files:
            with tempfile.TemporaryDirectory() as folder:
                pathlib.Path(folder, "held.json").write_text(json.dumps(whole))
                done = run("validate", "held.json", "--simulate", profile, "--json", "-", folder=folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            cases += json.loads(done.stdout)["cases"]
        near = [(case["key"], abs(case["predicted"] / case["measured"] - 1) <= 0.05) for case in cases]
        steady = [good for key, good in near if re.search(r"way=(\w+)", key)[1] in self.STEADY]
        return sum(good for _, good in near) / len(near), sum(steady) / len(steady)

    def test_built_in_profiles(self):
        for card, least in [("h100", 0.82), ("h200", 0.77)]:
            every, steady = self.shares(card, self.whole(card).values())
            self.assertGreaterEqual(every, least, card)
            self.assertGreaterEqual(steady, 0.93, card)

    def test_a_profile_of_some_sizes_predicts_others(self):
        def made_of(name, case):
            p = case["params"]
            return {
                "": p["piece"] in (4096, 65536, 1048576),
                "-blocks": p.get("blocks") == 1 and p["piece"] != 16384,
                "-batch": p["piece"] in (8192, 24576, 65536),
                "-both": p["piece"] == 65536 and p["way"] in ("kernel", "bulk"),
            }.get(name, False)

        for card, least in [("h100", 0.8), ("h200", 0.83)]:
            known, held = [], []
            for name, whole in self.whole(card).items():
                known.append(whole | {"results": [r for r in whole["results"] if made_of(name, r)]})
                held.append(whole | {"results": [r for r in whole["results"] if not made_of(name, r)]})
            with tempfile.TemporaryDirectory() as folder:
                names = [f"{i}.json" for i, whole in enumerate(known) if whole["results"]]
                for name in names:
                    pathlib.Path(folder, name).write_text(json.dumps(known[int(name.split(".")[0])]))
                made = run("calibrate", *names, "--base", card, "-o", "made.json", folder=folder)
                self.assertEqual(made.returncode, 0, made.stderr)
                every, steady = self.shares(pathlib.Path(folder, "made.json"), held)
            self.assertGreaterEqual(every, least, card)
            self.assertGreaterEqual(steady, 0.93, card)


class ValidateLong(unittest.TestCase):
    """All cases."""

    EVERY = 1
    test_what_is_held_out = Validate.test_what_is_held_out_comes_out_as_promised
    test_the_whole_space_of_tune = Validate.test_the_whole_space_of_tune_and_the_built_in_profile_as_well


if __name__ == "__main__":
    support.require_program()
    support.main()

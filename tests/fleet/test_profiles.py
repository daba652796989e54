"""Fleets of profile files: what is in them, whether they are profile files, and whether a slow part shows where it
should."""

import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import unittest

import profiles

PROGRAM = os.environ.get("XFERBENCH_PROGRAM", "")
ROOT = pathlib.Path(__file__).resolve().parents[2]


def rates(profile, folder):
    """Metrics by what is measured: copies both ways, pageable ones, and inside the GPU."""
    path = pathlib.Path(folder) / "profile.json"
    results = pathlib.Path(folder) / "results.json"
    path.write_text(json.dumps(profile), encoding="utf-8")
    subprocess.run(
        [PROGRAM, "memcpy", "--simulate", path, "--dir", "h2d,d2h,d2d", "--host", "pinned,pageable", "--size", "64M",
         "--max-samples", "20", "--no-verify", "--quiet", "--json", results],
        check=True, timeout=300, stdout=subprocess.DEVNULL)  # fmt: skip
    cases = json.loads(results.read_text(encoding="utf-8"))["results"]
    measured = {
        (case["params"]["dir"], case["params"].get("host", "")): case["metrics"]["bandwidth"]["value"]
        for case in cases
        if case["status"] == "ok"
    }
    results.unlink()
    return measured


class Fleets(unittest.TestCase):
    def test_are_the_same_for_the_same_seed_only(self):
        self.assertEqual(profiles.fleet(3, fault="link"), profiles.fleet(3, fault="link"))
        self.assertNotEqual(profiles.fleet(3, fault="link"), profiles.fleet(4, fault="link"))

    def test_have_one_fault(self):
        for seed in range(20):
            good, none = profiles.fleet(seed)
            self.assertEqual(none.ranks, ())
            for profile in good:
                self.assertLess(abs(profile["scale"]["link"] - 1), 0.05)
            for kind, part, count in (("link", "link", 1), ("gpu", "gpu", 1), ("host", "host_memory", 4)):
                fleet, fault = profiles.fleet(seed, fault=kind)
                self.assertEqual(len(fault.ranks), count)
                slow = [rank for rank, profile in enumerate(fleet) if profile["scale"][part] < 0.95]
                self.assertEqual(tuple(slow), fault.ranks, (seed, kind))

    def test_ranks_of_a_fleet_differ_by_a_percent(self):
        links = [p["scale"]["link"] for seed in range(50) for p in profiles.fleet(seed)[0]]
        # Without what lies beyond two standard deviations, 0.88 of one is left.
        self.assertAlmostEqual(statistics.stdev(links), 0.0088, delta=0.0008)
        self.assertLessEqual(max(abs(link - 1) for link in links), 0.02)
        self.assertAlmostEqual(statistics.mean(links), 1, delta=0.002)

    def test_tell_their_gpus_apart(self):
        fleet, _ = profiles.fleet(1, ranks=16, hosts=4)
        self.assertEqual(len({p["uuid"] for p in fleet}), 16)
        self.assertEqual([p["host"] for p in fleet].count("node3"), 4)

    def test_keep_to_the_schema(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("Python's jsonschema is missing")
        schema = json.loads((ROOT / "docs/profile-schema.json").read_text(encoding="utf-8"))
        example = json.loads((ROOT / "docs/examples/slow-link.json").read_text(encoding="utf-8"))
        for profile in [example, *profiles.fleet(1, fault="host")[0]]:
            jsonschema.validate(profile, schema)
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate({**example, "scale": {"lnk": 1}}, schema)

    @unittest.skipUnless(PROGRAM, "XFERBENCH_PROGRAM is not set")
    def test_a_slow_part_shows_where_it_should(self):
        pinned = [("h2d", "pinned"), ("d2h", "pinned")]
        pageable = [("h2d", "pageable"), ("d2h", "pageable")]
        inside = [("d2d", "")]
        shows = {"link": pinned, "gpu": pinned + inside, "host": pinned + pageable}
        with tempfile.TemporaryDirectory() as folder:
            for kind, low in shows.items():
                fleet, fault = profiles.fleet(5, fault=kind, spread=0)
                rank = fault.ranks[0]
                good = next(r for r in range(len(fleet)) if r not in fault.ranks)
                slow, fine = rates(fleet[rank], folder), rates(fleet[good], folder)
                self.assertEqual(set(slow), {*pinned, *pageable, *inside})
                for case, rate in slow.items():
                    with self.subTest(fault=kind, case=case):
                        self.assertAlmostEqual(rate / fine[case], 0.9 if case in low else 1, delta=0.01)


if __name__ == "__main__":
    unittest.main()

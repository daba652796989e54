"""Profiles of simulated fleets follow the schema. tests/sim/ tests that a slow part has the intended effect."""

import json
import pathlib
import unittest

import profiles

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Fleets(unittest.TestCase):
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


if __name__ == "__main__":
    unittest.main()

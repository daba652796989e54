"""Whether the files in docs/examples are what they say, as far as that can be told without a server."""

import subprocess
import unittest

import support

WORKFLOW = support.ROOT / "docs" / "examples" / "github-actions.yml"


class Workflow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import yaml

        cls.workflow = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
        cls.steps = [(name, step) for name, job in cls.workflow["jobs"].items() for step in job["steps"]]

    def test_nothing_is_allowed_but_what_a_job_asks_for(self):
        self.assertEqual(self.workflow["permissions"], {})
        for name, job in self.workflow["jobs"].items():
            with self.subTest(job=name):
                self.assertIn("permissions", job)
                writes = [scope for scope, access in job["permissions"].items() if access == "write"]
                self.assertEqual(writes, {"comment": ["pull-requests"], "store": ["contents"]}.get(name, []))

    def test_jobs_wait_for_jobs_that_exist(self):
        for job in self.workflow["jobs"].values():
            self.assertIn(job.get("needs", "measure"), self.workflow["jobs"])

    def test_only_the_job_that_measures_is_on_the_machine_with_a_gpu(self):
        here = [name for name, job in self.workflow["jobs"].items() if "self-hosted" in job["runs-on"]]
        self.assertEqual(here, ["measure"])

    def test_steps_are_valid_shell(self):
        for name, step in self.steps:
            if "run" in step:
                with self.subTest(job=name, step=step["name"]):
                    outcome = subprocess.run(
                        ["bash", "-n"], input=step["run"], capture_output=True, text=True, check=False
                    )
                    self.assertEqual((outcome.returncode, outcome.stderr), (0, ""))

    def test_no_expression_stands_in_a_script(self):
        """A branch's name in ${{ }} would become part of the script; in env it stays a value."""
        for name, step in self.steps:
            self.assertNotIn("${{", step.get("run", ""), name)

    def test_scripts_and_files_exist(self):
        text = WORKFLOW.read_text(encoding="utf-8")
        for path in ("scripts/setup", "scripts/build", "scripts/report", "docs/ci.md"):
            self.assertIn(path, text)
            self.assertTrue((support.ROOT / path).exists(), path)


if __name__ == "__main__":
    unittest.main()

"""The GitHub Action and the GitLab component: parsed, checked for inputs and scripts that do not fit, and run step by
step with the simulated device, in a checkout with a branch of stored results. Their servers are not at hand."""

import json
import os
import re
import shutil
import subprocess
import unittest

import support
from support import PROGRAM, ROOT

ACTION = ROOT / "action.yml"
COMPONENT = ROOT / "templates" / "benchmark.yml"
FLAGS = "--simulate --max-samples 12 --no-verify"
SUITE = {"schema": "xferbench-suite/1", "description": "short", "runs": ["memcpy --dir h2d --host pinned --size 4M"]}


def parsed(text):
    import yaml

    return list(yaml.safe_load_all(text))


def complaints(script):
    """Complaints of bash -n, and of shellcheck if it is installed."""
    outcome = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, check=False)
    said = outcome.stdout + outcome.stderr
    if shutil.which("shellcheck"):
        command = ["shellcheck", "--shell=bash", "-"]
        said += subprocess.run(command, input=script, capture_output=True, text=True, check=False).stdout
    return said


def variables_in(script):
    return set(re.findall(r"\$\{?(?:#|!)?(\w+)", script))


def resolved(text, values):
    """A text with each ${{ NAME }} replaced by its value."""
    return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda found: values[found[1]], text)


class Files(unittest.TestCase):
    def setUp(self):
        (self.action,) = parsed(ACTION.read_text(encoding="utf-8"))
        self.steps = self.action["runs"]["steps"]

    def test_the_action_has_what_a_composite_action_must_have(self):
        self.assertEqual(self.action["runs"]["using"], "composite")
        for part in (self.action, *self.action["inputs"].values(), *self.action["outputs"].values()):
            self.assertTrue(part["description"])
        for step in self.steps:
            self.assertEqual((step["shell"], bool(step["name"])), ("bash", True))

    def test_inputs_of_the_action_are_used_and_what_is_used_is_there(self):
        text = ACTION.read_text(encoding="utf-8")
        self.assertEqual(set(re.findall(r"\binputs\.([\w-]+)", text)), self.action["inputs"].keys())
        written = {
            f"{step['id']}.{name}" for step in self.steps if "id" in step
            for name in re.findall(r'echo "(\w+)=.*" >> "\$GITHUB_OUTPUT"', step["run"])
        }
        self.assertEqual(set(re.findall(r"\bsteps\.(\w+)\.outputs\.\w+", text)), {name.split(".")[0] for name in written})
        self.assertLessEqual(
            {f"{step}.{name}" for step, name in re.findall(r"\bsteps\.(\w+)\.outputs\.(\w+)", text)}, written
        )

    def test_steps_use_their_variables_and_hold_no_expression(self):
        """An input in ${{ }} would become part of the script; in env it stays a value."""
        for step in self.steps:
            with self.subTest(step["name"]):
                self.assertNotIn("${{", step["run"])
                self.assertLessEqual(step["env"].keys(), variables_in(step["run"]))
                self.assertEqual(complaints(step["run"]), "")

    def test_inputs_of_the_component_are_used_and_what_is_used_is_there(self):
        text = COMPONENT.read_text(encoding="utf-8")
        head, job = parsed(text)
        inputs = head["spec"]["inputs"]
        self.assertEqual(set(re.findall(r"\$\[\[ inputs\.([\w-]+) \]\]", text)), inputs.keys())
        for name, one in inputs.items():
            self.assertTrue(one["description"] and "default" in one, name)
        (job,) = job.values()
        (script,) = job["script"]
        self.assertNotIn("$[[", script, "an input would become part of the script")
        self.assertLessEqual(job["variables"].keys(), variables_in(script))
        self.assertEqual(complaints(script), "")
        of_requests = [rule["if"] for rule in job["rules"] if "merge_request_event" in rule["if"]]
        self.assertEqual(len(of_requests), 1)
        self.assertIn("$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_PROJECT_ID", of_requests[0])


@unittest.skipUnless(PROGRAM, "XFERBENCH_PROGRAM does not name the program")
class Runs(support.Folder):
    """In a checkout whose origin has the branches `same` and `faster` with stored results."""

    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(support.tempfile.TemporaryDirectory(prefix="xferbench-ci-"))
        cls.origin = support.pathlib.Path(folder, "origin")
        cls.git("init", "--quiet", "--initial-branch=same", cls.origin)
        suite = cls.origin / "suite"
        suite.write_text(json.dumps(SUITE), encoding="utf-8")
        base = cls.origin / "base.json"
        support.run("--suite", suite, *FLAGS.split(), "--json", base, code=0)
        cls.commit()
        cls.git("checkout", "--quiet", "-b", "faster", folder=cls.origin)
        record = json.loads(base.read_text(encoding="utf-8"))
        for one in (one for result in record["results"] for one in result["measurements"]):
            for name in {"samples", "ci95", "min", "median", "max", "p90"} & one.keys():
                one[name] = [x / 2 for x in one[name]] if isinstance(one[name], list) else one[name] / 2
        base.write_text(json.dumps(record), encoding="utf-8")
        cls.commit()

    @staticmethod
    def git(*arguments, folder=None):
        identity = ("-c", "user.name=test", "-c", "user.email=test@localhost")
        subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, timeout=60)

    @classmethod
    def commit(cls):
        cls.git("add", ".", folder=cls.origin)
        cls.git("commit", "--quiet", "-m", "numbers", folder=cls.origin)

    def setUp(self):
        super().setUp()
        self.git("clone", "--quiet", self.origin, self.folder / "checkout")
        self.checkout = self.folder / "checkout"
        support.put_script(self.folder / "bin" / "xferbench", f'#!/bin/sh\nexec {PROGRAM} "$@"\n')
        self.path = {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}

    def bash(self, script, environment):
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], cwd=self.checkout, stdin=subprocess.DEVNULL,
            env=os.environ | self.path | environment, capture_output=True, text=True, check=False, timeout=300,
        )

    def act(self, **given):
        """Runs the action's steps as GitHub does. Returns the exit code of the last one, the outcome, the summary and
        what was written to standard error."""
        (action,) = parsed(ACTION.read_text(encoding="utf-8"))
        values = {f"inputs.{name}": one["default"] for name, one in action["inputs"].items()}
        values |= {"inputs.suite": "./suite", "inputs.flags": FLAGS, "github.action_path": str(ROOT)}
        values |= {f"inputs.{name.replace('_', '-')}": text for name, text in given.items()}
        summary, errors = self.folder / "summary", ""
        for step in action["runs"]["steps"]:
            condition = re.sub(r"\b(?:inputs|steps)\.[\w.-]+", lambda name: repr(values[name[0]]), step.get("if", "True"))
            if not eval(condition.replace("&&", " and ")):
                continue
            output = self.folder / "output"
            output.write_text("", encoding="utf-8")
            environment = {name: resolved(text, values) for name, text in step["env"].items()}
            environment |= {"GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary)}
            outcome = self.bash(step["run"], environment)
            errors += outcome.stderr
            for line in output.read_text(encoding="utf-8").splitlines():
                name, _, text = line.partition("=")
                values[f"steps.{step['id']}.outputs.{name}"] = text
            if outcome.returncode != 0:
                break
        said = summary.read_text(encoding="utf-8") if summary.exists() else ""
        return outcome.returncode, values.get("steps.compare.outputs.outcome"), said, errors

    def gitlab(self, **given):
        """Runs the component's job as GitLab's runner does."""
        text = COMPONENT.read_text(encoding="utf-8")
        values = {name: one["default"] for name, one in parsed(text)[0]["spec"]["inputs"].items()}
        values |= {"suite": "./suite", "flags": FLAGS} | {name.replace("_", "-"): one for name, one in given.items()}

        def value(found):
            one = values[found[1]]
            return json.dumps(one) if isinstance(one, list) else one

        (job,) = parsed(re.sub(r"\$\[\[ inputs\.([\w-]+) \]\]", value, text))[1].values()
        self.assertEqual((job["stage"], job["tags"]), ("test", ["gpu"]))
        variables = {name: one for name, one in job["variables"].items()}
        outcome = self.bash("\n".join(job["script"]), variables | {"CI_JOB_URL": "https://gitlab.example.com/-/jobs/1"})
        for path in (*job["artifacts"]["reports"].values(), *job["artifacts"]["paths"]):
            self.assertTrue((self.checkout / path).exists(), path)
        return outcome

    def test_action_without_a_base_says_what_to_store(self):
        for given in ({}, {"base_branch": "there-is-none"}):
            code, outcome, said, errors = self.act(**given)
            self.assertEqual((code, outcome), (0, "none"), errors)
            self.assertIn("store xferbench-results/new.json", said)
            self.assertIn("SIMULATED", said)
            self.assertTrue((self.checkout / "xferbench-results/page.html").exists())

    def test_action_with_the_same_numbers_passes(self):
        code, outcome, said, errors = self.act(base_branch="same", folder="out")
        self.assertEqual((code, outcome), (0, "0"), errors)
        self.assertIn("SIMULATED", said)
        self.assertNotIn("::error", errors)

    def test_action_with_a_faster_base_annotates_and_fails(self):
        code, outcome, said, errors = self.act(base_branch="faster")
        self.assertEqual((code, outcome), (1, "1"), errors)
        self.assertIn("::error", errors)
        self.assertIn("regressed", said)
        code, outcome, _, _ = self.act(base="xferbench-results/base", fail="false")
        self.assertEqual((code, outcome), (0, "1"))

    def test_action_obeys_a_run_that_fails_and_a_base_that_is_none(self):
        self.assertEqual(self.act(flags="--simulate no-such-machine")[:2], (2, None))
        (self.checkout / "broken").mkdir()
        (self.checkout / "broken" / "base.json").write_text("{}", encoding="utf-8")
        self.assertEqual(self.act(base="broken")[:2], (2, "2"))

    def test_component_compares_and_links_its_page(self):
        for branch, code in (("", 0), ("there-is-none", 0), ("same", 0), ("faster", 1)):
            with self.subTest(branch):
                outcome = self.gitlab(base_branch=branch)
                self.assertEqual(outcome.returncode, code, outcome.stderr)
                shutil.rmtree(self.checkout / "xferbench-results/base")
        links = json.loads((self.checkout / "xferbench-results/links.json").read_text(encoding="utf-8"))
        url = links["xferbench"][0]["external_link"]["url"]
        self.assertEqual(url, "https://gitlab.example.com/-/jobs/1/artifacts/file/xferbench-results/page.html")


if __name__ == "__main__":
    unittest.main()

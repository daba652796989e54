"""The files in docs/examples work, as far as that can be tested without their servers."""

import os
import re
import shutil
import subprocess
import unittest

import support
from support import PROGRAM, ROOT

EXAMPLES = ROOT / "docs" / "examples"
WORKFLOW = EXAMPLES / "github-actions.yml"
GITLAB = EXAMPLES / "gitlab-ci.yml"
JENKINS = EXAMPLES / "Jenkinsfile"
SLURM = EXAMPLES / "slurm-prolog.sh"
KUBERNETES = EXAMPLES / "kubernetes-job.yml"


def parsed(path):
    import yaml

    return yaml.safe_load(path.read_text(encoding="utf-8"))


def complaints(script):
    """Complaints of bash -n, and of shellcheck if it is installed."""
    outcome = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, check=False)
    said = outcome.stdout + outcome.stderr
    if shutil.which("shellcheck"):
        # The script itself does not name its shell: the workflow or the pod does.
        command = ["shellcheck", "--shell=bash", "-"]
        said += subprocess.run(command, input=script, capture_output=True, text=True, check=False).stdout
    return said


def in_pod():
    return parsed(KUBERNETES)["spec"]["template"]["spec"]["containers"][0]


def steps_of_jenkins():
    return re.findall(r"^\s*sh '(.*)'$", JENKINS.read_text(encoding="utf-8"), re.MULTILINE)


SCRIPTS = {
    "GitLab": lambda: "\n".join(parsed(GITLAB)["gpu-check"]["script"]),
    "Jenkins": lambda: "\n".join(steps_of_jenkins()),
    "Slurm": lambda: SLURM.read_text(encoding="utf-8"),
    "Kubernetes": lambda: in_pod()["args"][0],
}


class Workflow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.workflow = parsed(WORKFLOW)
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
        """A branch name in ${{ }} would become part of the script; in env it stays a value."""
        for name, step in self.steps:
            self.assertNotIn("${{", step.get("run", ""), name)

    def test_scripts_and_files_exist(self):
        text = WORKFLOW.read_text(encoding="utf-8")
        for path in ("scripts/setup", "scripts/build", "scripts/xferbench", "docs/ci.md"):
            self.assertIn(path, text)
            self.assertTrue((support.ROOT / path).exists(), path)


class OtherSystems(unittest.TestCase):
    def test_scripts_are_valid_and_shellcheck_would_change_nothing(self):
        for system, script in SCRIPTS.items():
            with self.subTest(system):
                self.assertEqual(complaints(script()), "")

    def test_gitlab_reads_the_files_that_the_script_writes_and_runs_no_code_of_strangers(self):
        job = parsed(GITLAB)["gpu-check"]
        self.assertIn(job["stage"], parsed(GITLAB)["stages"])
        written = " ".join(job["script"])
        self.assertIn(f"--junit {job['artifacts']['reports']['junit']}", written)
        self.assertIn(f"--openmetrics {job['artifacts']['reports']['metrics']}", written)
        self.assertEqual(job["artifacts"]["when"], "always")
        of_requests = [rule["if"] for rule in job["rules"] if "merge_request_event" in rule["if"]]
        self.assertEqual(len(of_requests), 1)
        self.assertIn("$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_PROJECT_ID", of_requests[0])

    def test_jenkins_has_a_pipeline_with_balanced_braces_that_reads_what_it_writes(self):
        text = re.sub(r"//.*", "", JENKINS.read_text(encoding="utf-8"))
        outside = re.sub(r"'[^'\n]*'", "''", text)
        depth = 0
        for bracket in re.findall(r"[{}()]", outside):
            depth += 1 if bracket in "{(" else -1
            self.assertGreaterEqual(depth, 0)
        self.assertEqual(depth, 0)
        self.assertTrue(text.lstrip().startswith("pipeline {"))
        for part in ("agent", "stages", "post", "always"):
            self.assertRegex(outside, rf"\b{part} {{")
        (shown,) = re.findall(r"junit testResults: '(.*?)'", text)
        self.assertTrue(any(f"--junit {shown} " in step for step in steps_of_jenkins()))

    def test_jenkins_is_groovy(self):
        groovy = shutil.which("groovy")
        if not groovy:
            self.skipTest("groovy is not installed")
        parse = f"new GroovyShell().parse(new File('{JENKINS}'))"
        outcome = subprocess.run([groovy, "-e", parse], capture_output=True, text=True, check=False)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)

    def test_kubernetes_has_a_job_that_is_tried_once_with_a_gpu_and_its_volumes(self):
        job = parsed(KUBERNETES)
        self.assertEqual((job["apiVersion"], job["kind"], job["spec"]["backoffLimit"]), ("batch/v1", "Job", 0))
        pod = job["spec"]["template"]["spec"]
        self.assertEqual(pod["restartPolicy"], "Never")
        self.assertEqual(in_pod()["resources"]["limits"], {"nvidia.com/gpu": 1})
        mounts = {mount["name"]: mount["mountPath"] for mount in in_pod()["volumeMounts"]}
        self.assertEqual(sorted(mounts), sorted(volume["name"] for volume in pod["volumes"]))
        for path in mounts.values():
            self.assertIn(path, in_pod()["args"][0])


@unittest.skipUnless(PROGRAM, "XFERBENCH_PROGRAM does not name the program")
class Commands(support.Folder):
    """Runs the scripts with an xferbench that simulates, and a Slurm that logs its arguments."""

    def setUp(self):
        super().setUp()
        self.log = self.folder / "log"
        self.put("xferbench", f'''case $1 in
  version | check) more= ;;
  *) more="--simulate --no-verify --max-samples 6" ;;
esac
echo "$@" >> {self.log}
if [ "$1" = check ]; then more=--allow-simulated; fi
if [ "$1" = "$FAILING" ]; then exit "$CODE"; fi
exec {PROGRAM} "$@" $more''')
        for name in ("scontrol", "logger"):
            self.put(name, f'echo {name} "$@" >> {self.log}')

    def put(self, name, script):
        path = self.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)

    def run_script(self, script, **variables):
        for folder in ("/results", "/metrics", "/var/lib/prometheus/node-exporter"):
            script = script.replace(folder, str(self.folder))
        environment = os.environ | {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "FAILING": "", "CODE": ""}
        return subprocess.run(
            ["bash", "-euc", script], cwd=self.folder, env=environment | variables, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False, timeout=300,
        )

    def logged(self):
        return self.log.read_text(encoding="utf-8") if self.log.exists() else ""

    def test_are_taken_by_the_program_and_write_what_the_system_reads(self):
        files = {
            "GitLab": ("quick.json", "metrics.txt", "check.xml"),
            "Jenkins": ("quick.json", "check.xml"),
            "Slurm": ("xferbench-gpu-0.prom",),
            "Kubernetes": ("quick.json", "xferbench.prom"),
        }
        for system, script in SCRIPTS.items():
            with self.subTest(system):
                # A simulated H200 meets the expectations for an H200.
                outcome = self.run_script(script(), SLURM_JOB_GPUS="0")
                self.assertEqual(outcome.returncode, 0, outcome.stderr + outcome.stdout)
                for name in files[system]:
                    self.assertTrue((self.folder / name).exists(), name)
                    (self.folder / name).unlink()
                self.assertNotIn("scontrol", self.logged())

    def test_of_slurm_drain_for_what_is_wrong_with_the_gpu_and_for_nothing_else(self):
        script = SCRIPTS["Slurm"]()
        self.assertEqual(self.run_script(script).returncode, 0)
        self.assertEqual(self.logged(), "", "a job without GPUs")
        for failing, code, drains in (
            ("memcpy", 1, True), ("memcpy", 2, False), ("memcpy", 3, True), ("memcpy", 6, True), ("memcpy", 130, False),
            ("check", 1, True), ("check", 2, False),
        ):
            with self.subTest(failing=failing, code=code):
                self.log.unlink(missing_ok=True)
                outcome = self.run_script(script, SLURM_JOB_GPUS="0", FAILING=failing, CODE=str(code))
                self.assertEqual(outcome.returncode, 1 if drains else 0)
                self.assertEqual("scontrol update nodename=" in self.logged(), drains, self.logged())

    def test_of_slurm_look_at_every_gpu_of_the_job(self):
        self.put("xferbench", f'echo "$@" >> {self.log}')
        self.assertEqual(self.run_script(SCRIPTS["Slurm"](), SLURM_JOB_GPUS="0,3").returncode, 0)
        self.assertEqual(re.findall(r"^memcpy .*--gpu (\d)", self.logged(), re.MULTILINE), ["0", "3"])


if __name__ == "__main__":
    unittest.main()

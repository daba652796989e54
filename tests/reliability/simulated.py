"""Promises that tests of the simulated device show in more detail than the program can."""

import os
import subprocess
from typing import NamedTuple
from xml.etree import ElementTree

from .support import build


class Tested(NamedTuple):
    holds: bool
    shown: str
    found: int = 0
    injected: int = 0


def tested(setting, chosen, environment=None):
    """Runs the chosen sim_tests. Returns their outcome and the counts of injected and found corruption."""
    program = setting.beside("sim_tests")
    if program is None and not setting.short:
        program = build("no-cuda", "sim_tests") / "tests" / "sim_tests"
    if program is None:
        return Tested(False, "no sim_tests beside the program")
    with setting.scratch() as folder:
        report = folder / "report.xml"
        command = [str(program), f"--gtest_filter={chosen}", f"--gtest_output=xml:{report}"]
        env = {**os.environ, **(environment or {})}
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=3600, env=env)
        cases = list(ElementTree.parse(report).iter("testcase")) if report.exists() else []
    if done.returncode != 0 or not cases:
        setting.say(f"  does not hold: {len(cases)} tests, exit code {done.returncode}: {done.stdout[-1000:]}")
        return Tested(False, f"exit code {done.returncode} of {len(cases)} tests")
    noted = {one.get("name"): int(one.get("value")) for case in cases for one in case.iter("property")}
    counts = noted.get("found", 0), noted.get("injected", 0)
    return Tested(True, f"{len(cases)} tests on the simulated device passed", *counts)

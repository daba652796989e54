"""Faults of every device call, once or from then on: the run continues or reports why not, and --resume completes
it."""

import re

from . import commands
from .simulated import tested
from .support import Figure, Tally, how, is_results, read_json, statuses

TITLE = "injected device faults"

_LISTED = re.compile(rb"CALL is one of ([\w, -]+)")
_OF_SIMULATION = {"alloc", "smem", "dynpar"}  # skipped in simulations, so they make no call


def calls_that_can_fail(setting):
    """The calls that can fail, as listed by the program."""
    outcome = setting.run("memcpy", *commands.SMALL, environment={"XFERBENCH_INJECT": "fail:?:1"})
    found = _LISTED.search(outcome.err)
    if not found:
        raise RuntimeError(f"the program does not list the calls that can fail: {how(outcome)}")
    return [name.strip() for name in found[1].decode().split(",")]


class Tried:
    """Runs one scenario with one injected fault."""

    def __init__(self, setting, tally, undisturbed):
        self._setting, self._tally, self._undisturbed = setting, tally, undisturbed
        self.hit = self.resumed = 0

    def __call__(self, plan):
        scenario, effect, call, nth = plan
        what = f"{scenario}, {effect}:{call}:{nth}"
        with self._setting.scratch() as folder:
            file = folder / "r.json"
            outcome = self._setting.run(
                scenario, *commands.SCENARIOS[scenario], *commands.SMALL, "--json", file,
                environment={"XFERBENCH_INJECT": f"{effect}:{call}:{nth}"},
            )
            ended = not outcome.by_signal and not outcome.hung and outcome.code in (0, 1, 2, 3, 5)
            if not self._tally.expect(ended, lambda: f"{what}: {how(outcome)}"):
                return 0
            if not file.exists():
                self._tally.expect(outcome.code in (1, 2, 3), lambda: f"{what}: no file, {how(outcome)}")
                return 0
            found = read_json(file)
            if not self._tally.expect(is_results(found), f"{what}: the file is not valid"):
                return 0
            return self._told_and_resumed(what, outcome, found, file)

    def _told_and_resumed(self, what, outcome, found, file):
        expected = statuses(self._undisturbed[what.split(",")[0]])
        now = statuses(found)
        worse = [key for key in expected if expected[key] == "ok" and now.get(key) != "ok"]
        self.hit += bool(worse)
        if outcome.code == 0:
            self._tally.expect(not worse, lambda: f"{what}: exit code 0, and {worse[0]} is {now.get(worse[0])}")
        reasons = [case["reason"] for case in found["results"] if case["status"] != "ok"]
        self._tally.expect(all(reasons), f"{what}: a case was not measured, and no reason is given")
        skipped = [key for key in worse if now.get(key) in ("skipped", None)]
        if not skipped:
            return 0
        again = self._setting.run("--resume", file, "--quiet")
        self._tally.expect(again.code in (0, 1), lambda: f"{what}, resumed: {how(again)}")
        after = statuses(read_json(file))
        left = [key for key in skipped if after.get(key) != "ok"]
        self._tally.expect(not left, lambda: f"{what}, resumed: {left[0]} is {after.get(left[0])}")
        self.resumed += 1
        return 1


def device_faults_are_survived(setting):
    tally = Tally(setting)
    undisturbed = {}
    with setting.scratch() as folder:
        for scenario, flags in commands.SCENARIOS.items():
            setting.run(scenario, *flags, *commands.SMALL, "--json", folder / f"{scenario}.json")
            undisturbed[scenario] = read_json(folder / f"{scenario}.json")
    calls = calls_that_can_fail(setting)
    scenarios = [name for name in commands.SCENARIOS if name not in _OF_SIMULATION]
    numbers = setting.number((1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233), (2, 21))
    plans = [
        (scenario, effect, call, nth)
        for scenario in scenarios for effect in ("fail", "lose") for call in calls for nth in numbers
    ]
    plans = plans[:: setting.number(1, 7, 43)]
    one = Tried(setting, tally, undisturbed)
    setting.side_by_side(one, plans)
    found = [
        Figure(
            "each call fails at its n-th, once or for good: no hang, told, completed by --resume",
            f"{tally.bad} of {tally.tried} checks failed: {len(plans)} faults, {one.hit} hit, {one.resumed} resumed",
            tally.bad == 0 and one.hit > 0 and one.resumed > 0,
        )
    ]
    if not setting.short:  # a selection of these already runs in the ordinary tests
        every = tested(setting, "*DeviceFaults*", {"XFERBENCH_EVERY_CALL": "1"})
        found.append(Figure("each call of each scenario, in the process itself", every.shown, every.holds))
    return found

"""Every system call and every allocation fails in turn: results must not be lost, and files must stay valid."""

import errno
import json

from . import commands
from .support import EXIT_CODES, Figure, Tally, how, is_results, read_json

TITLE = "faults are swept"

ERRORS = ("ENOSPC", "EIO", "EACCES", "EMFILE", "EINTR", "EOPNOTSUPP", "EROFS")
FROM_THEN_ON = 1_000_000_000
_WRITES = ("--json", "{out}/r.json", "--csv", "{out}/r.csv", "--markdown", "{out}/r.md")
_SMALL = ("memcpy", "--dir", "h2d", "--host", "pinned", "--size", "4K,64K", *commands.SMALL)
# Above 256 KiB a results file has a journal: a megabyte in few cases, and in the quick form just above 256 KiB.
_LONG = ("memcpy", "--dir", "h2d", "--host", "pinned", "--simulate", "--no-verify")
_MEGABYTE = ("--size", "4K:32M", "--min-samples", "1000", "--max-samples", "1000")
_JUST_LONG = ("--size", "1K:140K:+1K", "--min-samples", "2", "--max-samples", "2")
_TUNE = ("tune", "overlap", "--size", "64K", "--simulate", "--max-samples", "10", "--budget", "0.001")


def all_commands(setting):
    long_run = (*_LONG, *setting.number(_MEGABYTE, _MEGABYTE, _JUST_LONG), "--json", "{out}/r.json")
    tune = (*_TUNE, *setting.number((), (), ("--streams", "1,2", "--chunks", "2,4")), "--json", "{out}/r.json")
    return [
        commands.Command("run", (*_SMALL, *_WRITES), ("r.json", "r.csv", "r.md")),
        commands.Command("run onto a file", (*_SMALL, "--turns", "2", "--json", "{out}/old.json"), ("old.json",)),
        commands.Command("resume", ("--resume", "{out}/cut.json"), ("cut.json",)),
        commands.Command(
            "compare", ("compare", "{base}", "{new}", "--allow-simulated", "--json", "{out}/c.json"), ("c.json",)
        ),
        commands.Command("long run", long_run, ("r.json",)),
        commands.Command("check", ("check", "{base}", "--expect", "h200", "--allow-simulated")),
        commands.Command("tune", tune, ("r.json",)),
        commands.Command("list", ("list",)),
    ]


class Sweep:
    """One command whose calls of a kind fail one after another."""

    def __init__(self, setting, tally, command, files):
        self._setting, self._tally, self._command, self._files = setting, tally, command, files
        base = read_json(files["base"])
        self._old = json.dumps(base).encode()
        self._cut = json.dumps(commands.cut_off(base)).encode()
        self._expected = self._undisturbed()

    def _prepare(self, folder):
        (folder / "old.json").write_bytes(self._old)
        (folder / "cut.json").write_bytes(self._cut)
        return self._command.filled({**self._files, "out": str(folder)})

    def _undisturbed(self):
        with self._setting.scratch() as folder:
            outcome = self._setting.run(*self._prepare(folder))
            self._tally.expect(outcome.code in (0, 1, 4), lambda: f"{self._command.name}, undisturbed: {how(outcome)}")
            return outcome.code, self._lines(folder)

    def _lines(self, folder):
        return {name: count_of_lines(folder / name) for name in self._command.writes if not name.endswith(".json")}

    def count(self, calls):
        """The number of calls that the command makes."""
        with self._setting.scratch() as folder:
            report = folder / "report"
            self._setting.run(*self._prepare(folder), environment=self._setting.failing(calls, 0, report=report))
            return int(report.read_text(encoding="utf-8").split()[-1])

    def one(self, calls, number, error, count=1):
        """Makes the call with this number fail. Returns whether there was such a call."""
        with self._setting.scratch() as folder, self._setting.scratch() as aside:
            report = aside / "report"
            failing = self._setting.failing(calls, number, count, getattr(errno, error), report)
            outcome = self._setting.run(*self._prepare(folder), environment=failing)
            lines = report.read_text(encoding="utf-8").splitlines() if report.exists() else []
            failed = [line for line in lines if not line.startswith("end")]
            later = ", and all later" if count > 1 else ""
            what = f"{self._command.name}: {error} by call {number} ({' '.join(failed)}){later}"
            self._judge(outcome, folder, what)
            return bool(failed)

    def _judge(self, outcome, folder, what):
        ended = not outcome.by_signal and not outcome.hung and outcome.code in EXIT_CODES
        if not self._tally.expect(ended, lambda: f"{what}: {how(outcome)}"):
            return
        for name in self._command.writes:
            if name.endswith(".json"):
                self._judge_json(outcome, folder / name, what)
        if outcome.code == self._expected[0]:
            same = self._lines(folder) == self._expected[1]
            self._tally.expect(same, f"{what}: exit code {outcome.code}, and a file is missing or cut off")
        if "old.json" in self._command.writes:
            kept = [path.read_bytes() for path in (folder / "old.json", folder / "old.json~") if path.is_file()]
            written = is_results(read_json(folder / "old.json")) and read_json(folder / "old.json")["complete"]
            self._tally.expect(self._old in kept or written, f"{what}: neither the old results are there nor new ones")

    def _judge_json(self, outcome, path, what):
        there = read_json(path)
        if path.name == "c.json":
            valid, complete = isinstance(there, dict), isinstance(there, dict)
        else:
            valid = is_results(there)
            complete = valid and there["complete"] and bool(there["results"])
        self._tally.expect(valid or not path.exists(), lambda: f"{what}: {path.name} is not valid")
        if outcome.code == 0:
            self._tally.expect(complete, lambda: f"{what}: exit code 0, and {path.name} is not complete")


def count_of_lines(path):
    return path.read_bytes().count(b"\n") if path.exists() else -1


def chosen(count, most):
    """All numbers from 1 to count, or `most` of them, evenly spread."""
    if most is None or count <= most:
        return range(1, count + 1)
    return sorted({1 + i * (count - 1) // (most - 1) for i in range(most)})


def calls_fail(setting, tally, files):
    """Each call fails once with each error, and from some calls on all fail."""
    tried = 0
    for command in all_commands(setting)[:: setting.number(1, 2)]:
        sweep = Sweep(setting, tally, command, files)
        count = sweep.count("all")
        setting.say(f"  {command.name}: {count} calls")
        plans = []
        for error in setting.number(ERRORS, ("ENOSPC", "EINTR")):
            plans += [(number, error, 1) for number in chosen(count, setting.number(None, 12, 4))]
        plans += [(number, "EIO", FROM_THEN_ON) for number in chosen(count, setting.number(None, 6, 2))]
        hit = setting.side_by_side(lambda plan, sweep=sweep: sweep.one("all", plan[0], plan[1], plan[2]), plans)
        tried += sum(hit)
    return tried


def allocations_fail(setting, tally, files):
    """Each allocation fails once: in the full form all of a run's, and one in fifty of other commands."""
    tried = 0
    for command in all_commands(setting)[:: setting.number(1, 3)]:
        sweep = Sweep(setting, tally, command, files)
        count = sweep.count("memory")
        setting.say(f"  {command.name}: {count} allocations")
        most = None if command.name == "run" else count // 50
        numbers = chosen(count, setting.number(most, 25, 7))
        tried += sum(setting.side_by_side(lambda number, sweep=sweep: sweep.one("memory", number, "ENOMEM"), numbers))
    return tried


def faults_are_swept(setting):
    calls, allocations = Tally(setting), Tally(setting)
    with setting.scratch() as scratch:
        files = commands.make_files(setting, scratch)
        failed_calls = calls_fail(setting, calls, files)
        failed_allocations = allocations_fail(setting, allocations, files)
    errors = len(setting.number(ERRORS, ("", "")))
    return [
        Figure(
            "each call of the system fails: no invalid file, crash, hang",
            f"{calls.bad} bad ends in {failed_calls:,} faults of {errors} kinds",
            calls.bad == 0 and failed_calls > 0,
        ),
        Figure(
            "each allocation fails: no invalid file, crash, hang",
            f"{allocations.bad} bad ends in {failed_allocations:,} faults",
            allocations.bad == 0 and failed_allocations > 0,
        ),
    ]

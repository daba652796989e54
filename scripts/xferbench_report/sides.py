"""Files as what is compared: processes of one run belong together and are one side."""

import dataclasses
import datetime
import math
import pathlib
import re
import statistics

from . import records

_NUMBERED = re.compile(r"^(.+)-[0-9]{1,3}$")  # what --repeat makes of --json NAME.json
_LONGEST_BETWEEN = 3600  # seconds from one process of a run to the next
_OUTPUT = re.compile(r"^--(json|csv|markdown|html|process)\b")
# Student's t for a two-sided interval of 95 %, by degrees of freedom; beyond them 1.96 + 2.45 / freedom is close.
_STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)


@dataclasses.dataclass
class Side:
    """The processes of one run, and the one run that is drawn of them."""

    runs: list
    run: object

    @property
    def label(self):
        return self.run.label

    @property
    def paths(self):
        return [run.path for run in self.runs]


def recognised(runs):
    """The sides of files that nobody has sorted: NAME-1.json, NAME-2.json ... of one command, build and machine, begun
    one soon after the other."""
    found = []
    for run in runs:
        family = family_of(run)
        known = next((some for name, some in found if family and name == family and soon_after(some[-1], run)), None)
        if known is None:
            found.append((family, [run]))
        else:
            known.append(run)
    return [side(members) for _, members in found]


def soon_after(one, other):
    moments = [begun(run) for run in (one, other)]
    return None not in moments and abs((moments[1] - moments[0]).total_seconds()) <= _LONGEST_BETWEEN


def begun(run):
    """None where the file has no time that one could read."""
    try:
        return datetime.datetime.fromisoformat(run.record["started_at"].replace("Z", "+00:00"))
    except ValueError:
        return None


def family_of(run):
    """What processes of one run have in common; None where the file's name has no number."""
    path = pathlib.PurePath(run.path)
    numbered = _NUMBERED.match(path.stem)
    if numbered is None:
        return None
    words, command = iter(run.record["command"]), []
    for word in words:
        if not _OUTPUT.match(word):
            command.append(word)
        elif "=" not in word:
            next(words, None)
    tool = run.record["tool"]
    return (str(path.parent), numbered[1], tuple(command), run.machine, tool["version"], tool.get("git"))


def side(members):
    if len(members) == 1:
        return Side(members, members[0])
    run = records.Run(members[0].path, pooled_record(members), declared_by=members[0])
    first, last = (pathlib.PurePath(path).stem for path in (members[0].path, members[-1].path))
    run.short_label = f"{first} to {last}"
    run.label = ", ".join([run.gpu, run.short_label, f"{len(members)} processes", *map(records.short_mark, run.marks)])
    return Side(members, run)


def pooled_record(members):
    """A file as one process would have written it, whose samples are the processes' medians."""
    first = members[0].record
    keys = dict.fromkeys(case.key for run in members for case in run.cases)
    return {
        **first,
        "complete": all(run.record["complete"] for run in members),
        "verified": all(run.verified for run in members),
        "results": [pooled_case([case for run in members if (case := run.case(key))]) for key in keys],
    }


def pooled_case(cases):
    """Of the same case of several processes: failed if it failed in one, and a number where one has it."""
    failed = next((case for case in cases if case.status == "failed"), None)
    good = [case for case in cases if case.ok]
    if failed or not good:
        return (failed or cases[0]).record
    first = good[0].record
    names = dict.fromkeys((one.name, one.gpu) for case in good for one in case.measurements)
    measured = [pooled_measurement([m for case in good if (m := case.measurement(*name))]) for name in names]
    metrics = {}
    for name in dict.fromkeys(name for case in good for name in case.record["metrics"]):
        known = [case.record["metrics"][name] for case in good if name in case.record["metrics"]]
        metrics[name] = {**known[0], "value": statistics.median(records.number(one["value"]) for one in known)}
    of_gpus = {}
    for one in [one for case in good for one in case.record.get("gpu_metrics", [])]:
        of_gpus.setdefault((one["name"], one["gpu"]), []).append(one)
    gpu_metrics = [
        {**known[0], "value": statistics.median(records.number(one["value"]) for one in known)}
        for known in of_gpus.values()
    ]
    warnings = list(dict.fromkeys(warning for case in good for warning in case.record["warnings"]))
    return {**first, "measurements": measured, "metrics": metrics, "gpu_metrics": gpu_metrics, "warnings": warnings}


def pooled_measurement(measured):
    """The median of the processes' medians, with Student's interval of the mean of their logarithms."""
    known = [one for one in measured if one.estimate() is not None]
    kept = {key: value for key, value in measured[0].record.items() if key in ("name", "gpu", "clock", "unit", "stop")}
    kept["flags"] = sorted({flag for one in measured for flag in one.flags})
    if not known:
        return {**kept, "samples": [], "n": 0}
    medians = [one.estimate().value for one in known]
    found = {**kept, "samples": medians, "n": len(medians), "median": statistics.median(medians)}
    found |= {"min": min(medians), "max": max(medians), "processes": len(medians)}
    tails = [one.percentile("p99") for one in known if one.percentile("p99") is not None]
    if tails:
        found["p99"] = statistics.median(tails)
    ends = interval_of(medians)
    return found | ({"ci95": ends} if ends else {})


def interval_of(medians):
    """Its ends; None of a single one, and of what has no logarithm."""
    if len(medians) < 2 or min(medians) <= 0:
        return None
    logs, freedom = [math.log(value) for value in medians], len(medians) - 1
    student = _STUDENT[freedom - 1] if freedom <= len(_STUDENT) else 1.96 + 2.45 / freedom
    half = student * statistics.stdev(logs) / math.sqrt(len(logs))
    middle = statistics.fmean(logs)
    return [math.exp(max(-690.0, middle - half)), math.exp(min(690.0, middle + half))]

"""What the report knows of a run: its file's contents with the questions that charts ask of them."""

import collections
import dataclasses
import math
import pathlib

from . import text
from .text import number


EQUAL = 0.01  # what differs by less is equal for all that matters; the program's sentences say the same
NOT_DECIDED = "not decided"


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A median or what follows from it, with the ends of its 95 % interval where there is one."""

    value: float
    low: float | None = None
    high: float | None = None
    samples: int = 0
    unit: str = "s"

    def in_words(self):
        words = text.quantity(self.value, self.unit)
        if self.low is not None:
            words += f" [{text.quantity(self.low, self.unit)}, {text.quantity(self.high, self.unit)}]"
        return words

    def beside(self, other, margin=EQUAL):
        """What can be said of this number and another: "more", "less", "equal" or "not decided".

        The ends of both intervals bound their ratio. They are equal where all of it lies within the margin, and one is
        more where all of it lies beyond 1; without intervals nothing can be said.
        """
        ends = (self.low, self.high, other.low, other.high)
        if any(end is None or end <= 0 for end in ends):
            return NOT_DECIDED
        low, high = self.low / other.high, self.high / other.low
        if 1 - margin <= low and high <= 1 + margin:
            return "equal"
        return "more" if low > 1 else "less" if high < 1 else NOT_DECIDED


@dataclasses.dataclass(frozen=True)
class Measurement:
    record: dict

    @property
    def name(self):
        return self.record["name"]

    @property
    def gpu(self):
        """Index of the GPU that it is of, where it is of one among several; else None."""
        return self.record.get("gpu")

    @property
    def whole_name(self):
        return self.name if self.gpu is None else f"{self.name}, GPU {self.gpu}"

    @property
    def flags(self):
        return self.record["flags"]

    def estimate(self):
        """None where nothing was sampled."""
        if "median" not in self.record:
            return None
        value = number(self.record["median"])
        low = high = None
        if "ci95" in self.record:
            ends = [number(end) for end in self.record["ci95"]]
            low, high = min(*ends, value), max(*ends, value)
        return Estimate(value, low, high, self.record["n"], self.record["unit"])

    def percentile(self, name):
        return number(self.record[name]) if name in self.record else None

    def counted(self):
        """What the estimate is of."""
        processes = self.record.get("processes")
        return f"n = {self.record['n']}" if processes is None else f"{processes} processes"


def identity_of(record):
    """What tells a result from all others of its file: the key, and in a fleet who measured it, and how."""
    fleet = record.get("fleet")
    if fleet is None:
        return record["key"]
    again = f" round={fleet['round']}" if fleet["round"] > 1 else ""
    return f"{record['key']} pace={fleet['pace']} rank={fleet['rank']}{again}"


class Case:
    """One result of a file, with what the file declares of the measurements of its scenario, each by its name."""

    def __init__(self, record, declared=None):
        self.record = record
        self.declared = declared or {}
        self.scenario = record["scenario"]
        self.fleet = record.get("fleet")
        self.key = identity_of(record)
        self.status = record["status"]
        self.reason = record["reason"]
        self.params = record["params"]
        self.labels = record.get("labels", {})
        self.measurements = [Measurement(one) for one in record["measurements"]]
        self.texts = dict(step.split("=", 1) for step in record["key"].split("/")[1:])

    @property
    def ok(self):
        return self.status == "ok"

    @property
    def tuned(self):
        return "measured_in" in self.labels

    def word(self, name):
        """The value of an axis as the key writes it; empty where the axis does not apply."""
        return text.value_in_key(self.texts.get(name, str(self.params.get(name, ""))))

    def count(self, name):
        """The value of an axis as a number; None where it is none."""
        value = self.params.get(name)
        return number(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None

    def measurement(self, name, gpu=None):
        """That of the case, or of one of its GPUs."""
        return next((one for one in self.measurements if (one.name, one.gpu) == (name, gpu)), None)

    def estimate(self, name):
        found = self.measurement(name)
        return found.estimate() if found else None

    def headline(self):
        """The measurement that the case is about: the declared one, else the first. None where there is none."""
        for name, declared in self.declared.items():
            found = self.measurement(name) if declared.get("headline") else None
            if found is not None and found.estimate() is not None:
                return found
        return next((one for one in self.measurements if one.gpu is None), None)

    def main(self):
        """What the case is about, or None: what was not sampled cannot be drawn."""
        found = self.headline()
        return found.estimate() if found else None

    def heading(self, name):
        """What tables call a measurement."""
        return self.declared.get(name, {}).get("heading") or name

    def metric(self, name, unit=None):
        """A metric's value; None where it is missing, or not in that unit."""
        found = self.record["metrics"].get(name)
        if found is None or (unit is not None and found["unit"] != unit):
            return None
        return number(found["value"])

    def gpu_metrics(self):
        """The numbers of single GPUs: for each name and unit the value of each GPU."""
        found = {}
        for one in self.record.get("gpu_metrics", []):
            found.setdefault((one["name"], one["unit"]), {})[one["gpu"]] = number(one["value"])
        return found

    def sure(self, value, unit):
        """A metric as sure as what the case is about, which it follows from: as that, or of a rate the other way."""
        time = self.main()
        if time is None or time.low is None or time.low <= 0:
            return Estimate(value, None, None, time.samples if time else 0, unit)
        ends = [value * time.value / end for end in (time.high, time.low)]
        if unit == "s":
            ends = [value * end / time.value for end in (time.low, time.high)]
        return Estimate(value, *ends, time.samples, unit)

    def rate(self):
        """The first of its rates, with the interval of the time that it is the inverse of."""
        rates = (name for name, found in self.record["metrics"].items() if found["unit"] == "GB/s")
        value, time = self.metric(next(rates, "")), self.main()
        if value is None or time is None:
            return None
        return self.sure(value, "GB/s")


class Run:
    """One results file."""

    def __init__(self, path, record, headlines=None, declared_by=None):
        """`headlines` are those of scenarios whose metrics the file does not declare, as it may be older than that;
        `declared_by` is a run that knows them already."""
        self.path = path
        self.record = record
        self.environment = record["environment"]
        older = {scenario: {name: {"headline": True}} for scenario, name in (headlines or {}).items()}
        declared = {
            scenario: {one["name"]: one for one in metrics if one["kind"] == "measurement"}
            for scenario, metrics in record.get("metrics_declared", {}).items()
        }
        self.headings = declared_by.headings if declared_by else older | declared
        self.cases = [Case(one, self.headings.get(one["scenario"])) for one in record["results"]]
        self.findings = record.get("findings", [])
        self.label = ""  # set by name_apart
        self.short_label = ""

    @property
    def simulated(self):
        return self.environment["backend"] == "simulated"

    @property
    def verified(self):
        """False where the program was told to look at no result; older files do not say."""
        return self.record.get("verified", True)

    @property
    def fault(self):
        """That its device was given on purpose; empty if none."""
        given = self.environment["variables"].get("XFERBENCH_INJECT")
        return given or self.environment.get("profile_changes", {}).get("inject", "")

    @property
    def marks(self):
        """What every chart with this run's data must say; nothing for a real GPU and results that were verified."""
        base = f", which changes {self.environment['profile_base']}" if "profile_base" in self.environment else ""
        simulated = [f"SIMULATED (profile {self.environment['profile']}{base})"] if self.simulated else []
        return simulated + ([] if self.verified else ["NOT VERIFIED"]) + (["FAULT INJECTED"] if self.fault else [])

    @property
    def gpus(self):
        """All of them, where the run is on several; else none."""
        return self.environment.get("gpus", [])

    @property
    def ranks(self):
        """Of a fleet; else none."""
        return self.record.get("fleet", {}).get("ranks", [])

    @property
    def gpu(self):
        """NVIDIA H200; of several 2 x NVIDIA H200, and of two kinds both; of a fleet those of all its ranks."""
        if self.ranks:
            kinds = collections.Counter(one["environment"]["gpu"]["name"] for one in self.ranks)
            models = " and ".join(f"{count} x {name}" for name, count in kinds.items())
            return f"{models} on {text.plural(len({one['node'] for one in self.ranks}), 'host')}"
        kinds = collections.Counter(gpu["name"] for gpu in self.gpus)
        return " and ".join(f"{count} x {name}" for name, count in kinds.items()) or self.environment["gpu"]["name"]

    @property
    def machine(self):
        """What all runs of one machine have in common, simulated ones apart from real ones."""
        gpu, host = self.environment["gpu"], self.environment["host"]
        changes = tuple(sorted(self.environment.get("profile_changes", {}).items()))
        return (self.environment["backend"], self.environment.get("profile"), changes, gpu["name"], gpu.get("uuid"),
                host.get("cpu"), host.get("logical_cpus"))

    def declared(self, scenario):
        """What the file declares of a scenario's measurements and metrics, by name."""
        return {one["name"]: one for one in self.record.get("metrics_declared", {}).get(scenario, [])}

    def case(self, key):
        """None where the file has no such case."""
        if not hasattr(self, "_by_key"):
            self._by_key = {case.key: case for case in reversed(self.cases)}
        return self._by_key.get(key)

    def scenarios(self):
        return list(dict.fromkeys(case.scenario for case in self.cases))

    def of(self, scenario):
        """The cases of a scenario that have numbers worth drawing."""
        return [case for case in self.cases if case.scenario == scenario and case.ok and case.main() is not None]


class Timeline:
    """One file of --timeline: pictures of what ran when."""

    def __init__(self, path, record):
        self.path = path
        self.events = record["traceEvents"]
        self.other = record.get("otherData", {})
        self.label = pathlib.PurePath(path).name

    @property
    def simulated(self):
        return "SIMULATED" in self.other

    @property
    def marks(self):
        return [f"SIMULATED ({self.other['SIMULATED']})"] if self.simulated else []


def short_mark(mark):
    """SIMULATED, without the profile's name."""
    return mark.split(" (")[0]


def name_apart(runs):
    """Gives each run a name for legends: its GPU and its file, with as much of the path as tells it from the others."""
    files = [pathlib.PurePath(run.path).name for run in runs]
    if len(set(files)) < len(files):
        files = [run.path for run in runs]
    files = text.unique(files)
    for run, name in zip(runs, files):
        run.short_label = name
        run.label = ", ".join([run.gpu, name, *map(short_mark, run.marks)])

"""Runs the program xferbench from Python, and reads the results that it writes.

    import xferbench

    run = xferbench.run("memcpy", size="256M")  # xferbench memcpy --size=256M
    run.results[0]["metrics"]                   # as in the results file
    run.to_pandas()                             # one row for each measurement and each metric

The program measures and judges; this module calls it and changes no number. Needs nothing but Python.
"""

import dataclasses
import importlib.metadata
import json
import lzma
import os
import pathlib
import shutil
import subprocess
import tempfile


class Error(Exception):
    """The program ended with another exit code than 0. The text is the program's own message.

    exit_code: docs/running.md explains the codes; negative if a signal ended the program
    run: the Run that it wrote before, with the cases that did not fail; None if there is none
    """

    def __init__(self, message, exit_code, run=None):
        super().__init__(message)
        self.exit_code = exit_code
        self.run = run


@dataclasses.dataclass(frozen=True, repr=False)
class Run:
    """A results file.

    record: all of it, as the schema in share/xferbench/schemas/results-schema.json describes it
    messages: what the program wrote to standard error: warnings, and what it could not do
    """

    record: dict
    messages: str = ""

    results = property(lambda self: self.record["results"], doc="The results of the cases, in order: a list of dicts.")
    findings = property(lambda self: self.record.get("findings", []), doc="Conclusions from several results.")
    environment = property(lambda self: self.record["environment"], doc="The GPU, the driver and the host.")
    complete = property(lambda self: self.record["complete"], doc="Whether every case finished.")
    verified = property(lambda self: self.record.get("verified"), doc="Whether data was checked; None if unknown.")
    simulated = property(lambda self: self.environment["backend"] == "simulated", doc="Whether times are modelled.")

    def __repr__(self):
        return f"<xferbench.Run: {len(self.results)} results{', SIMULATED' if self.simulated else ''}>"

    def rows(self):
        """A dict for each measurement (value: its median) and each metric of each case. A case that has neither has one
        row, with its status and reason. A suite of several processes has rows of each, numbered by `process`."""
        processes = [self.record, *self.record.get("further_processes", [])]
        return [
            {"process": process, "simulated": self.simulated, "verified": self.verified, **row}
            for process, record in enumerate(processes)
            for result in record["results"]
            for row in _rows_of(result)
        ]

    def to_pandas(self):
        """The rows as a pandas.DataFrame."""
        import pandas  # only needed here

        return pandas.DataFrame(self.rows())

    def save(self, path):
        """Writes the results file, for xferbench compare, check and report."""
        pathlib.Path(path).write_text(json.dumps(self.record), encoding="utf-8")


def _rows_of(result):
    case = {name: result[name] for name in ("scenario", "key", "status", "reason")}
    case |= {f"params.{name}": value for name, value in result["params"].items()}
    case |= {"rank": result["fleet"]["rank"], "round": result["fleet"]["round"]} if "fleet" in result else {}
    for one in result["measurements"]:
        low, high = one.get("ci95", (None, None))
        yield case | {
            "kind": "measurement", "name": one["name"], "gpu": one.get("gpu"), "value": one["median"], "unit": one["unit"],
            "ci95_low": low, "ci95_high": high, **{name: one[name] for name in ("min", "max", "n", "clock", "flags")},
        }
    metrics = [{"name": name, **one} for name, one in result["metrics"].items()] + result.get("gpu_metrics", [])
    for one in metrics:
        yield case | {"kind": "metric", **one}
    if not result["measurements"] and not metrics:
        yield case


def program():
    """The path of the program: $XFERBENCH_PROGRAM, or what was installed with this module, or xferbench on PATH."""
    if os.environ.get("XFERBENCH_PROGRAM"):
        return os.environ["XFERBENCH_PROGRAM"]
    try:
        installed = importlib.metadata.files("xferbench") or ()
    except importlib.metadata.PackageNotFoundError:
        installed = ()
    found = [str(file.locate()) for file in installed if file.parts[-2:] == ("bin", "xferbench")]
    found += filter(None, [shutil.which("xferbench")])
    if not found:
        raise FileNotFoundError("the program xferbench was found neither beside this module nor on PATH")
    return os.path.realpath(found[0])


def run(scenario=None, **flags):
    """Runs a scenario, or a suite: run(suite="ci"). Returns a Run, or raises Error.

    Flags are those of the command line, with _ for -. True stands for a flag without a value, None and False leave it
    out, and lists are joined by commas: run("memcpy", size=["4M", "1G"], dir="h2d", max_samples=20, simulate=True).
    """
    taken = {"json", "repeat"} & flags.keys()
    if taken:
        raise ValueError(f"{taken.pop()} is not for run(), which returns the results of one run: see Run.save()")
    command = [program()] + ([scenario] if scenario else [])
    for name, value in flags.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            command.append(flag)
        elif value is not None and value is not False:
            text = ",".join(map(str, value)) if isinstance(value, (list, tuple, range)) else str(value)
            command.append(f"{flag}={text}")
    with tempfile.TemporaryDirectory(prefix="xferbench-") as folder:
        path = pathlib.Path(folder, "run.json")
        outcome = subprocess.run(
            [*command, f"--json={path}"], stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8",
            errors="replace", check=False,
        )
        written = read(path, outcome.stderr) if path.exists() and path.stat().st_size else None
    if outcome.returncode != 0 or written is None:
        message = outcome.stderr.strip() or f"xferbench ended with exit code {outcome.returncode}"
        raise Error(message, outcome.returncode, written)
    return written


def read(path, messages=""):
    """Reads a results file, also one that is compressed by xz, as a Run."""
    content = pathlib.Path(path).read_bytes()
    return Run(json.loads(lzma.decompress(content) if content.startswith(b"\xfd7zXZ") else content), messages)

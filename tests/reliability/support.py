"""Helpers of the promises: running the program, temporary folders, outcomes and figures."""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from typing import NamedTuple

from . import journal

ROOT = pathlib.Path(__file__).resolve().parents[2]

# All exit codes of docs/running.md except those of signals.
EXIT_CODES = (0, 1, 2, 3, 4, 5, 6)
UNUSABLE, NO_DEVICE, STUCK = 2, 3, 6
LONG = 120  # seconds; a process that takes longer hangs


class Figure(NamedTuple):
    """A line of the table: the promise, the finding, and whether the promise holds."""

    asked: str
    shown: str
    holds: bool


class Outcome(NamedTuple):
    code: int  # exit code; negative: the signal that ended it
    out: bytes
    err: bytes
    hung: bool = False

    @property
    def by_signal(self):
        return self.code < 0


class Tally:
    """Counts checks and prints the first failed ones. Thread-safe."""

    SHOWN = 5  # more failures are only counted

    def __init__(self, setting):
        self._setting = setting
        self._lock = threading.Lock()
        self.tried = 0
        self.bad = 0

    def expect(self, holds, what):
        """`what` is a text, or a function that makes it, called only for a failure that is printed."""
        with self._lock:
            self.tried += 1
            self.bad += not holds
            told = self.bad <= self.SHOWN
        if not holds and told:
            self._setting.say(f"  does not hold: {what() if callable(what) else what}"[:1500])
        return holds


class Setting:
    """The program under test and the size of trials: full, short or quick."""

    def __init__(self, program, size, folder):
        self.program = str(pathlib.Path(program).resolve())
        self.quick = size == "quick"
        self.short = size != "full"
        self.folder = pathlib.Path(folder)
        self.workers = max(2, os.cpu_count() or 2)
        self._shim = None

    def say(self, text):
        print(text, file=sys.stderr, flush=True)

    def number(self, in_full, in_short, in_quick=None):
        """The number of trials for this size. Without a number of its own, quick uses that of short."""
        if self.quick and in_quick is not None:
            return in_quick
        return in_short if self.short else in_full

    @contextlib.contextmanager
    def scratch(self):
        """A temporary folder."""
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            yield pathlib.Path(name)

    def start(self, *arguments, environment=None, **options):
        """Starts the program in its own process group. Standard output and error go to /dev/null by default."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} | options
        return subprocess.Popen(
            [self.program, *map(str, arguments)],
            env={**os.environ, **(environment or {})},
            start_new_session=True,
            **options,
        )

    def run(self, *arguments, timeout=LONG, **options):
        """Runs the program to its end. Returns the Outcome with its output."""
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        process = self.start(*arguments, **options)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            end_group(process)
            out, err = process.communicate()
            return Outcome(process.returncode, out or b"", err or b"", hung=True)
        return Outcome(process.returncode, out or b"", err or b"")

    def side_by_side(self, function, items):
        """Applies the function to all items in parallel threads. Returns results in order."""
        with concurrent.futures.ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(function, items))

    def shim(self):
        """The library of failing_calls.cpp, built on first use."""
        if self._shim is None:
            self._shim = self.folder / "failing_calls.so"
            compiler = os.environ.get("CXX") or shutil.which("c++") or "g++"
            source = ROOT / "tests/reliability/failing_calls.cpp"
            command = [compiler, "-std=c++20", "-O1", "-fPIC", "-shared", "-o", str(self._shim), str(source), "-ldl"]
            subprocess.run(command, check=True)
        return self._shim

    def failing(self, calls, first, count=1, error=0, report=None):
        """Environment variables for failing_calls.cpp."""
        found = {"LD_PRELOAD": str(self.shim()), "XFERBENCH_FAILING": f"{calls}:{first}:{count}:{error}"}
        return found | ({"XFERBENCH_FAILING_REPORT": str(report)} if report else {})

    def beside(self, name):
        """The path of a test program built with this program; None if there is none."""
        found = pathlib.Path(self.program).parent / "tests" / name
        return found if os.access(found, os.X_OK) else None


def build(preset, *targets):
    """Builds targets of a preset; without targets only the program. Returns the build folder."""
    flags = [] if targets else ["--program"]
    subprocess.run([str(ROOT / "scripts/build"), *flags, preset, *targets], check=True)
    return ROOT / "build" / preset


def end_group(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def wait_for(condition, seconds=LONG):
    """Polls until the condition is true or the time is up. Returns whether it is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.002)
    return False


# --- Results files --------------------------------------------------------------------------------------------------


def read_json(path):
    """The content of a JSON file; None if it is missing or incomplete."""
    try:
        return json.loads(pathlib.Path(path).read_bytes())
    except (OSError, ValueError):
        return None


def is_results(json_of_file):
    """Whether this is a results file, complete or not."""
    known = isinstance(json_of_file, dict) and json_of_file.get("schema") == "xferbench/1"
    return known and isinstance(json_of_file.get("complete"), bool) and isinstance(json_of_file.get("results"), list)


def read_with_journal(path):
    """The results of a file and of its journal, which a killed run may have left."""
    beside = journal.text_beside(path)
    found = read_json(path)
    return journal.taken_in(found, beside) if is_results(found) else found


def statuses(results):
    """{key: status} of all cases."""
    return {case["key"]: case["status"] for case in (results or {}).get("results", [])}


def count_of_samples(results):
    """{key: number of samples} of all cases, over all their measurements."""
    return {
        case["key"]: sum(len(one.get("samples", [])) for one in case.get("measurements", []))
        for case in (results or {}).get("results", [])
    }


def without_times_of_day(data):
    """The bytes of a file without times of day and the command, which differ between equal runs."""
    data = re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", b"THEN", data)
    return re.sub(rb'"command": \[.*?\]', b'"command": []', data)


def visible_files(folder):
    return sorted(path.name for path in pathlib.Path(folder).iterdir())


def signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def how(outcome):
    """The end of a process in words."""
    if outcome.hung:
        return f"hung ({LONG} s)"
    ended = signal_name(-outcome.code) if outcome.by_signal else f"exit code {outcome.code}"
    return f"{ended}, {outcome.err[-300:].decode('utf-8', 'replace')!r}"

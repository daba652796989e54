"""What `xferbench compare` says of two files. The page shows that and judges nothing itself."""

import dataclasses
import json
import os
import pathlib
import shutil
import subprocess

from . import files

_ROOT = pathlib.Path(__file__).resolve().parents[2]
_REFUSED = 2
_NOTHING = {"summary": {}, "differences": [], "warnings": [], "cases": []}


@dataclasses.dataclass
class Comparison:
    """Of the first file with another: the program's own words in JSON, or why it refused."""

    run: object
    said: dict
    refusal: str = ""

    def counted(self):
        """How many cases have which verdict, in the program's order."""
        counts = self.said["summary"].items()
        return ", ".join(f"{count} {verdict.replace('_', ' ')}" for verdict, count in counts if count)

    def rows(self):
        """Of each case, what people want to read first on top, as the summary names it."""
        order = list(self.said["summary"])
        return sorted(self.said["cases"], key=lambda row: order.index(row["verdict"]))


def program():
    """XFERBENCH_PROGRAM, else the newest that was built here, else what is on PATH."""
    named = os.environ.get("XFERBENCH_PROGRAM")
    if named:
        return named
    built = [path for path in _ROOT.glob("build/*/xferbench") if path.is_file() and os.access(path, os.X_OK)]
    found = max(built, key=lambda path: path.stat().st_mtime) if built else shutil.which("xferbench")
    if found is None:
        raise files.Refused(
            "xferbench compares several files, and it is not there: build it (scripts/build) or set XFERBENCH_PROGRAM"
        )
    return str(found)


def compare(base, run):
    """The marks of the page tell what is simulated, so the program need not refuse to set it against the rest."""
    # A name that begins with a dash is a flag or standard input to the program.
    paths = [os.path.join(os.curdir, one.path) if one.path.startswith("-") else one.path for one in (base, run)]
    command = [program(), "compare", "--quiet", "--allow-simulated", "--json", "-", *paths]
    try:
        outcome = subprocess.run(command, capture_output=True, check=False)
    except OSError as error:
        raise files.Refused(f"{command[0]}: cannot be run: {error.strerror}") from error
    complaint = outcome.stderr.decode("utf-8", "replace").strip()
    if outcome.returncode == _REFUSED and complaint:
        return Comparison(run, _NOTHING, complaint.removeprefix("xferbench: "))
    try:
        said = json.loads(outcome.stdout)
        if said["schema"] != "xferbench-compare/1":
            raise ValueError(said["schema"])
    except (ValueError, LookupError, TypeError) as error:
        ended = complaint or f"exit code {outcome.returncode}"
        raise files.Refused(f"{command[0]}: has not written what compare --json writes ({ended})") from error
    return Comparison(run, said)

"""What `xferbench compare` says of two sides. The page shows that and judges nothing itself."""

import dataclasses
import json
import os
import shutil
import subprocess

from . import files, places, text

_REFUSED = 2
_NOTHING = {"summary": {}, "differences": [], "warnings": [], "cases": [], "options": {"threshold": 0.0}}
# The program's verdicts in plain words.
IN_WORDS = {
    "regressed": "slower",
    "improved": "faster",
    "changed": "different",
    "same": "equal",
    "inconclusive": "not decided",
    "missing": "missing in new",
    "new": "only in new",
}
ALARMING = ("regressed", "missing")


@dataclasses.dataclass
class Comparison:
    """Of one side with another: the program's own words in JSON, or why it refused."""

    side: object
    said: dict
    refusal: str = ""

    @property
    def threshold(self):
        return text.number(self.said["options"]["threshold"])

    def counted(self):
        """How many cases have which verdict, in the program's order."""
        within = f" (within {text.percent(self.threshold)})" if self.threshold else ""
        words = {verdict: verdict.replace("_", " ") for verdict in self.said["summary"]} | IN_WORDS
        words["same"] += within
        return ", ".join(f"{count} {words[verdict]}" for verdict, count in self.said["summary"].items() if count)

    def rows(self):
        """Of each case, what people want to read first on top, as the summary names it."""
        order = list(self.said["summary"])
        return sorted(self.said["cases"], key=lambda row: order.index(row["verdict"]))

    def word(self, row):
        """A row's verdict in plain words."""
        return "fails" if row.get("failed", False) else IN_WORDS.get(row["verdict"], row["verdict"])

    def because(self):
        """Why the program's exit code is what it is."""
        said = self.said.get("outcome", {}).get("because", "")
        return said[:1].upper() + said[1:]

    def bad(self):
        """Whether this must worry its reader."""
        return bool(self.alarming()) or self.said.get("outcome", {}).get("exit_code", 0) != 0

    def more(self):
        """What these runs could have found, unless that is why the exit code is what it is."""
        outcome = self.said.get("outcome", {})
        if "least_slowdown" not in outcome or outcome["exit_code"] == 4:
            return []
        least = text.percent(outcome["least_slowdown"])
        return [f"In the middle of the cases a slow-down of {least} would have been found."]

    def alarming(self):
        """Of the rows those that nobody may miss."""
        return [row for row in self.rows() if row["verdict"] in ALARMING or row.get("failed", False)]


def reasons(row):
    """Why a row's verdict is what it is, and what else is to know of it."""
    return ([row["reason"]] if "reason" in row else []) + row["notes"]


def spreads(row):
    """By which spread between processes a row was judged, and what it is without."""
    found = []
    if "spread" in row:
        found.append(f"spread between processes {text.percent(row['spread'])} ({row.get('spread_from', 'unknown')})")
    if "ratio_ci95_within" in row:
        ends = " to ".join(map(text.change, row["ratio_ci95_within"]))
        found.append(f"their samples alone say {ends}")
    return found


def program():
    """XFERBENCH_PROGRAM, else what is installed with this or the newest that was built here, else what is on PATH."""
    named = os.environ.get("XFERBENCH_PROGRAM")
    if named:
        return named
    built = [path for path in places.programs() if path.is_file() and os.access(path, os.X_OK)]
    found = max(built, key=lambda path: path.stat().st_mtime) if built else shutil.which("xferbench")
    if found is None:
        raise files.Refused(
            "xferbench compares several files, and it is not there: build it (scripts/build), install it, or set XFERBENCH_PROGRAM"
        )
    return str(found)


def arguments(base, new):
    """A name that begins with a dash is a flag or standard input to the program."""
    before, after = (
        [os.path.join(os.curdir, path) if path.startswith("-") else path for path in side.paths] for side in (base, new)
    )
    if len(before) == len(after) == 1:
        return [*before, *after]
    return ["--base", *before, "--new", *after]


def compare(base, new):
    """The marks of the page tell what is simulated, so the program need not refuse to set it against the rest."""
    command = [program(), "compare", "--quiet", "--allow-simulated", "--json", "-", *arguments(base, new)]
    try:
        outcome = subprocess.run(command, capture_output=True, check=False)
    except OSError as error:
        raise files.Refused(f"{command[0]}: cannot be run: {error.strerror}") from error
    complaint = outcome.stderr.decode("utf-8", "replace").strip()
    if outcome.returncode == _REFUSED and complaint:
        return Comparison(new, _NOTHING, complaint.removeprefix("xferbench: "))
    try:
        said = json.loads(outcome.stdout)
        if said["schema"] != "xferbench-compare/1":
            raise ValueError(said["schema"])
    except (ValueError, LookupError, TypeError) as error:
        ended = complaint or f"exit code {outcome.returncode}"
        raise files.Refused(f"{command[0]}: has not written what compare --json writes ({ended})") from error
    return Comparison(new, said)

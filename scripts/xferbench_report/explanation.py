"""What a page says of a program that xferbench explain has looked at: what it shows of each process.

All judgement is in the file; here it is only put into words and order.
"""

import dataclasses
import pathlib

from . import tables, text

SCHEMA = "xferbench-explain/"

DIRECTIONS = {
    "h2d": "to the GPU",
    "d2h": "from the GPU",
    "d2d": "inside the GPU",
    "p2p": "between GPUs",
    "h2h": "on the host",
    "other": "other",
}
# In the order in which the bar has them, and what the page calls them.
SHARES = {
    "copies": "copies alone",
    "both": "kernels beside copies",
    "kernels": "kernels alone",
    "waiting": "GPU idle: waiting for its answer",
    "calls": "GPU idle: inside CUDA calls",
    "loading": "GPU idle: starting, loading, allocating",
    "program": "GPU idle: the program's own work",
    "watching": "watching",
}


class Explanation:
    """One file of xferbench explain --json."""

    def __init__(self, path, record):
        self.path, self.record = path, record
        self.label = pathlib.PurePath(path).name
        self.command = " ".join(record["command"])
        self.processes = [Process(self, one) for one in record["processes"]]

    @property
    def simulated(self):
        return self.record["simulated"]

    @property
    def marks(self):
        return [f"SIMULATED (profile {self.record.get('profile', 'unknown')})"] if self.simulated else []

    @property
    def gpus(self):
        return list(dict.fromkeys(gpu for one in self.processes for gpu in one.record["gpus"]))


class Process:
    """One of its processes."""

    def __init__(self, explanation, record):
        self.explanation, self.record = explanation, record
        self.stretch = record["stretch"]
        self.seconds = text.number(self.stretch["seconds"])
        self.reference = text.number(self.stretch.get("bare", self.seconds))  # what gains are relative to

    @property
    def marks(self):
        return self.explanation.marks

    @property
    def range(self):
        """Of NVTX, that is explained, and how often it was there; empty of the whole program."""
        if "range" not in self.stretch:
            return ""
        times = self.stretch["times"]
        return self.stretch["range"] + (f", {times} times" if times > 1 else "")

    @property
    def withheld(self):
        """Why no gains are told; empty where they are."""
        return self.record.get("withheld", "")

    @property
    def name(self):
        return f"Process {self.record['pid']}" + (f": {self.record['command']}" if self.record["command"] else "")


@dataclasses.dataclass(frozen=True)
class Finding:
    """One of them as the page shows it; `left` is the share of the time that is left once it is mended."""

    record: dict
    gain: str
    left: float | None
    place: str
    stack: list


def rounded(seconds):
    """Three digits: as much as predictions are good for."""
    return text.seconds(float(f"{text.number(seconds):.3g}"))


def percent(share):
    """With one digit behind the point, as the terminal has it."""
    return f"{100 * share:.1f} %"


def speedup(before, after, at_most):
    ratio = before / after if after > 0 else 1
    return f"{'at most' if at_most else 'about'} {ratio:.{2 if ratio < 1.195 else 1}f} times as fast"


def findings(process):
    return [finding(process, place) for place in range(len(process.record["findings"]))]


def finding(process, place):
    record = process.record["findings"][place]
    left = None
    if "seconds_after" in record and process.reference > 0:
        left = min(1.0, text.number(record["seconds_after"]) / process.reference)
    return Finding(record, gain(process, place), left, where(record["place"]), record["place"].get("stack", []))


def gain(process, place):
    """The time before and after; of what gains only once those before it are mended, these times as well."""
    every = process.record["findings"]
    record, before = every[place], process.reference
    if "seconds_after" not in record:
        return "gain not known"
    after = text.number(record["seconds_after"])
    alone = f"{rounded(before)} to {rounded(after)}"
    little = before - after < process.record["least_share"] * before
    if not little or place == 0 or "seconds_after_all" not in record:
        return f"{alone}, {speedup(before, after, record['at_most'])}"
    before = text.number(every[place - 1].get("seconds_after_all", before))
    after = text.number(record["seconds_after_all"])
    later = f"{rounded(before)} to {rounded(after)} once those above are mended"
    return f"{alone} alone, but {later}: {speedup(before, after, record['at_most'])}"


def where(place):
    """cudaMemcpyAsync in range step after kernel a before kernel b"""
    words = [place.get("call", "")]
    for before, name in (("in range", "range"), ("after kernel", "kernel_before"), ("before kernel", "kernel_after")):
        words += [f"{before} {place[name]}"] if name in place else []
    return " ".join(filter(None, words))


def asked_for(process):
    """What mending the kinds that were asked for gains: a sentence; empty where none were found."""
    after = process.record.get("seconds_mended")
    if after is None:
        return ""
    missing = process.record.get("mended_missing", [])
    found = [kind for kind in process.record.get("mended", []) if kind not in missing]
    at_most = process.record.get("mended_at_most", False)
    after = text.number(after)
    gained = speedup(process.reference, after, at_most)
    return f"With {', '.join(found)} mended: {rounded(process.reference)} to {rounded(after)}, {gained}"


def together(process):
    """What mending the first findings together gains: a line for each number of them."""
    at_most = any(one["at_most"] for one in process.record["findings"])
    before = process.reference
    times = [(count, text.number(after)) for count, after in enumerate(process.record["together"], 2)]
    return [
        f"the first {count}: {rounded(before)} to {rounded(after)}, {speedup(before, after, at_most)}"
        for count, after in times
    ]


def watched(process):
    """What watching cost, and how well the replay does."""
    stretch = process.stretch
    found = [f"watched: {rounded(process.seconds)}"]
    if "bare" in stretch:
        ratio = stretch.get("watched_over_bare")
        found = [f"unwatched: {rounded(stretch['bare'])}", found[0] + (f", {ratio:.3f} times as long" if ratio else "")]
    else:
        found.append("it did not run unwatched: what watching cost is not known")
    if "replayed" in stretch and process.seconds > 0:
        off = 100 * (text.number(stretch["replayed"]) / process.seconds - 1)
        found.append(f"replayed unchanged: {rounded(stretch['replayed'])}, {off:+.1f} %")
    return found


TRAFFIC = ("copies", "memory", "count", "smallest", "largest", "in all", "GB/s", "reachable", "pinned", "of the time")


def traffic_table(process):
    rows = [traffic_row(process, one) for one in process.record["traffic"]]
    return tables.filled(TRAFFIC, rows, numbers=range(2, len(TRAFFIC)))


def traffic_row(process, one):
    size, rate, share = text.size, rate_of(one["bytes"]), one["busy_seconds"]

    def cell(shown, value):
        return tables.Cell(shown, sort=value)

    def rated(name):
        return cell(text.digits(rate(one[name])), rate(one[name])) if one.get(name, 0) > 0 else ""

    counts = [cell(str(one["count"]), one["count"])]
    counts += [cell(size(one[name]), one[name]) for name in ("smallest", "largest", "bytes")]
    pinned = rated("pinned_seconds") if one["memory"] == "pageable" else ""
    rates = [rated("seconds"), rated("reachable_seconds"), pinned]
    of_time = share / process.seconds if process.seconds > 0 else 0
    memory = "" if one["memory"] in ("device", "unknown") else one["memory"]
    return [DIRECTIONS[one["kind"]], memory, *counts, *rates, cell(percent(of_time), of_time)]


def rate_of(count):
    """GB/s of so many bytes in so many seconds."""
    return lambda seconds: text.number(count) / text.number(seconds) / 1e9


def answer(explanation):
    """The first screen: what was run, what transfers cost, and what puts that in doubt."""
    found = explanation.processes
    notes = list(dict.fromkeys(note for one in found for note in ending_and_notes(one)))
    return {
        "explanation": explanation,
        "machine": ", ".join(explanation.gpus),
        "limits_of": explanation.record.get("limits_of", ""),
        "first": found[0] if found else None,
        "withheld": found[0].withheld if found else "",
        "others": found[1:],
        "alarms": [("warning", one) for one in explanation.record["warnings"]] + [("note", one) for one in notes],
    }


def ending_and_notes(process):
    ending = process.record.get("ending", "")
    return [ending] * bool(ending) + process.record["notes"]

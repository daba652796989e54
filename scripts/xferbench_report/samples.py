"""The samples of every measurement in little room, for whoever asks to see how those of a case are spread.

Each sample becomes one of 65,536 steps between the least and the most of its measurement: two bytes, in base64.
"""

import array
import base64
import math
import sys

from .charts import figure
from .text import number

_STEPS = 65535
MOST = 150_000  # samples of a page: 400 kB
_LEAST = 20  # of a measurement; with fewer nothing could be seen


def embedded(sides):
    """For the page's script: the files, the keys, and for each key's number what was measured in each file."""
    runs = [run for side in sides for run in side.runs]
    keys = keys_of(runs)
    every = sampled(runs)
    kept = every
    if total(every) > MOST:  # what was measured beside what a case is about goes first
        kept = [(place, case, one) for place, case, one in every if one is case.headline()]
    stride = stride_for(kept)
    if sum(count(one, stride) for _, _, one in kept) > MOST:
        kept = []
    cases = {}
    for place, case, one in kept:
        cases.setdefault(keys[case.key], []).append([place, *packed(one, stride)])
    return {
        "files": [described(run, number) for number, side in enumerate(sides) for run in side.runs],
        "colours": figure.COLOURS,
        "keys": list(keys),
        "cases": cases,
        "left_out": left_out(every, kept, stride),
    }


def described(run, side):
    """A file; those of one side have one colour where several sides are shown."""
    return {"label": run.label, "marks": run.marks, "side": side}


def keys_of(runs):
    """A number for each key, which stands for it on the page."""
    return {key: place for place, key in enumerate(dict.fromkeys(case.key for run in runs for case in run.cases))}


def sampled(runs):
    return [
        (place, case, one)
        for place, run in enumerate(runs)
        for case in run.cases
        for one in case.measurements
        if one.record["samples"]
    ]


def total(kept):
    return sum(len(one.record["samples"]) for _, _, one in kept)


def stride_for(kept):
    """Of long measurements one sample in so many is kept."""
    stride = 1
    while stride < 1000 and sum(count(one, stride) for _, _, one in kept) > MOST:
        stride += 1
    return stride


def count(one, stride):
    samples = len(one.record["samples"])
    return math.ceil(samples / step(samples, stride))


def step(samples, stride):
    """Never so large that fewer than the least are left."""
    return max(1, min(stride, samples // _LEAST))


def left_out(every, kept, stride):
    """In words; empty where all of it is there."""
    if every and not kept:
        return "These files have too many samples to show any of them here."
    parts = []
    if len(kept) < len(every):
        parts.append("of each case only what it is about is shown here")
    if stride > 1:
        parts.append(f"of long measurements one sample in {stride}")
    return f"These files have many samples: {' and '.join(parts)}." if parts else ""


def packed(one, stride):
    """Name, unit, how many samples there were, one in how many is here, least, most, median, its interval, samples."""
    samples = [number(value) for value in one.record["samples"]]
    every = step(len(samples), stride)
    kept = samples[::every]
    low, high = min(kept), max(kept)
    scale = _STEPS / (high - low) if high > low else 0.0
    steps = array.array("H", [min(_STEPS, round((value - low) * scale)) for value in kept])
    if sys.byteorder == "big":
        steps.byteswap()
    found = one.estimate()
    middle = [found.value, found.low, found.high] if found else [None, None, None]
    written = base64.b64encode(steps.tobytes()).decode("ascii")
    ends = [None if value is None else float(f"{value:.8g}") for value in (low, high, *middle)]
    return [one.whole_name, one.record["unit"], len(samples), every, *ends, written]

"""One number of a case over many files of a machine, with the places at which it changed."""

import dataclasses
import statistics

from .. import records, text, trend
from . import figure, general, grouping


_MOST_POINTS = 6000


@dataclasses.dataclass
class Series:
    """What a case is about in each run that has it, in order of time."""

    name: str
    cases: list
    runs: list
    changes: list = dataclasses.field(default_factory=list)

    @property
    def key(self):
        return self.cases[0].key

    @property
    def unit(self):
        return self.cases[0].main().unit

    @property
    def values(self):
        return [case.main().value for case in self.cases]

    def better(self):
        """Which way, as the last file declares it; else times are better lower and rates higher."""
        case, run = self.cases[-1], self.runs[-1]
        declared = run.declared(case.scenario).get(case.headline().name, {}).get("better")
        return declared or {"s": "lower", "GB/s": "higher"}.get(self.unit, "unknown")

    def worse(self, change):
        return {"lower": change.ratio > 1, "higher": change.ratio < 1}.get(self.better(), False)


def series_of(runs):
    """Of each case that several runs have, with its changes; `runs` are in order of time."""
    found = {}
    for run in runs:
        for scenario in run.scenarios():
            for case in run.of(scenario):
                found.setdefault((case.key, case.main().unit), []).append((run, case))
    several = [pairs for pairs in found.values() if len(pairs) > 1]
    names = grouping.names_apart([pairs[-1][1] for pairs in several])
    result = []
    for name, pairs in zip(names, several):
        one = Series(name, [case for _, case in pairs], [run for run, _ in pairs])
        one.changes = trend.changes(one.values, len(several))
        result.append(one)
    return result


def charts(series):
    """Those that changed come first, by how much; and how many of the others are too many for a page."""
    ordered = sorted(series, key=lambda one: -largest(one))
    shown, points = [], 0
    for one in ordered:
        points += len(one.cases)
        if points <= _MOST_POINTS:
            shown.append(chart(one))
    return shown, len(ordered) - len(shown)


def largest(one):
    return max((abs(change.ratio - 1) for change in one.changes), default=0)


def chart(one):
    factor, unit = figure.scale_of(one.unit, one.values)
    places = [run.record["started_at"] for run in one.runs]
    places = places if len(set(places)) == len(places) else list(range(1, len(places) + 1))
    estimates = [case.main() for case in one.cases]
    hovers = [
        figure.hover(found.in_words(), f"{run.record['started_at']}, {version_of(run)}")
        for run, found in zip(one.runs, estimates)
    ]
    rounded = [records.Estimate(*map(six_digits, (found.value, found.low, found.high))) for found in estimates]
    traces = [figure.line("median", places, rounded, hovers, 0, factor)]
    edges = [0, *(change.at for change in one.changes), len(places)]
    for low, high in zip(edges, edges[1:]):
        traces.append(level(places[low:high], statistics.median(one.values[low:high]) * factor, one.unit, factor))
    axis = figure.cut_axis(text.label(f"{general.median_of(one.cases)}, {unit}"))
    dates = {"type": "date"} if isinstance(places[0], str) else {}
    found = figure.Chart(
        f"{one.cases[0].scenario}: {one.name}",
        traces,
        one.runs,
        {"title": {"text": "begun" if dates else "file"}, **dates},
        axis,
        said(one),
        height=300,
        narrow=True,
        layout={"showlegend": False, "shapes": [cut(places[change.at]) for change in one.changes]},
    )
    return found


def six_digits(value):
    """A year of nights has many numbers, and nobody sees more of them in a chart."""
    return None if value is None else float(f"{value:.6g}")


def level(places, value, unit, factor):
    """The median of the files between two changes."""
    words = text.label(f"median of {text.plural(len(places), 'file')}: {text.quantity(value / factor, unit)}")
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "between changes",
        "x": [places[0], places[-1]],
        "y": [value, value],
        "hovertext": words,
        "hoverinfo": "text",
        "line": {"color": figure.LIMIT_COLOUR, "width": 3},
        "showlegend": False,
    }


def cut(place):
    """Before the first file of what is different."""
    edge = {"color": figure.COLOURS[1], "width": 1.6, "dash": "dash"}
    return {"name": "change", "type": "line", "yref": "paper", "x0": place, "x1": place, "y0": 0, "y1": 1, "line": edge}


def said(one):
    if not one.changes:
        return "No change."
    return "Changed: " + ", ".join(
        f"{text.change(change.ratio)} from {one.runs[change.at].record['started_at']} on" for change in one.changes
    ) + "."


def version_of(run):
    tool = run.record["tool"]
    return " ".join(part for part in (tool["version"], tool.get("git")) if part)

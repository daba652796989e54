"""Several files against the first: the ratio of the times of every case that both have, with its interval."""

import math

from .. import records, text
from . import figure, general

EXPLANATION = (
    "Time of each case over its time in the first file: below 1 is faster. The interval follows from those of the two "
    "medians, taken as independent. It knows how samples vary within a run, not how runs differ from one another: "
    "differences of a few percent need several runs of each."
)


class Pair:
    """A case that a run has in common with the first."""

    def __init__(self, run, case, ratio):
        self.run, self.case, self.ratio = run, case, ratio

    @property
    def verdict(self):
        if self.ratio.low is None:
            return "unknown"
        return "slower" if self.ratio.low > 1 else "faster" if self.ratio.high < 1 else "alike"


def pairs(base, run):
    """Cases with the same key, the same unit and a ratio, in the order of the first file."""
    known = {case.key: case for case in run.cases if case.ok and case.main()}
    found = []
    for case in {case.key: case for case in base.cases if case.ok and case.main()}.values():
        other = known.get(case.key)
        if other is None or other.main().unit != case.main().unit:
            continue
        ratio = records.log_ratio_interval(other.main(), case.main())
        if ratio is not None:
            found.append(Pair(run, other, ratio))
    return found


def summary(found):
    """What the pairs of one run say together, as a sentence."""
    ratios = sorted(pair.ratio.value for pair in found)
    middle = math.exp(sum(math.log(value) for value in ratios) / len(ratios))
    counts = [f"{sum(1 for pair in found if pair.verdict == word)} {word}" for word in ("faster", "slower", "alike")]
    cases = text.plural(len(found), "common case")
    return f"{cases}, ratio {text.digits(middle)} on average (geometric mean); {', '.join(counts)}"


def charts(runs):
    """One for each scenario."""
    base, found = runs[0], [pair for run in runs[1:] for pair in pairs(runs[0], run)]
    result = []
    for scenario in dict.fromkeys(pair.case.scenario for pair in found):
        group = [pair for pair in found if pair.case.scenario == scenario]
        series = [(run, [pair for pair in group if pair.run is run]) for run in runs[1:]]
        series = [(run, members) for run, members in series if members]
        few = len({pair.case.key for pair in group}) <= figure.MOST_ROWS
        result.append((rows if few else in_order)(f"Time over that of {base.label}: {scenario}", base, series))
    return result


def ratio_hovers(pairs_of_run):
    return [
        figure.case_hover(pair.run, pair.case, f"ratio {pair.ratio.in_words()}: {pair.verdict}")
        for pair in pairs_of_run
    ]


def rows(title, base, series):
    cases = general.rows_of([pair.case for _, members in series for pair in members])
    names = list(cases.values())
    traces = [
        figure.dots(
            run.label,
            [cases[pair.case.key] for pair in members],
            [pair.ratio for pair in members],
            ratio_hovers(members),
            index,
        )
        for index, (run, members) in enumerate(series)
    ]
    traces.append(figure.limit("equal", [names[0], names[-1]], 1, True) | {"showlegend": False})
    return figure.Chart(
        title,
        traces,
        [base, *(run for run, _ in series)],
        ratio_axis(series),
        figure.rows_axis(names),
        height=figure.rows_height(len(names)),
        layout={"legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}},
    )


def in_order(title, base, series):
    """Too many to name: sorted by their ratio."""
    traces, most = [], 1
    for index, (run, members) in enumerate(series):
        ordered = sorted(members, key=lambda pair: pair.ratio.value)
        xs, most = list(range(1, len(ordered) + 1)), max(most, len(ordered))
        small = {"mode": "markers", "marker": {"color": figure.look(index)[0], "size": 5}}
        traces.append(
            figure.line(run.label, xs, [pair.ratio for pair in ordered], ratio_hovers(ordered), index, **small)
        )
    traces.append(figure.limit("equal", [1, most], 1) | {"showlegend": False})
    return figure.Chart(
        title,
        traces,
        [base, *(run for run, _ in series)],
        {"title": {"text": "case, sorted by its ratio"}},
        ratio_axis(series),
    )


def ratio_axis(series):
    """Linear near 1, as most ratios are; by powers where a factor of ten lies between them."""
    ratios = [pair.ratio.value for _, members in series for pair in members]
    kind = "log" if max(ratios) > 10 * min(ratios) else "linear"
    return {"type": kind, "title": {"text": "ratio of times (less is faster)"}}

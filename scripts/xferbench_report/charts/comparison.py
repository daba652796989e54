"""Several files against the first: the ratio of every case that both have, as `xferbench compare` says it."""

from .. import records, text
from ..text import number
from . import figure, general, grouping

_AXES = {"lower": "ratio (less is better)", "higher": "ratio (more is better)"}


def charts(base, compared):
    """One for each scenario."""
    found = [(one.run, [row for row in one.said["cases"] if "ratio" in row]) for one in compared]
    scenarios = dict.fromkeys(map(scenario_of, grouping.every(found)))
    return [chart(base, grouping.keep(found, lambda row: scenario_of(row) == name), name) for name in scenarios]


def chart(base, series, scenario):
    """A row for each case, or, where they are too many to name, a cloud sorted by ratio."""
    keys, cases = {row["key"] for row in grouping.every(series)}, {case.key: case for case in base.cases}
    named = len(keys) <= figure.MOST_ROWS and keys <= set(cases)
    rows_of = general.rows_of([case for key, case in cases.items() if key in keys])
    traces = []
    for index, (run, rows) in enumerate(series):
        rows = rows if named else sorted(rows, key=lambda row: row["ratio"])
        places = [rows_of[row["key"]] for row in rows] if named else list(range(1, len(rows) + 1))
        draw = figure.dots if named else figure.cloud
        traces.append(draw(run.label, places, list(map(estimate, rows)), hovers(run, rows), index))
    names = list(rows_of.values())
    ends = [names[0], names[-1]] if named else [1, max(len(rows) for _, rows in series)]
    traces.append(figure.limit("equal", ends, 1, sideways=named) | {"showlegend": False})
    title, runs = f"New over {base.label}: {scenario}", [base, *grouping.runs(series)]
    if named:
        return figure.rows_chart(title, traces, runs, names, ratio_axis(series))
    return figure.Chart(title, traces, runs, {"title": {"text": "case, sorted by its ratio"}}, ratio_axis(series))


def scenario_of(row):
    return row["key"].split("/", 1)[0]


def estimate(row):
    """The program's ratio and interval, and nothing else."""
    low, high = map(number, row["ratio_ci95"]) if "ratio_ci95" in row else (None, None)
    return records.Estimate(number(row["ratio"]), low, high, 0, "1")


def hovers(run, rows):
    return [
        figure.hover(
            row["key"],
            run.label,
            f"{row['measured']}: {row['verdict']}, ratio {estimate(row).in_words()}",
            f"p {text.digits(row['p_holm'])} (Holm)" if "p_holm" in row else "",
            *row["notes"],
        )
        for row in rows
    ]


def ratio_axis(series):
    """Linear near 1, as most ratios are; by powers where a factor of ten lies between them."""
    ratios = [number(row["ratio"]) for row in grouping.every(series)]
    better = {row["better"] for row in grouping.every(series)}
    kind = "log" if max(ratios) > 10 * min(ratios) else "linear"
    return {"type": kind, "title": {"text": _AXES.get(*better, "ratio") if len(better) == 1 else "ratio"}}

"""Several files against the first: the ratio of every case that both have, as `xferbench compare` says it."""

from .. import records, text
from ..text import number
from . import figure, general

_AXES = {"lower": "ratio (less is better)", "higher": "ratio (more is better)"}


def charts(base, compared):
    """One for each scenario."""
    cases = {case.key: case for case in base.cases}
    found = [(one.run, [row for row in one.said["cases"] if "ratio" in row]) for one in compared]
    result = []
    for scenario in dict.fromkeys(scenario_of(row) for _, rows in found for row in rows):
        series = [(run, [row for row in rows if scenario_of(row) == scenario]) for run, rows in found]
        series = [(run, rows) for run, rows in series if rows]
        keys = list(dict.fromkeys(row["key"] for _, rows in series for row in rows))
        title = f"New over {base.label}: {scenario}"
        if len(keys) <= figure.MOST_ROWS and all(key in cases for key in keys):
            names = general.rows_of([cases[key] for key in keys])
            result.append(in_rows(title, base, series, names))
        else:
            result.append(in_order(title, base, series))
    return result


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


def in_rows(title, base, series, names):
    traces = [
        figure.dots(
            run.label, [names[row["key"]] for row in rows], list(map(estimate, rows)), hovers(run, rows), index
        )
        for index, (run, rows) in enumerate(series)
    ]
    shown = list(names.values())
    traces.append(figure.limit("equal", [shown[0], shown[-1]], 1, True) | {"showlegend": False})
    return figure.rows_chart(title, traces, [base, *(run for run, _ in series)], shown, ratio_axis(series))


def in_order(title, base, series):
    """Too many to name: sorted by their ratio."""
    traces, most = [], 1
    for index, (run, rows) in enumerate(series):
        ordered = sorted(rows, key=lambda row: row["ratio"])
        most = max(most, len(ordered))
        places = list(range(1, len(ordered) + 1))
        traces.append(
            figure.cloud(run.label, places, list(map(estimate, ordered)), hovers(run, ordered), index)
        )
    traces.append(figure.limit("equal", [1, most], 1) | {"showlegend": False})
    horizontal = {"title": {"text": "case, sorted by its ratio"}}
    return figure.Chart(title, traces, [base, *(run for run, _ in series)], horizontal, ratio_axis(series))


def ratio_axis(series):
    """Linear near 1, as most ratios are; by powers where a factor of ten lies between them."""
    ratios = [number(row["ratio"]) for _, rows in series for row in rows]
    better = {row["better"] for _, rows in series for row in rows}
    kind = "log" if max(ratios) > 10 * min(ratios) else "linear"
    return {"type": kind, "title": {"text": _AXES.get(*better, "ratio") if len(better) == 1 else "ratio"}}

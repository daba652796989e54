"""Charts that any scenario can have, also one that the report has never heard of."""

from .. import text
from . import figure, grouping


def overview(scenario, runs):
    """Every case's main measurement, a chart for each unit, where they are few enough to name."""
    units = list(dict.fromkeys(case.main().unit for run in runs for case in run.of(scenario)))
    found = [(unit, grouping.series(runs, scenario, lambda case: case.main().unit == unit)) for unit in units]
    return [
        named_rows("All cases", series, lambda case: case.main(), unit)
        for unit, series in found
        if few_enough_to_name(series)
    ]


def few_enough_to_name(series):
    return len({case.key for case in grouping.every(series)}) <= figure.MOST_ROWS


def rows_of(cases):
    """Names for the keys of these cases; the same case in another run has the same row."""
    first = {}
    for case in cases:
        first.setdefault(case.key, case)
    return dict(zip(first, map(text.label, grouping.names_apart(list(first.values())))))


def named_rows(title, series, estimate, unit, quantity="", note="", narrow=False, limits=()):
    """A row for each case, a symbol for each run."""
    every = grouping.every(series)
    rows, values = rows_of(every), [estimate(case).value for case in every]
    names = list(rows.values())
    factor, shown = figure.scale_of(unit, values)
    traces = [
        figure.of_cases(figure.dots, run.label, run, cases, lambda case: rows[case.key], estimate, index, factor)
        for index, (run, cases) in enumerate(series)
    ]
    traces += figure.limits(limits, [names[0], names[-1]], sideways=True)
    axis = figure.values_axis(text.label(f"{quantity or median_of(every)}, {shown}"), figure.axis_type(values))
    return figure.rows_chart(title, traces, grouping.runs(series), names, axis, note, narrow)


def median_of(cases):
    """What cases are about, as their files call it."""
    headings = {case.heading(case.headline().name) for case in cases}
    return f"median {headings.pop()}" if len(headings) == 1 else "median"


def lines(series, grouped, place, estimate, factor=1, words=lambda case: "", **settings):
    """A line for each run and each group of its cases, which `grouped` names; `place` says where a case stands."""
    runs, traces = grouping.runs(series), []
    for run, cases in series:
        for name, group in grouped(cases):
            name, index = grouping.named(name, run, runs), len(traces)
            traces.append(
                figure.of_cases(figure.line, name, run, group, place, estimate, index, factor, words, **settings)
            )
    return traces


def over_size(scenario, runs, most_lines=24):
    """Time over size, where there are enough sizes for a line and few enough lines to tell apart."""
    charts = []
    for quantity, unit, estimate in (("rate", "GB/s", lambda c: c.rate()), ("time", "s", lambda c: c.main())):
        series = []
        for run in runs:
            cases = [c for c in run.of(scenario) if estimate(c) is not None and estimate(c).unit == unit]
            series.append((run, grouping.by_axis(cases, "size")))
        series = grouping.with_several(series, "size", 3)
        every = grouping.every(series)
        facet_names = [name for name in ("dir", "op", "in-flight") if any(c.texts.get(name) for c in every)]
        for title, parts in grouping.faceted(series, facet_names):
            title = grouping.titled(f"{quantity.capitalize()} over size", title)
            chart = size_lines(title, parts, estimate, unit)
            if len(chart.traces) <= most_lines:
                charts.append(chart)
    return charts


def size_lines(title, series, estimate, unit, limits=(), narrow=True):
    every = grouping.every(series)
    shown = grouping.varying(every, ["size"])
    factor, scaled = figure.scale_of(unit, [estimate(case).value for case in every])
    sizes = [case.count("size") for case in every]
    traces = lines(
        series,
        lambda cases: grouping.groups(cases, ["size"], shown),
        lambda case: case.count("size"),
        estimate,
        factor,
        rate_in_words,
    )
    traces += figure.limits(limits, [min(sizes), max(sizes)])
    measured = text.label(scaled if unit == "GB/s" else f"time, {scaled}")
    vertical = figure.values_axis(measured, "log" if unit == "s" else "linear")
    horizontal = figure.sizes_axis(sizes, "size", 9 if narrow else 14)
    return figure.Chart(title, traces, grouping.runs(series), horizontal, vertical, narrow=narrow)


def rate_in_words(case):
    rate = case.rate()
    return f"rate {rate.in_words()}" if rate else ""

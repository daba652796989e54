"""Small things: bars of medians with their 99th percentiles, a chart for each kind, as they differ by much."""

import itertools

from .. import records, text
from . import figure, general, grouping, headline


def charts(runs):
    kinds = grouping.faceted(grouping.series(runs, "latency"), ["op"])
    return [bars(f"Latency: {parts[0][1][0].word('op')}", parts) for _, parts in kinds]


def headlines(_, cases):
    """The shortest of each kind."""
    return [
        one
        for op, group in headline.groups(cases, "op")
        for one in headline.best(f"Latency: {op}", group, lambda case: case.main(), least=True)
    ]


def bars(title, parts):
    every, runs = grouping.every(parts), grouping.runs(parts)
    rows = general.rows_of(every)
    factor, unit = figure.time_scale([case.main().value for case in every])
    traces = []

    def place(case):
        return rows[case.key]

    for index, (run, cases) in zip(itertools.count(0, 2), parts):
        name = grouping.named("median", run, runs)
        medians = figure.of_cases(figure.bars, name, run, cases, place, lambda c: c.main(), index, factor, p99_in_words)
        traces.append(medians)
        cases = [case for case in cases if p99_of(case) is not None]
        if cases:
            name, look = grouping.named("99th percentile", run, runs), {"symbol": "diamond", "size": 9}
            draw = figure.dots
            traces.append(figure.of_cases(draw, name, run, cases, place, p99, index + 1, factor, p99_in_words, **look))
    horizontal = figure.values_axis(f"time, {unit}")
    note = "Bars are medians with their 95 % intervals; diamonds are the 99th percentile."
    room, names = 22 + 24 * (len(parts) - 1), list(rows.values())
    return figure.rows_chart(title, traces, runs, names, horizontal, note, narrow=True, room=room, barmode="group")


def p99_of(case):
    return case.headline().percentile("p99")


def p99(case):
    return records.Estimate(p99_of(case))


def p99_in_words(case):
    value = p99_of(case)
    return "" if value is None else f"99th percentile {text.quantity(value, case.main().unit)}"

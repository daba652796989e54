"""Small things: bars of medians with their 99th percentiles, a chart for each kind, as they differ by much."""

from .. import records, text
from . import figure, general, grouping


def charts(runs):
    kinds = general.faceted(grouping.series(runs, "latency"), ["op"])
    return [bars(f"Latency: {parts[0][1][0].word('op')}", parts) for _, parts in kinds]


def bars(title, parts):
    rows = general.rows_of(grouping.every(parts))
    values = [case.main().value for case in grouping.every(parts)]
    factor, unit = figure.time_scale(values)
    runs, traces = [run for run, _ in parts], []
    for index, (run, cases) in enumerate(parts):
        traces.append(medians(run, cases, rows, index, factor, len(parts) > 1))
        tail = percentiles(run, cases, rows, index, factor, len(parts) > 1)
        traces += [tail] if tail else []
    horizontal = {"title": {"text": f"time, {unit}"}, "rangemode": "tozero"}
    note = "Bars are medians with their 95 % intervals; diamonds are the 99th percentile."
    room = 22 + 24 * (len(parts) - 1)
    return figure.rows_chart(
        title, traces, runs, list(rows.values()), horizontal, note, narrow=True, room=room, barmode="group"
    )


def medians(run, cases, rows, index, factor, several):
    name = grouping.named("median", run, [run] * (1 + several))
    hovers = [figure.case_hover(run, case, p99_in_words(case)) for case in cases]
    places, estimates = [rows[case.key] for case in cases], [case.main() for case in cases]
    return figure.bars(name, places, estimates, hovers, index, factor)


def p99_of(case):
    return case.headline().percentile("p99")


def p99_in_words(case):
    value = p99_of(case)
    return "" if value is None else f"99th percentile {text.quantity(value, case.main().unit)}"


def percentiles(run, cases, rows, index, factor, several):
    found = [case for case in cases if p99_of(case) is not None]
    if not found:
        return None
    name = grouping.named("99th percentile", run, [run] * (1 + several))
    hovers = [figure.case_hover(run, case, p99_in_words(case)) for case in found]
    places, values = [rows[case.key] for case in found], [records.Estimate(p99_of(case)) for case in found]
    return figure.dots(name, places, values, hovers, index + 1, factor, symbol="diamond", size=9)

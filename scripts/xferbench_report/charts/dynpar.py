"""Launches from the device: what a child costs by each way of launching it, and the sort beside the host's."""

from .. import records
from . import figure, general, grouping, headline

_LINES = ["launch", "launchers", "streams", "depth"]


def charts(runs):
    parts_of = grouping.faceted(grouping.series(runs, "dynpar", per_child), ["shape", "work"])
    return [children_chart(title, parts) for title, parts in parts_of] + [chart for run in runs for chart in sorts(run)]


def headlines(_, cases):
    """The least that a child costs, and the fastest sort."""
    by_device = [case for case in cases if case.word("task") == "sort"]
    return headline.best("Least cost of a child", cases, per_child, least=True) + headline.best(
        "Shortest sort, driven by the device", by_device, lambda case: case.main(), least=True
    )


def per_child(case):
    """The metric with the interval that the makespan's is, shared among the children."""
    value, count, makespan = case.metric("per_child", "s"), case.count("children"), case.main()
    if value is None or value <= 0 or not count:
        return None
    if makespan.low is None:
        return records.Estimate(value, None, None, makespan.samples)
    low, high = ((end - makespan.value) / count for end in (makespan.low, makespan.high))
    return records.Estimate(value, max(value + low, value / 1e3), value + high, makespan.samples)


def children_chart(title, parts):
    every = grouping.every(parts)
    factor, unit = figure.time_scale([per_child(case).value for case in every])
    shown = [name for name in grouping.varying(every) if name in _LINES]
    traces = general.lines(
        parts,
        lambda cases: grouping.groups(grouping.by_axis(cases, "children"), ["children", "size", "keys"], shown),
        lambda case: case.count("children"),
        per_child,
        factor,
        lambda case: f"{per_child(case).in_words()} for each child",
    )
    horizontal = figure.counts_axis(grouping.distinct(every, "children"), "children")
    vertical = figure.values_axis(f"time for each child, {unit}", "log")
    title = grouping.titled("Cost of each child", title)
    return figure.Chart(title, traces, grouping.runs(parts), horizontal, vertical)


def by_the_host_is(by_device, by_host):
    """The host's time beside the device's, as far as their intervals decide it."""
    said = {"less": "faster than by the device", "more": "slower than by the device", "equal": "equally fast"}
    return said.get(by_host.beside(by_device), "not decided: the intervals overlap")


def sorts(run):
    """The sort driven by the device beside the same driven by the host."""
    cases = [case for case in run.of("dynpar") if case.word("task") == "sort" and case.estimate("by-host")]
    if not cases or len(cases) > figure.MOST_ROWS:
        return []
    chart = general.named_rows("Sort, by the device and by the host", [(run, cases)], lambda case: case.main(), "s")
    factor, _ = figure.time_scale([case.main().value for case in cases])
    by_host = [case.estimate("by-host") for case in cases]
    hovers = [
        figure.hover(case.key, f"driven by the host: {one.in_words()}", by_the_host_is(case.main(), one))
        for case, one in zip(cases, by_host)
    ]
    chart.traces[0]["name"] = "launched by the device"
    chart.traces.append(figure.dots("driven by the host", chart.traces[0]["y"], by_host, hovers, 1, factor))
    return [chart]

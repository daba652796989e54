"""Ways to shared memory: rates over stages and bytes in flight, times over intensity beside their bounds."""

from .. import text
from . import figure, general, grouping, headline

_LINES = ["method", "store"]
_BOUNDS = (("memory", "memory only", "dot"), ("compute", "compute only", "dash"))


def charts(runs):
    series = grouping.series(runs, "smem")
    return over_stages(series) + over_intensity(series) or rates(series)


def headlines(_, cases):
    """The highest rate of each kind of kernel, beside a copy by the driver."""
    return [
        one
        for op, group in headline.groups([case for case in cases if not case.tuned] or cases, "op")
        for one in headline.best(f"Through shared memory: {op}", group, lambda case: case.rate(), limit_of)
    ]


def limit_of(case):
    beside, rate = case.metric("vs_d2d"), case.rate()
    # Some kernels are faster than the driver's copy, and none stands above its limit.
    limit = rate.value / min(beside, 1) if beside else None
    return headline.rate_limit(limit), "a copy by the driver, or this kernel where it is faster"


def split(series, axis):
    """Parts of the series in which only this axis and what lines are of vary, titled by what else they agree in."""
    names = dict.fromkeys(name for case in grouping.every(series) for name in case.texts)
    return grouping.faceted(series, [name for name in names if name not in [*_LINES, axis]])


def methods(cases, axis):
    """The cases of each line, by its name."""
    found = grouping.facets(grouping.by_axis(cases, axis), _LINES)
    return [(name or group[0].word("method"), group) for name, group in found]


def lines(parts, axis, estimate, factor=1, place=None):
    """A line for each method and run, over the axis unless cases have another place."""
    place = place or (lambda case: case.count(axis))
    return general.lines(parts, lambda cases: methods(cases, axis), place, estimate, factor, in_words)


def in_words(case):
    rate, flight = case.rate(), bytes_in_flight(case)
    words = [rate.in_words()] if rate else []
    return ", ".join(words + ([f"{text.size(flight)} in flight on each multiprocessor"] if flight else []))


def over_stages(series):
    """Not of a search, which goes where it likes and leaves no lines."""
    usable = grouping.keep(series, lambda case: case.rate() and case.count("stages") and not case.tuned)
    result = []
    for title, parts in split(usable, "stages"):
        every = grouping.every(parts)
        values = grouping.distinct(every, "stages")
        if len(values) < 3:  # two are better off in the chart of rates
            continue
        stages = figure.counts_axis(values, "stages") | {"type": "linear"}
        result.append(rates_over("Rate over stages", title, parts, stages))
        flights = [bytes_in_flight(case) for case in every]
        if all(value and value > 0 for value in flights):  # the same points, by what their loops can have under way
            axis = figure.sizes_axis(flights, "bytes in flight on each multiprocessor")
            result.append(rates_over("Rate over bytes in flight", title, parts, axis, bytes_in_flight))
    return result


def rates_over(beginning, title, parts, axis, place=None):
    traces = lines(parts, "stages", lambda case: case.rate(), place=place)
    rate = figure.values_axis("GB/s of payload")
    return figure.Chart(grouping.titled(beginning, title), traces, grouping.runs(parts), axis, rate, narrow=True)


def bytes_in_flight(case):
    """On each multiprocessor, asked for and not yet there."""
    return case.metric("bytes_in_flight", "B")


def over_intensity(series):
    usable = grouping.keep(series, lambda case: (case.count("intensity") or 0) > 0 and not case.tuned)
    return [
        times_and_bounds(grouping.titled("Time over intensity", title), parts)
        for title, parts in split(usable, "intensity")
        if len(grouping.distinct(grouping.every(parts), "intensity")) > 1
    ]


def times_and_bounds(title, parts):
    """What a loop takes, and as thin lines in its colour what it takes without arithmetic and without memory."""
    every = grouping.every(parts)
    factor, unit = figure.time_scale([case.main().value for case in every])
    traces = lines(parts, "intensity", lambda case: case.main(), factor)
    bounds, owners = [], iter(traces)
    for _, cases in parts:
        for _, group in methods(cases, "intensity"):
            bounds += bounds_of(group, next(owners), factor)
    axis = figure.counts_axis(grouping.distinct(every, "intensity"), "operations per element")
    vertical = figure.values_axis(f"time, {unit}")
    note = "Dotted: the same loop without arithmetic. Dashed: without memory. Neither can be beaten by that loop."
    return figure.Chart(title, traces + bounds, grouping.runs(parts), axis, vertical, note)


def bounds_of(cases, owner, factor):
    traces = []
    for measurement, words, dash in _BOUNDS:
        found = [(case.count("intensity"), case.estimate(measurement)) for case in cases]
        found = [(at, one) for at, one in found if one is not None]
        if not found:
            continue
        hovers = [figure.hover(f"{words}, {cases[0].word('method')}", one.in_words()) for _, one in found]
        quiet = {"mode": "lines", "showlegend": False, "legendgroup": owner["name"], "opacity": 0.7}
        quiet["line"] = {"color": owner["line"]["color"], "dash": dash, "width": 1.1}
        xs, estimates = [at for at, _ in found], [one for _, one in found]
        traces.append(figure.line(words, xs, estimates, hovers, 0, factor, **quiet))
    if traces:
        owner["legendgroup"] = owner["name"]
    return traces


def rates(series):
    """Every case's rate beside that of a copy inside the GPU, where there are few enough to name."""
    usable = grouping.keep(series, lambda case: case.rate())
    if not usable or not general.few_enough_to_name(usable):
        return []
    return [general.named_rows("Rate", usable, lambda case: case.rate(), "GB/s", "rate of payload")]

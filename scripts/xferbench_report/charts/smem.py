"""Ways to shared memory: rates over stages and bytes in flight, times over intensity beside their bounds."""

from .. import text
from . import figure, general, grouping

_LINES = ["method", "store"]
_BOUNDS = (("memory", "memory only", "dot"), ("compute", "compute only", "dash"))


def charts(runs):
    series = grouping.series(runs, "smem")
    return over_stages(series) + over_intensity(series) or rates(series)


def split(series, free):
    """Parts of the series in which only these axes vary, with what else they agree in as the title."""
    names = dict.fromkeys(name for case in grouping.every(series) for name in case.texts)
    others = [name for name in names if name not in free]
    return general.faceted(series, others)


def lines(parts, axis, estimate, factor=1):
    """A line for each method and run."""
    runs, traces = [run for run, _ in parts], []
    for run, cases in parts:
        for name, group in grouping.facets(grouping.by_axis(cases, axis), _LINES):
            name = grouping.named(name or group[0].word("method"), run, runs)
            xs = [case.count(axis) for case in group]
            hovers = [figure.case_hover(run, case, in_words(case)) for case in group]
            traces.append(figure.line(name, xs, [estimate(case) for case in group], hovers, len(traces), factor))
    return traces


def in_words(case):
    rate, flight = case.rate(), case.metric("bytes_in_flight", "B")
    words = [rate.in_words()] if rate else []
    return ", ".join(words + ([f"{text.size(flight)} in flight on each multiprocessor"] if flight else []))


def over_stages(series):
    """Not of a search, which goes where it likes and leaves no lines."""
    usable = grouping.keep(series, lambda case: case.rate() and case.count("stages") and not case.tuned)
    result = []
    for title, parts in split(usable, [*_LINES, "stages"]):
        values = [value for _, cases in parts for value in grouping.distinct(cases, "stages")]
        if len(set(values)) < 3:  # two are better off in the chart of rates
            continue
        rate = {"title": {"text": "GB/s of payload"}, "rangemode": "tozero"}
        stages = figure.counts_axis(values, "stages") | {"type": "linear"}
        runs = [run for run, _ in parts]
        traces = lines(parts, "stages", lambda case: case.rate())
        result.append(figure.Chart(grouping.titled("Rate over stages", title), traces, runs, stages, rate, narrow=True))
        result.append(over_flight(grouping.titled("Rate over bytes in flight", title), parts, rate))
    return [chart for chart in result if chart is not None]


def over_flight(title, parts, rate):
    """The same points, by what their loops can have asked for and not yet have."""
    traces = lines(parts, "stages", lambda case: case.rate())
    flights = []
    for run, cases in parts:
        for _, group in grouping.facets(grouping.by_axis(cases, "stages"), _LINES):
            flights.append([case.metric("bytes_in_flight", "B") for case in group])
    if not all(value and value > 0 for values in flights for value in values):
        return None
    for trace, values in zip(traces, flights):
        trace["x"] = values
    every = [value for values in flights for value in values]
    axis = figure.sizes_axis(every, "bytes in flight on each multiprocessor")
    return figure.Chart(title, traces, [run for run, _ in parts], axis, rate, narrow=True)


def over_intensity(series):
    usable = grouping.keep(series, lambda case: (case.count("intensity") or 0) > 0 and not case.tuned)
    result = []
    for title, parts in split(usable, [*_LINES, "intensity"]):
        values = [value for _, cases in parts for value in grouping.distinct(cases, "intensity")]
        if len(set(values)) > 1:
            result.append(times_and_bounds(grouping.titled("Time over intensity", title), parts, values))
    return result


def times_and_bounds(title, parts, values):
    """What a loop takes, and as thin lines in its colour what it takes without arithmetic and without memory."""
    factor, unit = figure.time_scale([case.main().value for case in grouping.every(parts)])
    traces = lines(parts, "intensity", lambda case: case.main(), factor)
    bounds, owners = [], iter(traces)
    for _, cases in parts:
        for _, group in grouping.facets(grouping.by_axis(cases, "intensity"), _LINES):
            bounds += bounds_of(group, next(owners), factor)
    axis = figure.counts_axis(values, "operations per element")
    vertical = {"title": {"text": f"time, {unit}"}}
    note = "Dotted: the same loop without arithmetic. Dashed: without memory. Neither can be beaten by that loop."
    return figure.Chart(title, traces + bounds, [run for run, _ in parts], axis, vertical, note)


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
    if not usable or len({case.key for case in grouping.every(usable)}) > figure.MOST_ROWS:
        return []
    return [general.named_rows("Rate", usable, lambda case: case.rate(), "GB/s", "rate of payload")]

"""From GPU to GPU: a matrix for each way to copy, and rates over sizes."""

from .. import text
from . import figure, general, gpus, grouping, headline, matrix

DIRECTIONS = {"read": "Read from another GPU", "write": "Write to another GPU", "bidirectional": "Both ways at once"}
_PAIR = ["from", "to"]
_QUANTITIES = (("bandwidth", "GB/s"), ("latency", "s"))
_MOST_PAIRS = 12  # lines over sizes


def charts(runs):
    found = []
    for run, cases in grouping.series(runs, "p2p", lambda case: case.word("from") != "" and case.word("to") != ""):
        for name, unit in _QUANTITIES:
            found += matrices(run, runs, [case for case in cases if case.metric(name, unit) is not None], name, unit)
    return found + over_size(runs)


def headlines(_, cases):
    """Of each direction the highest rate beside what the links can do; and the shortest latency."""
    found = []
    for direction, group in headline.groups([case for case in cases if case.rate()], "dir"):
        title = DIRECTIONS.get(direction, "Between GPUs")
        found += headline.best(title, group, lambda case: case.rate(), limit_of)
    waiting = [case for case in cases if case.metric("latency", "s") is not None]
    return found + headline.best("Latency of a read of another GPU", waiting, latency_of, least=True)


def limit_of(case):
    return headline.rate_limit(case.metric("limit", "GB/s")), "the links between them"


def latency_of(case):
    return case.sure(case.metric("latency", "s"), "s")


def matrices(run, runs, cases, name, unit):
    """Of the largest size, where there are several."""
    sizes = grouping.distinct(cases, "size")
    largest = [case for case in cases if not sizes or case.count("size") in (None, sizes[-1])]
    shown = grouping.varying(cases, [*_PAIR, *(["dir"] if named_directions(cases) else [])])
    charts = []
    for described, group in grouping.groups(largest, _PAIR, shown):
        factor, scale = figure.scale_of(unit, [case.metric(name) for case in group])
        title = grouping.named(title_of(name, group, described, scale), run, runs)
        charts.append(pairs(title, run, group, name, unit, factor, scale))
    return charts


def named_directions(cases):
    """Whether the title says each of them."""
    return all(case.word("dir") in DIRECTIONS for case in cases)


def title_of(name, group, described, scale):
    words = "Latency" if name == "latency" else DIRECTIONS.get(group[0].word("dir"), "Rate")
    return grouping.titled(f"{words}, {scale}", described)


def pairs(title, run, cases, name, unit, factor, scale):
    joined, groups, places = gpus.joints(run), {}, {}
    for case in cases:
        place = (case.word("from"), case.word("to"))
        places[place] = case
        groups.setdefault(joined.get(place), {})[place] = case.main()
    odd = [(place, len(group)) for group in groups.values() for place in gpus.odd_ones(group)]
    counted = " or ".join(map(str, sorted({count for _, count in odd})))
    note = f"* differs by more than 5 % from the median of its group of {counted} cells." if odd else ""
    cells = {place: (case.metric(name) * factor, said_of(run, case, name, unit)) for place, case in places.items()}
    rows, columns = (gpus.in_order({place[side] for place in places}) for side in (0, 1))
    axes, marked = ("from GPU", "to GPU"), [place for place, _ in odd]
    return matrix.chart(title, [run], rows, columns, cells, axes, scale, note, marked)


def said_of(run, case, name, unit):
    value, share = case.metric(name), case.metric("of_limit")
    words = f"from GPU {case.word('from')} to GPU {case.word('to')}: {text.quantity(value, unit)}"
    return figure.case_hover(run, case, words, f"{text.percent(share)} of the limit" if share is not None else "")


def over_size(runs):
    """A line for each pair, where they can be told apart."""
    series = grouping.series(runs, "p2p", lambda case: case.rate() is not None and (case.count("size") or 0) > 0)
    series = grouping.with_several(series, "size", 3)
    found = []
    for described, parts in grouping.faceted(series, ["dir", "engine", "access"]):
        parts = [(run, grouping.by_axis(cases, "size")) for run, cases in parts]
        title = grouping.titled("Rate over size", described)
        chart = general.size_lines(title, parts, lambda case: case.rate(), "GB/s") if parts else None
        found += [chart] if chart and len(chart.traces) <= _MOST_PAIRS else []
    return found

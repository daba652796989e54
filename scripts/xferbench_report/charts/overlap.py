"""Pipelines: maps of efficiency over streams and chunks, and rates over chunks and sizes beside their limit."""

from .. import records, text
from . import figure, general, grouping, headline

HEADLINE = "pipeline"  # in files that do not declare what their cases are about
_MOST_NUMBERS = 130  # cells with their numbers in them
_WORK = ["size", "kernel", "work", "balance", "rounds", "blocks"]  # cases that differ there do different work
_FREE = ["growth", "issue", "stream-kind", "batch", "slots"]  # lines over chunks take the best of these


def charts(runs):
    series = grouping.series(runs, "overlap")
    # Without a map chunks are always as many, or streams are.
    found = maps(series) or best_over("streams", series, ["strategy", "chunks"])
    return found + best_over("chunks", series, ["strategy", "streams"]) + best_over("size", series, ["strategy"])


def headlines(run, cases):
    """The pipeline that comes closest to its limit."""
    known = [case for case in cases if case.metric("efficiency")]

    def limit_of(case):
        rate = case.rate()
        return headline.rate_limit(rate and rate.value / case.metric("efficiency")), "the limit, as measured"

    def share(case):
        main = case.main()
        if main.low is None or main.low <= 0:
            return records.Estimate(case.metric("efficiency"), None, None, main.samples, "1")
        ends = [case.metric("efficiency") * main.value / end for end in (main.high, main.low)]
        return records.Estimate(case.metric("efficiency"), *ends, main.samples, "1")

    found = headline.best("Copies and kernels at once, in plus out", known, share, limit_of)
    for one in found:
        one.estimate = lambda case: case.rate()
    return [one for one in found if one.value is not None]


def maps(series):
    """One for each run and whatever else varies, where streams and chunks both do."""
    result = []
    for run, cases in series:
        usable = [c for c in cases if c.count("streams") and c.count("chunks") and c.metric("efficiency") is not None]
        shown = grouping.varying(usable, ["streams", "chunks"])
        for name, group in sorted(grouping.groups(usable, ["streams", "chunks"], shown), key=order_of(shown)):
            if len(grouping.distinct(group, "streams")) > 1 and len(grouping.distinct(group, "chunks")) > 1:
                name = grouping.named(name, run, grouping.runs(series))
                result.append(efficiency_map(f"Efficiency: {name}", run, group))
    return share_colours(result)


def share_colours(maps_of_page):
    """The same colour means the same in all of them, so that maps can be compared."""
    values = [z for chart in maps_of_page for row in chart.traces[0]["z"] for z in row if z is not None]
    for chart in maps_of_page:
        chart.traces[0] |= {"zmin": min(values), "zmax": max(values)}
    middle = (min(values) + max(values)) / 2 if values else 0
    for chart in maps_of_page:
        for one in chart.annotations:
            one["font"]["color"] = "#111111" if float(one["text"].rstrip("*")) > middle else "#ffffff"
    return maps_of_page


def order_of(names):
    """Named groups by what tells them apart: numbers by their size."""

    def key(named_group):
        first = named_group[1][0]
        return [(first.count(name) is None, first.count(name) or 0, first.word(name)) for name in names]

    return key


def efficiency_map(title, run, cases):
    streams, chunks = grouping.distinct(cases, "streams"), grouping.distinct(cases, "chunks")
    cells = {(case.count("streams"), case.count("chunks")): case for case in cases}
    best = max(cases, key=lambda case: case.metric("efficiency"))
    undecided = [case for case in cases if case is not best and not_worse(case, best)]
    marked = f"Marked *: the best, {best.word('streams')} streams, {best.word('chunks')} chunks; {in_words(best)}"
    if undecided:
        marked += f"; and {text.plural(len(undecided), 'other')} that cannot be told apart from it"

    def table(of_case, missing):
        return [[of_case(cells[s, c]) if (s, c) in cells else missing for c in chunks] for s in streams]

    trace = {
        "type": "heatmap",
        "z": table(lambda case: 100 * case.metric("efficiency"), None),
        "hovertext": table(lambda case: figure.case_hover(run, case, in_words(case)), "not measured"),
        "hoverinfo": "text",
        "colorscale": "Cividis",
        "colorbar": {"title": {"text": "of limit, %", "side": "right"}, "thickness": 14},
        "xgap": 1,
        "ygap": 1,
    }
    few = len(streams) * len(chunks) <= _MOST_NUMBERS
    return figure.Chart(
        title,
        [trace],
        [run],
        places_axis(chunks, "chunks"),
        places_axis(streams, "streams"),
        note=f"{marked}.",
        height=150 + 42 * max(4, len(streams)),
        narrow=True,
        annotations=numbers(cells, [best, *undecided], streams, chunks) if few else [],
    )


def not_worse(case, best):
    """Whether its interval leaves open that it is as good: the work of all cells of a map is the same."""
    return case.main().low is not None and case.main().beside(best.main()) in ("equal", records.NOT_DECIDED)


def places_axis(counts, title):
    """A place for each count, all alike wide, whatever lies between them."""
    return {
        "title": {"text": title},
        "tickmode": "array",
        "tickvals": list(range(len(counts))),
        "showgrid": False,
        "ticktext": [text.digits(count) for count in counts],
    }


def numbers(cells, starred, all_streams, all_chunks):
    """Each cell's value; share_colours gives it one that its cell's leaves readable."""
    return [
        {
            "x": all_chunks.index(chunks),
            "y": all_streams.index(streams),
            "text": f"{100 * case.metric('efficiency'):.1f}{'*' if case in starred else ''}",
            "showarrow": False,
            "font": {"size": 11},
        }
        for (streams, chunks), case in cells.items()
    ]


def in_words(case):
    share, rate = case.metric("efficiency"), case.rate()
    words = [f"{text.percent(share)} of the limit"] if share is not None else []
    return ", ".join(words + ([rate.in_words()] if rate else []))


def limits_of(series):
    """The rate at the limit, as measured: the most of all cases of a chart."""
    known = [case for case in grouping.every(series) if case.rate() and case.rate().value and case.metric("efficiency")]
    found = [case.rate().value / case.metric("efficiency") for case in known]
    return [(f"limit, as measured: {text.digits(max(found))} GB/s", max(found))] if found else []


def best_at(cases, axis):
    """Of the cases with the same number there the fastest, sorted by it."""
    best = {}
    for case in grouping.by_axis(cases, axis):
        known = best.get(case.count(axis))
        if known is None or case.rate().value > known.rate().value:
            best[case.count(axis)] = case
    return list(best.values())


def has_several(cases, name):
    return len({case.texts[name] for case in cases if name in case.texts}) > 1


def best_over(axis, series, apart):
    """Of each group of cases that do the same work: the fastest at each value of the axis."""
    usable = grouping.keep(series, lambda case: case.rate() and (case.count(axis) or 0) > 0)
    usable = grouping.with_several(usable, axis)
    beginning = "Best rate over size" if axis == "size" else f"Rate over {axis}"
    parts_of = grouping.faceted(usable, [name for name in _WORK if name != axis])
    return [best_lines(grouping.titled(beginning, title), parts, axis, apart) for title, parts in parts_of]


def best_lines(title, series, axis, apart):
    """A line for each value of the axes in apart; at each point the fastest case of all that agree in them."""

    def grouped(cases):
        found = sorted(grouping.facets(cases, apart), key=order_of(apart))
        best = [(name, best_at(group, axis)) for name, group in found]
        return [(name, group) for name, group in best if group]

    every = grouping.every(series)
    traces = general.lines(series, grouped, lambda case: case.count(axis), lambda case: case.rate(), 1, in_words)
    values = [case.count(axis) for case in every]
    traces += figure.limits(limits_of(series), [min(values), max(values)])
    horizontal = figure.sizes_axis(values, "size") if axis == "size" else figure.counts_axis(values, axis)
    free = _FREE + (["streams", "chunks"] if axis == "size" else [])
    free = [name for name in free if any(has_several(cases, name) for _, cases in series)]
    note = f"Each point is the fastest over {', '.join(free)}." if free else ""
    vertical = figure.values_axis("GB/s, in plus out")
    return figure.Chart(title, traces, grouping.runs(series), horizontal, vertical, note, narrow=True)

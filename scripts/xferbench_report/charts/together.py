"""One copy on several GPUs at once: what each of them gets in company beside what it gets alone."""

import statistics

from .. import records, text
from . import figure, gpus, grouping, headline

_EACH, _ALONE = "gpu_bandwidth", "gpu_alone_bandwidth"
_APART = ["pattern", "memory", "size"]  # cases that differ there are not company for each other
_MOST_GROUPS = 6


def charts(runs):
    series = grouping.series(runs, "together", lambda case: case.rate() is not None and case.word("group") != "")
    return [
        chart
        for title, parts in grouping.faceted(series, _APART)
        for run, cases in parts
        for chart in beside_alone(grouping.named(title, run, runs) if len(runs) > 1 else title, run, cases)
    ]


def headlines(_, cases):
    """Of each pattern what the most GPUs reach at once, beside what they reach one at a time."""
    found = []
    for pattern, group in headline.groups([case for case in cases if case.rate()], "pattern"):
        most = max(len(members(case)) for case in group)
        largest = [case for case in group if len(members(case)) == most]
        title = f"{text.plural(most, 'GPU')} at once: {gpus.in_words(pattern)}"
        found += headline.best(title, largest, lambda case: case.rate(), alone)
    return found


def alone(case):
    share = case.metric("of_alone")
    return headline.rate_limit(case.rate().value / share if share else None), "each of them alone, added up"


def members(case):
    """Of 0+1 both."""
    return case.word("group").split("+")


def rates(case):
    """What each GPU gets; a single one gets what the case is about."""
    return of_each(case, _EACH) or ({members(case)[0]: case.rate().value} if len(members(case)) == 1 else {})


def of_each(case, name):
    """A rate of each GPU."""
    known = next((values for (found, _), values in case.gpu_metrics().items() if found == name), {})
    return {str(gpu): value for gpu, value in known.items()}


def rates_of(cases, size, gpu):
    """What a GPU gets in groups of a size, by their names; alone also what it got beside its samples in company."""
    found = {case.word("group"): rates(case)[gpu] for case in cases if len(members(case)) == size and gpu in rates(case)}
    if size > 1 or found:
        return found
    beside = {case.word("group"): of_each(case, _ALONE).get(gpu) for case in cases}
    return {f"between samples of {group}": value for group, value in beside.items() if value is not None}


def beside_alone(title, run, cases):
    """Bars of each GPU alone and in groups of each size; and what each size reaches, over the number of GPUs."""
    sizes = sorted({len(members(case)) for case in cases} | {1 for case in cases if of_each(case, _ALONE)})
    if len(sizes) < 2:
        return []
    shown = sizes if len(sizes) <= _MOST_GROUPS else [sizes[0], *sizes[1 - _MOST_GROUPS :]]
    every = gpus.in_order({gpu for case in cases for gpu in rates(case)})
    rows = {gpu: text.label(f"GPU {gpu}") for gpu in every}
    traces = [bars(run, cases, size, rows, index) for index, size in enumerate(shown)]
    found = [each_gpu(title, run, [trace for trace in traces if trace["y"]], rows)]
    return [chart for chart in found if chart.traces] + [over_count(title, run, cases)]


def each_gpu(title, run, traces, rows):
    axis, room = figure.values_axis("GB/s of each GPU"), 22 + 16 * len(traces)
    note = "Of several groups of one size that a GPU is in, the bar is the median."
    title, names = grouping.titled("Alone and in company", title), list(rows.values())
    return figure.rows_chart(title, traces, [run], names, axis, note, narrow=True, room=room, barmode="group")


def bars(run, cases, size, rows, index):
    places, estimates, hovers = [], [], []
    for gpu, row in rows.items():
        known = rates_of(cases, size, gpu)
        if not known:
            continue
        places.append(row)
        estimates.append(records.Estimate(statistics.median(known.values()), unit="GB/s"))
        words = [f"GPU {gpu} in {group}: {text.quantity(value, 'GB/s')}" for group, value in list(known.items())[:8]]
        hovers.append(figure.hover(run.label, *words, f"and {len(known) - 8} more" if len(known) > 8 else ""))
    name = "alone" if size == 1 else f"{size} GPUs at once"
    return figure.bars(name, places, estimates, hovers, index)


def over_count(title, run, cases):
    """All bytes over first start to last end: what counts, whatever each GPU's own rate is."""
    sizes = sorted({len(members(case)) for case in cases})
    groups = [[case for case in cases if len(members(case)) == size] for size in sizes]
    middle = [sorted(group, key=lambda case: case.rate().value)[len(group) // 2] for group in groups]
    hovers = [figure.case_hover(run, case, *in_company(case)) for case in middle]
    traces = [figure.line("at once", sizes, [case.rate() for case in middle], hovers, 0)]
    alone = [case.rate().value for case in groups[0]] if sizes[0] == 1 else []
    alone = alone or [value for case in cases for value in of_each(case, _ALONE).values()]
    if alone:
        added = [size * statistics.mean(alone) for size in sizes]
        said = [figure.hover(f"{text.quantity(value, 'GB/s')}: so many times the mean of one alone") for value in added]
        estimates = [records.Estimate(value, unit="GB/s") for value in added]
        traces.append(figure.line("as much as alone, each", sizes, estimates, said, 1))
    horizontal = figure.counts_axis(sizes, "GPUs at once")
    vertical = figure.values_axis("GB/s, all bytes from first start to last end")
    return figure.Chart(grouping.titled("Rate over GPUs", title), traces, [run], horizontal, vertical, narrow=True)


def in_company(case):
    skew, share = case.metric("skew"), case.metric("of_alone")
    unit = case.record["metrics"].get("skew", {}).get("unit", "")
    words = [f"rate {case.rate().in_words()}"]
    words += [f"{text.percent(share)} of alone"] if share is not None else []
    return words + ([f"skew {text.quantity(skew, unit)}"] if skew is not None else [])

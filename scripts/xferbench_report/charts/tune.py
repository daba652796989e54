"""A search's ten fastest configurations with their intervals, and how well the model knew the others."""

from .. import records, text
from . import figure, general, grouping

_BEST = 10


def charts(scenario, runs):
    """The charts that come before the scenario's own, and those that come after."""
    first, last = [], []
    for run in runs:
        cases = [case for case in run.of(scenario) if case.tuned and case.main().unit == "s"]
        if cases:
            first.append(fastest(run, cases, len(runs) > 1))
            last += predictions(run, cases, len(runs) > 1)
    return first, last


def ranked(cases):
    """Confirmed ones first: they were sampled beside each other, the others when the search came to them."""
    return sorted(cases, key=lambda case: (case.labels["measured_in"] != "confirmation", case.main().value))


def fastest(run, cases, several):
    best = ranked(cases)[:_BEST]
    title = f"The {len(best)} fastest of {len(cases)} configurations" + (f": {run.label}" if several else "")
    chart = general.named_rows(title, [(run, best)], lambda case: case.main(), "s", "time")
    factor, unit = figure.time_scale([case.main().value for case in best])
    rows = general.rows_of(best)
    modelled = [case for case in best if case.metric("predicted", "s") is not None]
    if modelled:
        places, hovers = [rows[c.key] for c in modelled], [figure.hover(c.key, predicted_in_words(c)) for c in modelled]
        values = [records.Estimate(case.metric("predicted", "s")) for case in modelled]
        name, look = "predicted by the model", {"symbol": "diamond-open", "size": 9}
        chart.traces.append(figure.dots(name, places, values, hovers, 1, factor, **look))
        chart.traces[0]["name"] = "measured"
    chart.xaxis = figure.cut_axis(f"time, {unit}")
    chart.note = "Intervals that overlap say that the order of these two is not known."
    return chart


def predicted_in_words(case):
    residual = case.metric("residual", "1")
    words = f"predicted {text.seconds(case.metric('predicted', 's'))}"
    return words + (f", measured {text.percent(residual)} above" if residual is not None else "")


def predictions(run, cases, several):
    """Measured over predicted: on the diagonal the model was right."""
    known = [case for case in cases if (case.metric("predicted", "s") or 0) > 0 and case.main().value > 0]
    if len(known) < 3:
        return []
    factor, unit = figure.time_scale([case.main().value for case in known])
    shown = [name for name in ("strategy", "method") if name in grouping.varying(known)]
    traces = general.lines(
        [(run, known)],
        lambda cases: [(name or "configurations", group) for name, group in grouping.facets(cases, shown)],
        lambda case: case.metric("predicted", "s") * factor,
        lambda case: case.main(),
        factor,
        predicted_in_words,
        mode="markers",
    )
    ends = [factor * pick(case.metric("predicted", "s") for case in known) for pick in (min, max)]
    traces.append(figure.limit("measured = predicted", ends, 0) | {"y": ends})
    title = "Measured over predicted" + (f": {run.label}" if several else "")
    wide = ends[1] > 5 * ends[0]
    horizontal, vertical = (
        figure.values_axis(title, "log") if wide else figure.cut_axis(title)
        for title in (f"predicted time, {unit}", f"measured time, {unit}")
    )
    return [figure.Chart(title, traces, [run], horizontal, vertical, narrow=True)]

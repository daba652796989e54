"""A side against the first: the ratio of every case that both have, as `xferbench compare` says it.

All charts of a page have one scale, and in each the threshold's band is drawn: what lies in it as a whole is equal.
"""

import math
import textwrap

from .. import comparison, records, text
from ..text import number
from . import figure, general

_AXES = {"lower": "less is better", "higher": "more is better"}
_LOOKS = {  # colour and symbol of each verdict
    "regressed": (figure.COLOURS[1], "triangle-right"),
    "improved": (figure.COLOURS[0], "triangle-left"),
    "changed": (figure.COLOURS[2], "diamond"),
    "inconclusive": (figure.COLOURS[3], "circle-open"),
    "same": (figure.LIMIT_COLOUR, "circle"),
}
_TICKS = (0.5, 0.7, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 1, 1.01, 1.02, 1.03, 1.05, 1.1, 1.25, 1.4, 2)
_LONGEST_LINE = 46  # characters of names beside a chart
_AT_SPACES = {"break_long_words": False, "break_on_hyphens": False}
_MOST_TICKS = 11
_WIDEST = 2.0  # what is further from equal lies at the edge, and says how far


def charts(base, compared):
    """One for each scenario of each side."""
    widest = scale(compared)
    found = []
    for one in compared:
        rows = [row for row in one.rows() if "ratio" in row]
        for scenario in dict.fromkeys(map(scenario_of, rows)):
            mine = [row for row in rows if scenario_of(row) == scenario]
            found.append(chart(base, one, scenario, mine, widest, len(compared) > 1))
    return align(found)


def scale(compared):
    """How far from equal the axis of all charts reaches, as a factor: to the ends of all intervals, within reason."""
    rows = [row for one in compared for row in one.said["cases"] if "ratio" in row]
    ratios = [number(end) for row in rows for end in (row["ratio"], *row.get("ratio_ci95", []))]
    furthest = max((max(ratio, 1 / ratio) for ratio in ratios if ratio > 0), default=1.0)
    threshold = max((one.threshold for one in compared), default=0.0)
    return min(_WIDEST, max(1 + 1.3 * (furthest - 1), 1 + 2.5 * threshold, 1.02))


def chart(base, one, scenario, rows, widest, several):
    """A row for each case; of too many those that matter most, which come first."""
    shown = rows[: figure.MOST_ROWS]
    known = {case.key: case for case in base.run.cases}
    names = general.rows_of([known[row["key"]] for row in shown if row["key"] in known])
    traces = [
        trace(one, verdict, [row for row in shown if row["verdict"] == verdict], names, widest)
        for verdict in dict.fromkeys(row["verdict"] for row in shown)
    ]
    title = f"New over base: {scenario}" + (f", {one.side.label}" if several else "")
    note = f"Shaded: within the threshold of {text.percent(one.threshold)}." if one.threshold else ""
    if len(rows) > len(shown):
        note += f" {text.plural(len(rows) - len(shown), 'further case')}: in the table."
    runs = [base.run, one.side.run]
    found = figure.rows_chart(title, traces, runs, list(names.values()), ratio_axis(shown, widest), note.strip())
    found.layout["shapes"] = [band(one.threshold)] if one.threshold else []
    found.layout["shapes"].append(equal_line())
    found.explained = True
    return found


def align(charts):
    """The same place for the same change in all of them: as much room for names as the longest needs."""
    longest = max((len(name) for chart in charts for name in chart.yaxis["categoryarray"]), default=0)
    room = 20 + 6.6 * min(longest, _LONGEST_LINE)
    for chart in charts:
        names = chart.yaxis["categoryarray"]
        lines = ["<br>".join(textwrap.wrap(name, _LONGEST_LINE, **_AT_SPACES)) for name in names]
        chart.yaxis |= {"automargin": False, "tickmode": "array", "tickvals": names, "ticktext": lines}
        chart.height += 12 * len(names) * max((line.count("<br>") for line in lines), default=0)
        chart.layout["margin"] = {"l": room, "r": 24, "t": 32, "b": 58}
    return charts


def trace(one, verdict, rows, names, widest):
    """The cases of one verdict, in its colour and with its symbol."""
    colour, symbol = _LOOKS.get(verdict, (figure.LIMIT_COLOUR, "x"))
    places = [names.get(row["key"], row["key"]) for row in rows]
    estimates = [within(estimate(row), widest) for row in rows]
    name = f"{comparison.IN_WORDS.get(verdict, verdict)} ({len(rows)})"
    found = figure.dots(name, places, estimates, hovers(one.side, rows), 0)
    found["marker"] = {"color": colour, "symbol": symbol, "size": 9, "line": {"color": colour, "width": 1.5}}
    return found


def scenario_of(row):
    return row["key"].split("/", 1)[0]


def estimate(row):
    """The program's ratio and interval, and nothing else."""
    low, high = map(number, row["ratio_ci95"]) if "ratio_ci95" in row else (None, None)
    return records.Estimate(number(row["ratio"]), low, high, 0, "1")


def within(found, widest):
    """The same, or where the axis ends for what lies beyond it."""
    value = min(widest, max(1 / widest, found.value))
    return found if value == found.value else records.Estimate(value, None, None, found.samples, found.unit)


def hovers(side, rows):
    return [
        figure.hover(
            row["key"],
            side.label,
            f"{row['measured']}: {comparison.IN_WORDS.get(row['verdict'], row['verdict'])} ({row['verdict']}), "
            f"ratio {estimate(row).in_words()}",
            f"p {text.digits(row['p_holm'])} (Holm)" if "p_holm" in row else "",
            *comparison.reasons(row),
            *comparison.spreads(row),
        )
        for row in rows
    ]


def ratio_axis(rows, widest):
    """By powers, so that twice and half are as far from equal; named by the change."""
    ticks = with_room([tick for tick in _TICKS if tick >= 1 and tick <= widest], widest)
    ticks += with_room([tick for tick in reversed(_TICKS) if tick <= 1 and tick >= 1 / widest], widest)[1:]
    better = {row["better"] for row in rows}
    which = f", {_AXES[better.pop()]}" if len(better) == 1 and better <= set(_AXES) else ""
    return {
        "type": "log",
        "title": {"text": f"change from base to new{which}"},
        "range": [-1.04 * math.log10(widest), 1.04 * math.log10(widest)],
        "tickmode": "array",
        "tickvals": ticks,
        "ticktext": ["equal" if tick == 1 else f"{100 * (tick - 1):+.0f} %" for tick in ticks],
    }


def with_room(ticks, widest):
    """From 1 outwards those that are not too close to the one before."""
    shown = ticks[:1]
    for tick in ticks[1:]:
        if abs(math.log(tick / shown[-1])) >= 2 * math.log(widest) / _MOST_TICKS:
            shown.append(tick)
    return shown


def band(threshold):
    """Where ratios count as equal."""
    return {
        "name": "threshold",
        "type": "rect",
        "layer": "below",
        "yref": "paper",
        "x0": 1 - threshold,
        "x1": 1 + threshold,
        "y0": 0,
        "y1": 1,
        "line": {"color": figure.LIMIT_COLOUR, "width": 1, "dash": "dot"},
        "fillcolor": "rgba(128,128,128,0.14)",
    }


def equal_line():
    edge = {"color": figure.LIMIT_COLOUR, "width": 1.4}
    return {"type": "line", "layer": "below", "yref": "paper", "x0": 1, "x1": 1, "y0": 0, "y1": 1, "line": edge}

"""What charts are made of: the Chart itself, and the traces, axes and hover texts that they share.

Figures are plain dictionaries in Plotly's schema. Every text in them has gone through text.label(), because Plotly
takes names for markup; hover texts are given as they are and never as templates, which would look for %{...} in names.
"""

import dataclasses
import html
import math

from .. import text
from . import grouping

# Each stands out from a white page and from a dark one by 3:1 at least, and people with any kind of colour vision can
# tell any two apart; test_helpers.py computes both.
COLOURS = ("#0072b2", "#d55e00", "#9944ff", "#bb7788", "#2299cc", "#9b5769")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "triangle-down")
DASHES = ("solid", "dash", "dot", "dashdot")
LIMIT_COLOUR = "#808080"
MOST_ROWS = 60  # with names beside them; more would be a wall of text
_HOVER_WIDTH = 70
_TOP, _BOTTOM = 32, 58  # margins: for the tools that appear there, and for an axis with its title


@dataclasses.dataclass
class Chart:
    title: str
    traces: list
    runs: list  # runs or timelines whose data it shows: their marks become the chart's
    xaxis: dict
    yaxis: dict
    note: str = ""
    height: int = 440
    narrow: bool = False  # two of these stand side by side
    explained: bool = False  # a single trace has a legend, too
    layout: dict = dataclasses.field(default_factory=dict)
    annotations: list = dataclasses.field(default_factory=list)

    def marks(self):
        return list(dict.fromkeys(mark for run in self.runs for mark in run.marks))

    def legend(self):
        """Names of the traces that the page lists below the chart, where there are several to tell apart."""
        names = [trace["name"] for trace in self.traces if trace.get("showlegend", True) and trace.get("name")]
        return names if len(names) > (0 if self.explained else 1) and self.layout.get("showlegend", True) else []

    def spoken(self):
        """The chart for those who cannot see it: what it shows over what, of which, and its marks. No markup: it was
        escaped for Plotly, and this is not for Plotly."""
        axes = " over ".join(title for title in map(title_of, (self.yaxis, self.xaxis)) if title)
        points = sum(len(trace["hovertext"]) for trace in self.traces if isinstance(trace.get("hovertext"), list))
        lines = [trace["name"] for trace in self.traces if isinstance(trace.get("hovertext"), str)]
        said = text.plural(points, "row" if "z" in self.traces[0] else "point")
        said += f"; beside it {', '.join(filter(None, lines))}" if any(lines) else ""
        return ". ".join(part for part in [self.title, html.unescape(axes), html.unescape(said), *self.marks()] if part)

    def figure(self):
        """The dictionary that Plotly draws. The page makes legends itself: Plotly's cover, or scroll, where names are
        long."""
        layout = {
            "height": self.height,
            "hovermode": "closest",
            "margin": {"l": 60, "r": 24, "t": _TOP, "b": _BOTTOM},
            "showlegend": False,
            "xaxis": axis(self.xaxis),
            "yaxis": axis(self.yaxis),
            "hoverlabel": {"align": "left", "namelength": 0},
            **self.layout,
            "annotations": self.annotations + [watermark(mark, i) for i, mark in enumerate(self.marks())],
        }
        return {"data": self.traces, "layout": layout}


def title_of(settings):
    return settings.get("title", {}).get("text", "")


def axis(settings):
    return {"automargin": True, "zeroline": False, "showline": True, "ticks": "outside", **settings}


def values_axis(title, kind="linear"):
    """From zero, so that lengths are to scale; or by powers, and then it says so."""
    if kind == "log":
        return {"type": "log", "title": {"text": f"{title} (logarithmic)"}}
    return {"title": {"text": title}, "rangemode": "tozero"}


def cut_axis(title, **settings):
    """Of values that differ too little to be seen from zero, and it says so."""
    return {"title": {"text": f"{title} (does not begin at zero)"}, **settings}


def watermark(mark, index):
    return {
        "name": "watermark",
        "text": text.label(mark if len(mark) <= 60 else mark.split(" (")[0]),
        "xref": "paper",
        "yref": "paper",
        "x": 0.5,
        "y": 0.55 - 0.2 * index,
        "showarrow": False,
        "font": {"size": 26, "color": "rgba(200,40,40,0.45)"},
    }


def hover(*lines):
    """Lines of a hover text; long ones, as keys are, break at their slashes."""
    return "<br>".join(part for line in lines if line for part in wrapped(line))


def wrapped(line):
    parts, current = [], ""
    for step in str(line).replace("/", "/\0").split("\0"):
        if current and len(current) + len(step) > _HOVER_WIDTH:
            parts.append(current)
            current = ""
        current += step
    return [text.label(part) for part in [*parts, current]]


def case_hover(run, case, *lines):
    """Every point says which case it is, what was measured, how sure that is and from how many samples."""
    flags = sorted({flag for one in case.measurements for flag in one.flags})
    flagged = f"flags: {', '.join(flags)}" if flags else ""
    return hover(case.key, run.label, *measured_words(case), *lines, flagged)


def measured_words(case):
    main = case.main()
    return [f"median {main.in_words()}, {case.headline().counted()}"] if main else []


def error_bars(estimates, factor=1):
    """None where no estimate has an interval."""
    if all(one.low is None for one in estimates):
        return None
    up = [0 if one.low is None else max(0, (one.high - one.value) * factor) for one in estimates]
    down = [0 if one.low is None else max(0, (one.value - one.low) * factor) for one in estimates]
    return {"type": "data", "symmetric": False, "array": up, "arrayminus": down, "thickness": 1.3, "width": 4}


def look(index):
    """Colour, symbol and dash of the index-th trace: no two of the first dozens have all three in common."""
    return COLOURS[index % len(COLOURS)], SYMBOLS[index % len(SYMBOLS)], DASHES[index // len(COLOURS) % len(DASHES)]


def line(name, places, estimates, hovers, index, factor=1, **settings):
    """A trace of medians over something, with their intervals."""
    colour, symbol, dash = look(index)
    look_of_line = {
        "mode": "lines+markers",
        "line": {"color": colour, "dash": dash, "width": 1.8},
        "marker": {"color": colour, "symbol": symbol, "size": 7},
    }
    return trace(name, places, estimates, hovers, factor, "y") | look_of_line | settings


def dots(name, rows, estimates, hovers, index, factor=1, **settings):
    """Medians beside the names of what they are of."""
    colour, symbol, _ = look(index)
    marker = {"color": colour, "symbol": symbol, "size": 8, **settings}
    return trace(name, rows, estimates, hovers, factor, "x") | {"mode": "markers", "marker": marker}


def bars(name, rows, estimates, hovers, index, factor=1):
    """Medians as bars beside the names of what they are of."""
    bar = {"type": "bar", "orientation": "h", "textposition": "none"}
    return trace(name, rows, estimates, hovers, factor, "x") | bar | {"marker": {"color": look(index)[0]}}


def of_cases(draw, name, run, cases, place, estimate, index, factor=1, words=lambda case: "", **settings):
    """One of the above: each case at its place with its estimate, and words beside what pointing at any case shows."""
    if len(cases) > MOST_ROWS:  # long keys would be most of the page; what differs says which case it is
        named = zip(cases, grouping.names_apart(cases))
        hovers = [hover(f"{name}: {apart}", *measured_words(case), words(case)) for case, apart in named]
    else:
        hovers = [case_hover(run, case, words(case)) for case in cases]
    return draw(name, list(map(place, cases)), list(map(estimate, cases)), hovers, index, factor, **settings)


def trace(name, places, estimates, hovers, factor, values):
    """What all traces of medians have in common; `values` is the axis along which they lie, x or y."""
    found = {
        "type": "scatter",
        "name": text.label(name),
        "x" if values == "y" else "y": places,
        values: [one.value * factor for one in estimates],
        "hovertext": hovers,
        "hoverinfo": "text",
    }
    ends = error_bars(estimates, factor)
    return found | ({f"error_{values}": ends} if ends else {})


def limit(name, across, value, sideways=False, index=0):
    """A line at a value: across the positions given, or upright where values run to the right."""
    along, at = list(across), [value] * len(across)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": text.label(name),
        "x": at if sideways else along,
        "y": along if sideways else at,
        "hovertext": text.label(name),
        "hoverinfo": "text",
        "line": {"color": LIMIT_COLOUR, "dash": DASHES[1 + index % 3], "width": 1.6},
    }


def limits(found, across, sideways=False):
    """A line for each of these names and values."""
    return [limit(name, across, value, sideways, index) for index, (name, value) in enumerate(found)]


def rows_axis(names):
    """Names down the left side, the first on top. A category axis: else names like 8 become numbers."""
    return {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": list(reversed(names)),
        "range": [-0.6, len(names) - 0.4],
        "dtick": 1,
        "showgrid": True,
        "ticks": "",
    }


def rows_chart(title, traces, runs, names, xaxis, note="", narrow=False, room=22, **layout):
    """A row for each of these names; `room` is each row's height."""
    height = 110 + room * len(names)
    return Chart(title, traces, runs, xaxis, rows_axis(names), note, height, narrow, layout)


def sizes_axis(values, title, most=9):
    """Sizes by powers of two, named as people name them where there is room."""
    shown = with_room(sorted(set(values)), most)
    return {
        "type": "log",
        "title": {"text": title},
        "tickmode": "array",
        "tickvals": shown,
        "ticktext": [text.size(value) for value in shown],
    }


def with_room(values, most=9):
    """Of ascending positive values those that are not too close to the one before, on a logarithmic axis."""
    least = (math.log(values[-1]) - math.log(values[0])) / most
    shown = values[:1]
    for value in values[1:]:
        if math.log(value) - math.log(shown[-1]) >= least * 0.99:
            shown.append(value)
    return shown


def counts_axis(values, title):
    """Counts, by powers where they span some."""
    distinct = sorted(set(values))
    wide = distinct[0] > 0 and distinct[-1] / distinct[0] >= 8
    shown = with_room(distinct, 14) if wide else distinct[:: math.ceil(len(distinct) / 12)]
    return {
        "type": "log" if wide else "linear",
        "title": {"text": title},
        "tickmode": "array",
        "tickvals": shown,
        "ticktext": [text.digits(value) for value in shown],
    }


def time_scale(values):
    """Factor and unit that suit these seconds: 1e6, us."""
    positive = sorted(value for value in values if value > 0)
    return text.time_scale(positive[len(positive) // 2] if positive else 1)


def scale_of(unit, values):
    """The same for any unit: only seconds have others."""
    return time_scale(values) if unit == "s" else (1, unit)


def axis_type(values):
    """Logarithmic where values span more than a factor of 30."""
    if not values or min(values) <= 0:
        return "linear"
    return "log" if max(values) / min(values) > 30 else "linear"

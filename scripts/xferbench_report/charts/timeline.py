"""What ran when: a picture for each case of a timeline file, a row for each engine and one for the host's calls."""

from .. import text
from ..text import number
from . import figure

ROWS = {"H2D": 0, "kernel": 1, "D2H": 2, "internal": 3, "inside": 3, "host": 4}
_MOST_EVENTS = 20000


def charts(timeline):
    result = []
    for pid in dict.fromkeys(event["pid"] for event in timeline.events):
        events = [event for event in timeline.events if event["pid"] == pid]
        chart = gantt(timeline, pid, events)
        if chart:
            result.append(chart)
    return result


def names_of(events, kind, field):
    return {event[field]: event["args"]["name"] for event in events if event["ph"] == "M" and event["name"] == kind}


def gantt(timeline, pid, events):
    """None where nothing ran."""
    bars = [event for event in events if event["ph"] == "X"]
    if not bars:
        return None
    dropped, bars = len(bars) - _MOST_EVENTS, bars[:_MOST_EVENTS]
    title = names_of(events, "process_name", "pid").get(pid, f"process {pid}")
    tracks = names_of(events, "thread_name", "tid")
    tids = list(dict.fromkeys(event["tid"] for event in bars))
    order = [tid for tid in tracks if tid in tids] + [tid for tid in tids if tid not in tracks]
    rows = dict(zip(order, map(text.label, text.unique([tracks.get(tid, f"track {tid}") for tid in order]))))
    end = max(number(event["ts"]) + number(event["dur"]) for event in bars)
    factor, unit = (1e-3, "ms") if end >= 1000 else (1, "us")
    categories = list(dict.fromkeys(event.get("cat", "") for event in bars))
    traces = [row_trace(category, index, bars, rows, factor) for index, category in enumerate(categories)]
    note = f"{dropped} further events are left out." if dropped > 0 else ""
    return figure.Chart(
        title,
        traces,
        [timeline],
        figure.values_axis(f"time, {unit}"),
        figure.rows_axis(list(rows.values())),
        note,
        height=150 + 46 * len(rows),
        layout={"barmode": "overlay", "bargap": 0.15, "showlegend": False},
    )


def row_trace(category, index, bars, rows, factor):
    mine = [event for event in bars if event.get("cat", "") == category]
    colour = figure.COLOURS[ROWS.get(category, index) % len(figure.COLOURS)]
    return {
        "type": "bar",
        "orientation": "h",
        "name": text.label(category or "events"),
        "base": [number(event["ts"]) * factor for event in mine],
        "x": [number(event["dur"]) * factor for event in mine],
        "y": [rows[event["tid"]] for event in mine],
        "hovertext": [event_hover(event, place) for place, event in enumerate(mine, 1)],
        "hoverinfo": "text",
        "textposition": "none",
        "marker": {"color": colour, "opacity": [0.95, 0.6] * (len(mine) // 2) + [0.95] * (len(mine) % 2)},
    }


def event_hover(event, place):
    """Which one of its row it is, when and how long, and what the file says of it."""
    begin, length = number(event["ts"]) * 1e-6, number(event["dur"]) * 1e-6
    lines = [f"{event['name']}, number {place}", f"begins at {text.seconds(begin)}, takes {text.seconds(length)}"]
    for name, value in event.get("args", {}).items():
        if name == "bytes" and isinstance(value, (int, float)):
            lines.append(f"{text.size(value)}")
        elif isinstance(value, (int, float)):
            lines.append(f"{name} {text.digits(value)}")
    return figure.hover(*lines)

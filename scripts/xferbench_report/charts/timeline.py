"""What ran when: a picture for each case of a timeline file, a row for each engine and one for the host's calls."""

from .. import text
from ..text import number
from . import figure

ROWS = {"H2D": 0, "kernel": 1, "D2H": 2, "internal": 3, "inside": 3, "host": 4, "calls": 4, "P2P": 5, "managed": 5}
_MOST_EVENTS = 20000


def charts(timeline):
    """One for each case, whose GPUs are processes of their own where there are several."""
    cases = {}
    for event in timeline.events:
        cases.setdefault(event["pid"], []).append(event)
    together = {}
    for pid, events in cases.items():
        together.setdefault(case_of(pid, events), []).extend(events)
    drawn = [gantt(timeline, title, events) for (_, title), events in together.items()]
    return [chart for chart in drawn if chart]


def process_of(events):
    """What the file says of a process."""
    said = [event["args"] for event in events if event["ph"] == "M" and event["name"] == "process_name"]
    return said[-1] if said else {}


def case_of(pid, events):
    """What is one chart, with its title: a process, or all that say of which case they are."""
    said = process_of(events)
    whole = isinstance(said.get("case"), str) and isinstance(said.get("part"), str)
    return (None, said["case"]) if whole else (pid, said.get("name", f"process {pid}"))


def names_of_tracks(events):
    """By process and thread; those of a GPU among several are named after it."""
    names = {}
    for pid in dict.fromkeys(event["pid"] for event in events):
        mine = [event for event in events if event["pid"] == pid]
        part = process_of(mine).get("part")
        for event in mine:
            if event["ph"] == "M" and event["name"] == "thread_name":
                name = event["args"]["name"]
                of_gpu = isinstance(part, str) and part != "host"
                names[pid, event["tid"]] = f"{part} {name}" if of_gpu else name
    return names


def gantt(timeline, title, events):
    """None where nothing ran."""
    bars = [event for event in events if event["ph"] == "X"]
    if not bars:
        return None
    dropped, bars = len(bars) - _MOST_EVENTS, bars[:_MOST_EVENTS]
    tracks = names_of_tracks(events)
    known = list(dict.fromkeys((event["pid"], event["tid"]) for event in bars))
    order = [track for track in tracks if track in known] + [track for track in known if track not in tracks]
    names = text.unique([tracks.get(track, f"track {track[1]}") for track in order])
    rows = dict(zip(order, map(text.label, names)))
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
    counts = dict.fromkeys((event["pid"] for event in mine), 0)
    places = []  # of each among those of its process, from 1
    for event in mine:
        counts[event["pid"]] += 1
        places.append(counts[event["pid"]])
    colour = figure.COLOURS[ROWS.get(category, index) % len(figure.COLOURS)]
    return {
        "type": "bar",
        "orientation": "h",
        "name": text.label(category or "events"),
        "base": [number(event["ts"]) * factor for event in mine],
        "x": [number(event["dur"]) * factor for event in mine],
        "y": [rows[event["pid"], event["tid"]] for event in mine],
        "hovertext": list(map(event_hover, mine, places)),
        "hoverinfo": "text",
        "textposition": "none",
        "marker": {"color": colour, "opacity": [0.95 if place % 2 else 0.6 for place in places]},
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

"""Of a program that was explained: where its time went, its copies over their sizes, and what ran when."""

import math

from .. import explanation, text
from . import figure, timeline

_IDLE = ("program", "watching")  # two kinds that nobody can mend by transfers: both grey
_MOST_TRACKS = 30


def charts(process):
    found = [shares(process), spans(process), cloud(process)]
    return [chart for chart in found if chart]


# ---- Where the time went


def shares(process):
    """One bar for the whole time; None where there was none."""
    seconds = {name: text.number(process.record["shares"][name]) for name in explanation.SHARES}
    whole = sum(seconds.values())
    if whole <= 0:
        return None
    factor, unit = figure.time_scale([whole])
    traces = [share_trace(name, value, whole, factor) for name, value in seconds.items() if value > 0]
    return figure.Chart(
        "Where the time went",
        traces,
        [process],
        figure.values_axis(f"time, {unit}"),
        {"type": "category", "visible": False, "title": {"text": ""}},
        height=170,
        explained=True,
        layout={"barmode": "stack", "bargap": 0.1},
    )


def share_trace(name, value, whole, factor):
    words, share = explanation.SHARES[name], explanation.percent(value / whole)
    colour = figure.LIMIT_COLOUR if name in _IDLE else figure.COLOURS[list(explanation.SHARES).index(name)]
    marker = {"color": colour, "line": {"color": "#ffffff", "width": 1}}
    if name == "watching":
        marker["pattern"] = {"shape": "/", "fgcolor": "#ffffff", "fillmode": "overlay"}
    return {
        "type": "bar",
        "orientation": "h",
        "name": text.label(f"{words}: {share}"),
        "x": [value * factor],
        "y": ["time"],
        "hovertext": [figure.hover(words, f"{explanation.rounded(value)}, {share}")],
        "hoverinfo": "text",
        "textposition": "none",
        "marker": marker,
    }


# ---- Copies over size


def cloud(process):
    """None where nothing was copied."""
    groups = {}
    for one in process.record["cloud"]:
        if one["bytes"] > 0 and one["seconds"] > 0:
            groups.setdefault((one["kind"], one["memory"]), []).append(one)
    if not groups:
        return None
    curves = [one for one in process.explanation.record["limits"] if one["points"] and is_beside(one, groups)]
    looks = {key: index for index, key in enumerate(dict.fromkeys([*groups, *map(key_of, curves)]))}
    traces = [curve_trace(one, looks[key_of(one)]) for one in curves]
    traces += [cloud_trace(key, points, looks[key]) for key, points in groups.items()]
    sizes = [one["bytes"] for points in groups.values() for one in points]
    sizes += [one["bytes"] for curve in curves for one in curve["points"] if one["bytes"] > 0]
    return figure.Chart(
        "Copies: rate over size",
        traces,
        [process],
        figure.sizes_axis(sizes, "bytes of a copy (logarithmic)"),
        figure.values_axis("GB/s", "log"),
        "Points: copies of the program, larger where there were more. Lines: one copy alone on this machine."
        if curves
        else "This machine's limits are not known.",
        explained=True,
    )


def key_of(one):
    return one["kind"], one["memory"]


def is_beside(curve, groups):
    """Whether any copies went that way, from and to whatever memory: pinned memory is what others could be."""
    return any(kind == curve["kind"] for kind, _ in groups)


def words_of(kind, memory):
    there = explanation.DIRECTIONS[kind]
    return there if memory in ("device", "unknown") else f"{there}, {memory}"


def cloud_trace(key, points, index):
    colour, symbol, _ = figure.look(index)
    rates = [explanation.rate_of(one["bytes"])(one["seconds"]) for one in points]
    name = words_of(*key)
    sizes = [size_of(one["count"]) for one in points]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": text.label(name),
        "x": [text.number(one["bytes"]) for one in points],
        "y": rates,
        "hovertext": [copies_hover(name, one, rate) for one, rate in zip(points, rates)],
        "hoverinfo": "text",
        "marker": {"color": colour, "symbol": symbol, "opacity": 0.75, "size": sizes},
    }


def size_of(count):
    """Of a point that stands for so many copies."""
    return 7 + 3 * min(4, math.log10(max(1, count)))


def copies_hover(name, one, rate):
    counted = f"{one['count']} {'copy' if one['count'] == 1 else 'copies'} of {text.size(one['bytes'])}"
    return figure.hover(name, counted, f"{text.digits(rate)} GB/s, {text.seconds(one['seconds'])} each")


def curve_trace(curve, index):
    colour, _, _ = figure.look(index)
    points = [one for one in curve["points"] if one["bytes"] > 0 and one["seconds"] > 0]
    name = f"this machine: {words_of(curve['kind'], curve['memory'])}"
    return {
        "type": "scatter",
        "mode": "lines",
        "name": text.label(name),
        "x": [text.number(one["bytes"]) for one in points],
        "y": [explanation.rate_of(one["bytes"])(one["seconds"]) for one in points],
        "hovertext": text.label(name),
        "hoverinfo": "text",
        "line": {"color": colour, "dash": "dash", "width": 1.6},
    }


# ---- What ran when


def spans(process):
    """None where nothing was recorded."""
    found = process.record["timeline"]
    if not found["spans"]:
        return None
    begin = text.number(found["from"])
    chart = timeline.gantt(process, "What ran when", events_of(found["spans"], begin))
    end, whole = text.number(found["to"]), process.seconds
    if end - begin < 0.999 * whole:
        chart.note = (
            f"The first {explanation.rounded(end - begin)} in which anything was recorded, from "
            f"{explanation.rounded(begin)} on, of {explanation.rounded(whole)} in all. --timeline writes all of it."
        )
    return chart


def events_of(found, begin):
    """Spans as a trace file has them: each in a lane of its row, so that none covers another."""
    lanes, rows, events = {}, {}, []
    for one in found:
        row = row_of(one)
        ends = lanes.setdefault(row, [])
        lane = next((place for place, end in enumerate(ends) if end <= one["begin"]), len(ends))
        ends[lane : lane + 1] = [one["end"]]
        track = rows.setdefault((row, lane), len(rows) + 1)
        events.append(event_of(one, track, begin))
    kept = sorted(rows)[:_MOST_TRACKS]
    names = [track_name(row, lane, len({row[1] for row, _ in kept if row[0] == 0}) > 1) for row, lane in kept]
    tracks = [
        {"name": "thread_name", "ph": "M", "pid": 1, "tid": rows[key], "args": {"name": name}}
        for key, name in zip(kept, names)
    ]
    shown = {rows[key] for key in kept}
    return tracks + [event for event in events if event["tid"] in shown]


_ORDER = ("H2D", "kernel", "D2H", "inside", "P2P", "managed", "calls", "ranges")


def row_of(one):
    """What GPUs did comes first, each by itself, and then each thread."""
    if one["track"] in ("calls", "ranges"):
        return (1, one["number"], _ORDER.index(one["track"]), one["track"])
    return (0, one["device"], _ORDER.index(one["track"]), one["track"])


def track_name(row, lane, several_gpus):
    of_host, number, _, track = row
    name = {"inside": "inside the GPU", "managed": "managed memory"}.get(track, track)
    if of_host:
        name += f" of thread {number}" if number else ""
    elif several_gpus:
        name = f"GPU {number} {name}"
    return name if lane == 0 else f"{name} {lane + 1}"


def event_of(one, track, begin):
    length = max(0, text.number(one["end"]) - text.number(one["begin"]))
    said = {"bytes": one["bytes"]} if one["bytes"] else {}
    if one["track"] not in ("calls", "ranges", "managed"):
        said["stream"] = one["number"]
    if one["bytes"] and length > 0:
        said["GB/s"] = explanation.rate_of(one["bytes"])(length)
    return {
        "name": one["name"],
        "cat": one["track"],
        "ph": "X",
        "pid": 1,
        "tid": track,
        "ts": (text.number(one["begin"]) - begin) * 1e6,
        "dur": length * 1e6,
        "args": said,
    }

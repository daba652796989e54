"""Bandwidth of copies over size, for each path, beside what the link can carry."""

from .. import text
from . import general, grouping, headline

DIRECTIONS = {
    "h2d": "Host to GPU",
    "d2h": "GPU to host",
    "bidirectional": "Both directions at once",
    "d2d": "Inside the GPU",
}
_GIGATRANSFERS = {1: (2.5, 8 / 10), 2: (5, 8 / 10), 3: (8, 128 / 130), 4: (16, 128 / 130), 5: (32, 128 / 130)}


def charts(runs):
    series, result = grouping.series(runs, "memcpy", lambda case: case.rate() is not None), []
    for _, parts in grouping.faceted(series, ["dir"]):
        direction = parts[0][1][0].texts.get("dir", "")
        result += bandwidth(DIRECTIONS.get(direction, direction), direction, parts)
    return result


def headlines(run, cases):
    """Each direction's highest rate beside what the link or the memory can do."""
    pcie, found = run.environment["gpu"].get("pcie"), []
    for direction, group in headline.groups(cases, "dir"):
        title = DIRECTIONS.get(direction, direction)
        found += headline.best(title, group, lambda case: case.rate(), lambda case: limit_of(case, pcie))
    return found


def limit_of(case, pcie):
    """What the file states, less packet headers; else what the lanes carry."""
    inside, stated = case.word("dir") == "d2d", case.metric("limit", "GB/s")
    if stated:
        return headline.rate_limit(stated), "what the memory does" if inside else "the link"
    raw = None if inside else raw_link_rate(pcie)
    return headline.rate_limit(raw and raw * (2 if case.word("dir") == "bidirectional" else 1)), "the link's lanes"


def bandwidth(title, direction, series):
    """Lines of the paths that were measured at several sizes, and a row for each case of the others."""
    lines = [(run, with_sizes(cases)) for run, cases in series]
    chosen = {id(case) for case in grouping.every(lines)}
    lines = grouping.keep(lines, lambda case: True)
    single = grouping.keep(series, lambda case: id(case) not in chosen)
    note = "Rates are payload over time; error bars are 95 % intervals of the median."
    charts = []
    if lines:
        limits = limits_of(lines, direction)
        charts.append(general.size_lines(title, lines, lambda case: case.rate(), "GB/s", limits, narrow=False))
    if single and general.few_enough_to_name(single):
        title += ", at one size" if lines else ""
        charts.append(
            general.named_rows(title, single, lambda c: c.rate(), "GB/s", "rate", limits=limits_of(single, direction))
        )
    for chart in charts:
        chart.note = note
    return charts


def with_sizes(cases):
    """Those of paths that have at least two sizes, by size."""
    groups = [group for _, group in grouping.groups(grouping.by_axis(cases, "size"), ["size"], [])]
    return grouping.by_axis([c for group in groups if len(grouping.distinct(group, "size")) > 1 for c in group], "size")


def raw_link_rate(pcie):
    """GB/s each way that the lanes carry after encoding, before packets have headers; None for unknown generations."""
    if pcie is None or pcie["generation"] not in _GIGATRANSFERS:
        return None
    transfers, encoding = _GIGATRANSFERS[pcie["generation"]]
    return transfers / 8 * min(pcie["width"], 64) * encoding


def limits_of(series, direction):
    """Names and values of the lines that no copy crosses, and of the best that one reached."""
    found = {}  # by value: two runs on such a link share its line
    for run, _ in series:
        pcie = run.environment["gpu"].get("pcie")
        raw = raw_link_rate(pcie)
        if raw and direction in ("h2d", "d2h", "bidirectional"):
            raw *= 2 if direction == "bidirectional" else 1
            found[raw] = f"PCIe {pcie['generation']} x{pcie['width']}: {text.digits(raw)} GB/s"
    what = "what the memory does" if direction == "d2d" else "less packet headers"
    for _, cases in series:
        stated = max((case.metric("limit", "GB/s") or 0 for case in cases), default=0)
        if stated:
            found[stated] = f"{what}: {text.digits(stated)} GB/s"
    best = max(case.rate().value for case in grouping.every(series))
    found[best] = f"best measured: {text.digits(best)} GB/s"
    return [(name, value) for value, name in found.items()]

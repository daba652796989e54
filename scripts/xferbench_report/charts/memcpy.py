"""Bandwidth of copies over size, for each path, beside what the link can carry."""

from .. import text
from . import figure, general, grouping

DIRECTIONS = {
    "h2d": "Host to GPU",
    "d2h": "GPU to host",
    "bidirectional": "Both directions at once",
    "d2d": "Inside the GPU",
}
_GIGATRANSFERS = {1: (2.5, 8 / 10), 2: (5, 8 / 10), 3: (8, 128 / 130), 4: (16, 128 / 130), 5: (32, 128 / 130)}


def charts(runs):
    series = [(run, [case for case in run.of("memcpy") if case.rate() is not None]) for run in runs]
    result = []
    for _, parts in general.faceted([(run, cases) for run, cases in series if cases], ["dir"]):
        direction = parts[0][1][0].texts.get("dir", "")
        result.append(bandwidth(DIRECTIONS.get(direction, direction), direction, parts))
    return result


def bandwidth(title, direction, series):
    limits = [one for run, cases in series for one in limits_of(run, cases, direction, len(series) > 1)]
    limits = list({value: (name, value) for name, value in limits}.values())  # two runs on such a link share its line
    cases = [case for _, group in series for case in group]
    note = "Rates are payload over time; error bars are 95 % intervals of the median."
    if len(grouping.distinct(cases, "size")) >= 2 and all((case.count("size") or 0) > 0 for case in cases):
        ordered = [(run, grouping.by_axis(group, "size")) for run, group in series]
        chart = general.size_lines(title, ordered, lambda case: case.rate(), "GB/s", limits, narrow=False)
        chart.note = note
        return chart
    return general.named_rows(
        title, series, lambda case: case.rate(), "GB/s", "rate", note, limits=limits
    )  # fmt: skip


def raw_link_rate(pcie):
    """GB/s each way that the lanes carry after encoding, before packets have headers; None for unknown generations."""
    if pcie is None or pcie["generation"] not in _GIGATRANSFERS:
        return None
    transfers, encoding = _GIGATRANSFERS[pcie["generation"]]
    return transfers / 8 * min(pcie["width"], 64) * encoding


def limits_of(run, cases, direction, several):
    """Names and values of the lines that no copy crosses, and of the best that one reached."""
    of_run = f" ({run.short_label})" if several else ""
    pcie = run.environment["gpu"].get("pcie")
    found = []
    raw = raw_link_rate(pcie)
    if raw and direction in ("h2d", "d2h", "bidirectional"):
        raw *= 2 if direction == "bidirectional" else 1
        found.append((f"PCIe {pcie['generation']} x{pcie['width']}: {text.digits(raw)} GB/s", raw))
    stated = [case.metric("limit", "GB/s") for case in cases]
    if any(stated):
        most = max(value for value in stated if value)
        what = "what the memory does" if direction == "d2d" else "less packet headers"
        found.append((f"{what}: {text.digits(most)} GB/s", most))
    best = max(case.rate().value for case in cases)
    found.append((f"best measured{of_run}: {text.digits(best)} GB/s", best))
    return found

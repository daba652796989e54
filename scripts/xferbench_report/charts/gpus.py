"""What several GPUs have in common: findings about pairs of them as matrices, and the numbers that each of them has."""

import statistics

from .. import records, text
from ..text import number
from . import figure, grouping, matrix

_FAR = 0.05  # odd_ones() says what these rules are
_FEWEST = 3
_ABOUT_PAIRS = ("a", "b")


def in_order(names):
    """Of GPUs, by their numbers; what is none comes last."""
    return sorted(names, key=lambda name: (0, int(name), "") if name.isascii() and name.isdigit() else (1, 0, name))


def odd_ones(group):
    """Of estimates by their places the places of those that differ from the median of all by more than 5 % and whose
    interval does not reach it, as src/model/odd_ones.hpp decides it for the terminal."""
    if len(group) < _FEWEST:
        return []
    middle = statistics.median(one.value for one in group.values())

    def is_odd(one):
        beyond = one.low is not None and (one.low > middle or one.high < middle)
        return beyond and abs(one.value - middle) > _FAR * abs(middle)

    return [place for place, one in group.items() if is_odd(one)]


def joints(run):
    """How each pair of GPUs is joined, by their indexes as texts: links, access, whether they are on one node."""
    nodes = {gpu.get("index", place): gpu.get("numa_node") for place, gpu in enumerate(run.gpus)}
    return {
        (str(link["from"]), str(link["to"])): (
            link.get("nvlinks", 0),
            link.get("access", False),
            nodes.get(link["from"]) == nodes.get(link["to"]),
        )
        for link in run.environment.get("links", [])
    }


def pair_matrices(scenario, runs):
    """Findings whose labels `a` and `b` are two GPUs: a matrix of their first metric for each kind and whatever else they
    are about; which of the two is first makes no difference."""
    charts = []
    for run in runs:
        found = {}
        for one in run.findings:
            labels = dict(one["labels"])
            about_pair = all(labels.get(name) for name in _ABOUT_PAIRS) and one["metrics"]
            if one["scenario"] != scenario or not about_pair:
                continue
            pair = tuple(labels.pop(name) for name in _ABOUT_PAIRS)
            outcome = labels.pop("outcome", "")
            beside = ", ".join(f"{name} {word}" for name, word in labels.items())
            name, metric = next(iter(one["metrics"].items()))
            key = (one["kind"], name, metric["unit"], beside)
            found.setdefault(key, {})[pair] = (number(metric["value"]), outcome, one.get("text", ""))
        charts += [pair_matrix(run, runs, key, values) for key, values in found.items()]
    return charts


def pair_matrix(run, runs, key, values):
    kind, name, unit, beside = key
    names = in_order({gpu for pair in values for gpu in pair})
    factor, scale = figure.scale_of(unit, [value for value, _, _ in values.values()])
    cells = {}
    for (a, b), (value, outcome, sentence) in values.items():
        words = f"{in_words(name)} {text.quantity(value, unit)}"
        said = figure.hover(f"GPU {a} and GPU {b}", words, outcome, beside, sentence, run.label)
        cells[a, b] = cells[b, a] = (value * factor, said)
    axes, words = ("GPU", "GPU"), in_words(name) + (f", {scale}" if scale != "1" else "")
    title = grouping.named(grouping.titled(f"{in_words(kind).capitalize()}: {words}", beside), run, runs)
    scale = in_words(name) if scale == "1" else scale
    return matrix.chart(title, [run], names, names, cells, axes, scale)


def in_words(name):
    return name.replace("_", " ").replace("-", " ")


def numbers(scenario, runs):
    """A row for each case and GPU, of numbers that single GPUs have; several cases make groups of rows."""
    charts, known = [], {}
    for run in runs:
        for case in run.of(scenario):
            for (name, unit), values in case.gpu_metrics().items():
                known.setdefault((name, unit), {}).setdefault(id(run), (run, []))[1].append((case, values))
    for (name, unit), series in known.items():
        chart = rows_of_gpus(runs, name, unit, list(series.values()))
        charts += [chart] if chart else []
    return charts


def rows_of_gpus(runs, name, unit, series):
    """None where there would be too many rows to name them."""
    every = [case for _, members in series for case, _ in members]
    cases = {}
    for case in every:
        cases.setdefault(case.key, case)
    names = dict(zip(cases, grouping.names_apart(list(cases.values()))))
    rows = list(dict.fromkeys(
        (case.key, gpu) for _, members in series for case, values in members for gpu in values
    ))
    if len(rows) > figure.MOST_ROWS:
        return None
    labels = {
        (key, gpu): text.label(f"{names[key]}: GPU {gpu}" if len(cases) > 1 else f"GPU {gpu}") for key, gpu in rows
    }
    shown = [value for _, members in series for _, values in members for value in values.values()]
    factor, scale = figure.scale_of(unit, shown)
    traces = [
        figure.dots(
            run.label,
            [labels[case.key, gpu] for case, values in members for gpu in values],
            [records.Estimate(value, unit=unit) for _, values in members for value in values.values()],
            [
                figure.case_hover(run, case, f"GPU {gpu}: {in_words(name)} {text.quantity(value, unit)}")
                for case, values in members
                for gpu, value in values.items()
            ],
            index,
            factor,
        )
        for index, (run, members) in enumerate(series)
    ]
    axis = figure.values_axis(text.label(f"{in_words(name)}, {scale}"), figure.axis_type(shown))
    title = f"GPU by GPU: {in_words(name)}"
    return figure.rows_chart(title, traces, [run for run, _ in series], list(labels.values()), axis)

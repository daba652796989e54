"""Cases in groups: those that differ in one axis only make a line, and names say only what tells lines apart.

A series is a list of runs, each with some of its cases: [(run, cases)].
"""

from .. import text


def series(all_runs, scenario, wanted=lambda case: True):
    """Of each run the cases of a scenario that are wanted."""
    return keep([(run, run.of(scenario)) for run in all_runs], wanted)


def keep(some, wanted):
    """Of a series the cases that are wanted, without runs that have none."""
    found = [(run, [case for case in cases if wanted(case)]) for run, cases in some]
    return [(run, cases) for run, cases in found if cases]


def with_several(some, axis, least=2):
    """Of a series the runs that have so many values of an axis."""
    return [(run, cases) for run, cases in some if len(distinct(cases, axis)) >= least]


def runs(some):
    return [run for run, _ in some]


def every(some):
    """The cases of all runs of a series."""
    return [case for _, cases in some for case in cases]


def titled(beginning, rest):
    return f"{beginning}: {rest}" if rest else beginning


def varying(cases, without=()):
    """Axes that do not have the same value everywhere, in the order of the keys."""
    names = list(dict.fromkeys(name for case in cases for name in case.texts))
    return [name for name in names if name not in without and len({case.texts.get(name) for case in cases}) > 1]


def alike(cases, key):
    """Cases with the same key as lists, in order of appearance."""
    found = {}
    for case in cases:
        found.setdefault(key(case), []).append(case)
    return list(found.values())


def groups(cases, without, shown):
    """Cases that are alike but for these axes, each group with what it has of the axes shown, in words."""
    found = alike(cases, lambda case: tuple(item for item in case.texts.items() if item[0] not in without))
    return [(describe(group[0], shown), group) for group in found]


def facets(cases, names):
    """The same the other way round: cases that agree in these axes, and what they agree in, in words."""
    shown = [name for name in varying(cases) if name in names]
    found = alike(cases, lambda case: tuple(case.texts.get(name) for name in names))
    return [(describe(group[0], shown), group) for group in found]


def faceted(some, names):
    """The parts of a series that agree in these axes, each with what they agree in."""
    result = []
    for title, group in facets(every(some), names):
        members = set(map(id, group))
        result.append((title, keep(some, lambda case: id(case) in members)))
    return result


def describe(case, names):
    """A case by the values of these axes: words speak for themselves, numbers say what they count, also those of
    GPUs."""
    parts = []
    for name in names:
        if name not in case.texts:
            continue
        word = case.word(name)
        is_word = isinstance(case.params.get(name), str) and word not in ("none", "yes", "no")
        speaks = name == "size" or (is_word and not word[:1].isdigit())
        parts.append(word if speaks else f"{name} {word}")
    return ", ".join(parts)


def names_apart(cases):
    """A short and unique name for each case."""
    shown = varying(cases)
    return text.unique([describe(case, shown) or case.key for case in cases])


def named(name, run, all_runs):
    """A trace's name: with the run's where there are several."""
    if len(all_runs) < 2:
        return name or run.label
    return f"{name} - {run.label}" if name else run.label


def distinct(cases, axis):
    return sorted({case.count(axis) for case in cases if case.count(axis) is not None})


def by_axis(cases, axis):
    """Those that have a positive number there, sorted by it."""
    usable = [case for case in cases if (case.count(axis) or 0) > 0]
    return sorted(usable, key=lambda case: case.count(axis))

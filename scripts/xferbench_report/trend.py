"""How numbers went over many files of one machine: where a series changed, and by how much.

Hierarchical as in E-divisive: the series is cut in two if its parts differ by more than chance explains, and then each
part is looked at in the same way. How much they differ is the standardised Mann-Whitney statistic, the test that
`xferbench compare` uses; what chance explains is how large its largest value over all cuts is in permutations of the
ranks. Ranks make that the same for all series of one length, whatever their noise. The cut is where the medians of both
parts leave the least absolute deviation: ranks alone would prefer the middle.

A series that goes up and comes down again is much the same on both sides of any cut. So the files next to each cut, a
dozen on each side, are compared as well, by exact Mann-Whitney tests; each way of looking has half of the error.
"""

import bisect
import dataclasses
import functools
import math
import random
import statistics

ERROR = 0.05  # at most in so many pages of noise is any change of any case false
THRESHOLD = 0.02  # smaller changes are left out
_SEED = 20260101
_LEAST = 2  # files on each side of a cut
_MOST_PERMUTATIONS = 20_000
_BESIDE = 12  # files on each side of a cut that are compared by themselves
FEWEST = 5  # files in which a change could be seen at all


@dataclasses.dataclass(frozen=True)
class Change:
    """`at` is the first place of what is different."""

    at: int
    before: float
    after: float
    p: float

    @property
    def ratio(self):
        return self.after / self.before if self.before > 0 else math.inf


def changes(values, series=1, threshold=THRESHOLD):
    """Of a series in order of time, one of so many that are looked at together."""
    if len(values) < FEWEST:
        return []
    found = sorted(cuts(values, 0, len(values), level_of(series)))
    edges = [0, *(at for at, _ in found), len(values)]
    middles = [statistics.median(values[low:high]) for low, high in zip(edges, edges[1:])]
    told = [Change(at, *middles[place : place + 2], p) for place, (at, p) in enumerate(found)]
    return [one for one in told if abs(one.ratio - 1) >= threshold]


def cuts(values, low, high, level):
    """Places at which the values between two places fall into parts, each with its p."""
    if high - low < FEWEST:
        return []
    part = values[low:high]
    p, at = chance(len(part), largest(ranks(part)), permutations_for(level)), None
    if p > level:
        p, at = beside_each_other(part)
    if p > level:
        return []
    middle = low + (best_cut(part) if at is None else at)
    return [*cuts(values, low, middle, level), (middle, p), *cuts(values, middle, high, level)]


def level_of(series):
    """At which p a change is told, of one series of so many and by one of both ways of looking."""
    return ERROR / max(1, series) / 2


def beside_each_other(values):
    """Where the dozen files before a cut and the dozen after it differ most, and p for all cuts together."""
    least, at = 1.0, None
    for middle in range(_BESIDE, len(values) - _BESIDE + 1):
        ranked = ranks(values[middle - _BESIDE : middle + _BESIDE])
        p = mann_whitney(sum(ranked[:_BESIDE]) - _BESIDE * (_BESIDE + 1) / 2)
        if p < least:
            least, at = p, middle
    if at is None:
        return 1.0, None
    near = at - _BESIDE + best_cut(values[at - _BESIDE : at + _BESIDE])
    return least * (len(values) - 2 * _BESIDE + 1), near


def mann_whitney(u):
    """Two-sided p of U for two dozens, without ties; with some it errs towards no difference."""
    counts = arrangements(_BESIDE, _BESIDE)
    lower = math.ceil(min(u, _BESIDE**2 - u))
    return min(1.0, 2 * sum(counts[: lower + 1]) / sum(counts))


@functools.lru_cache(maxsize=None)
def arrangements(n, m):
    """In how many orders of n and m values U is 0, 1, 2 ..."""
    if n == 0 or m == 0:
        return (1,)
    counts = [0] * (n * m + 1)
    for shift, part in ((m, arrangements(n - 1, m)), (0, arrangements(n, m - 1))):
        for u, count in enumerate(part):
            counts[u + shift] += count
    return tuple(counts)


def ranks(values):
    """From 1 on; equal values share the middle of theirs."""
    ordered = sorted(values)
    return [(bisect.bisect_left(ordered, one) + bisect.bisect_right(ordered, one) + 1) / 2 for one in values]


def largest(ranked):
    """By how many standard deviations of its rank sum a side differs from the other, at the cut where it does most."""
    n, total, found = len(ranked), 0.0, 0.0
    for at in range(1, n - _LEAST + 1):
        total += ranked[at - 1]
        if at >= _LEAST:
            found = max(found, standardised(total, at, n))
    return found


def standardised(rank_sum, at, n):
    """The rank sum of the first so many of n values, from what it would be by chance, in standard deviations."""
    return abs(rank_sum - at * (n + 1) / 2) / math.sqrt(at * (n - at) * (n + 1) / 12)


def best_cut(values):
    return min(range(_LEAST, len(values) - _LEAST + 1), key=lambda at: deviation(values[:at]) + deviation(values[at:]))


def deviation(values):
    middle = statistics.median(values)
    return sum(abs(value - middle) for value in values)


def permutations_for(level):
    """So many that p can be a fifth of the level."""
    return min(_MOST_PERMUTATIONS, max(1000, math.ceil(5 / level)))


def chance(n, statistic, permutations):
    """How often a series of so many values without a change has one so large: p."""
    known = by_chance(n, permutations)
    return (1 + len(known) - bisect.bisect_left(known, statistic - 1e-9)) / (1 + len(known))


@functools.lru_cache(maxsize=None)
def by_chance(n, permutations):
    """Largest statistics of permutations, ascending; the same ones each time."""
    generator, ranked = random.Random(_SEED + n), list(range(1, n + 1))
    found = []
    for _ in range(permutations):
        generator.shuffle(ranked)
        found.append(largest(ranked))
    return sorted(found)


def fewest(series, before=30):
    """How many files show a change for sure, if it is larger than the noise, where so many show what was before; fewer
    do by luck. None where thirty would be too few."""
    level = level_of(series)
    for after in range(_LEAST, 31):
        n = before + after
        if chance(n, standardised(before * (before + 1) / 2, before, n), permutations_for(level)) <= level:
            return after
    return None

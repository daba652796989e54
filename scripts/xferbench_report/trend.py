"""How numbers went over many files of one machine: where a series changed, and by how much.

Hierarchical as in E-divisive: the series is cut in two if its parts differ by more than chance explains, and then each
part is looked at in the same way. How much they differ is the standardised Mann-Whitney statistic, the test that
`xferbench compare` uses; what chance explains is how large its largest value over all cuts is in permutations of the
ranks. Ranks make that the same for all series of one length, whatever their noise. The cut is where the medians of both
parts leave the least absolute deviation: ranks alone would prefer the middle.
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
    found = sorted(cuts(values, 0, len(values), ERROR / max(1, series)))
    edges = [0, *(at for at, _ in found), len(values)]
    middles = [statistics.median(values[low:high]) for low, high in zip(edges, edges[1:])]
    told = [Change(at, *middles[place : place + 2], p) for place, (at, p) in enumerate(found)]
    return [one for one in told if abs(one.ratio - 1) >= threshold]


def cuts(values, low, high, level):
    """Places at which the values between two places fall into parts, each with its p."""
    if high - low < FEWEST:
        return []
    p = chance(high - low, largest(ranks(values[low:high])), permutations_for(level))
    if p > level:
        return []
    middle = low + best_cut(values[low:high])
    return [*cuts(values, low, middle, level), (middle, p), *cuts(values, middle, high, level)]


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
    """How many files must show a change before it can be told from chance, where so many show what was before; None
    where thirty would be too few."""
    level = ERROR / max(1, series)
    for after in range(_LEAST, 31):
        n = before + after
        if chance(n, standardised(before * (before + 1) / 2, before, n), permutations_for(level)) <= level:
            return after
    return None

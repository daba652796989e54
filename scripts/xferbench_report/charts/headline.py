"""The few numbers of a scenario that its reader asks for first, each with what limits it."""

import dataclasses

from .. import records, text
from . import grouping


@dataclasses.dataclass
class Headline:
    """The best of some cases."""

    what: str
    case: object
    estimate: object  # from a case to its number
    name: str  # of the case, as far as it differs from the others
    limit: object = None  # an Estimate that cannot be exceeded, or not by much
    limit_name: str = ""
    others: int = 0  # that cannot be told apart from it

    @property
    def value(self):
        return self.estimate(self.case)

    def share(self):
        """Of the limit; None where there is none."""
        return self.value.value / self.limit.value if self.limit is not None and self.limit.value > 0 else None

    def of_what(self):
        """The same in words; empty where there is no limit."""
        share = self.share()
        return f"{text.percent(share)} of {self.limit.in_words()}, {self.limit_name}" if share is not None else ""


def best(what, cases, estimate, limit_of=lambda case: (None, ""), least=False):
    """A list with the best of these cases, or an empty one where none has that number."""
    known = [case for case in cases if estimate(case) is not None]
    if not known:
        return []
    found = (min if least else max)(known, key=lambda case: estimate(case).value)
    mine = estimate(found)
    open_still = ("equal", records.NOT_DECIDED)
    others = sum(case is not found and estimate(case).beside(mine) in open_still for case in known)
    others = others if mine.low is not None else 0
    limit, limit_name = limit_of(found)
    name = grouping.describe(found, grouping.varying(known)) or found.key
    return [Headline(what, found, estimate, name, limit, limit_name, others)]


def of_anything(cases):
    """The highest rate, or else the shortest time."""
    if any(case.rate() for case in cases):
        return best("highest rate", cases, lambda case: case.rate())
    heading = {case.heading(case.headline().name) for case in cases}
    what = f"shortest {heading.pop()}" if len(heading) == 1 else "shortest"
    times = [case for case in cases if case.main().unit == "s"]
    return best(what, times, lambda case: case.main(), least=True)


def rate_limit(value):
    """GB/s as the limit of a rate; None where it is unknown."""
    return records.Estimate(value, unit="GB/s") if value else None


def groups(cases, axis):
    """Cases that agree in this axis, by its word."""
    return [(group[0].word(axis) or axis, group) for _, group in grouping.facets(cases, [axis])]

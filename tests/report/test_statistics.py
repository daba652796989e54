"""The numbers of `xferbench compare` beside those of scipy and numpy."""

import itertools
import math
import random
import sys
import unittest

import support
from support import case, compare, results, sampled, samples

SKIPPED = 77  # what CTest takes for a test that did not run
ALPHA = 0.05

try:
    import numpy
    from scipy import stats
except ImportError:
    print("skipped: no scipy (on Debian: apt install python3-scipy)")
    sys.exit(SKIPPED)


def lag_one(values):
    """As the program estimates it: what tells it that samples depend on those before them."""
    centred = numpy.asarray(values) - numpy.mean(values)
    return float((centred[1:] * centred[:-1]).sum() / (centred**2).sum())


def independent(chance, n, **more):
    """Samples that look independent, too: what looks dependent is widened, which no oracle knows."""
    while True:
        found = samples(chance, n, **more)
        if abs(lag_one(found)) < 0.1:
            return found


class Oracle(support.Folder):
    """Seeded samples of every kind that the program tells apart: few and many, with ties or not, shifted or not."""

    SIZES = ((6, 7), (10, 10), (25, 40), (49, 49), (50, 30), (120, 200))

    def setUp(self):
        super().setUp()
        chance = random.Random(20250101)
        self.sides = {}
        for (n, m), shift, ties in itertools.product(self.SIZES, (1, 1.01, 1.08, 0.9), (False, True)):
            key = case(params={"n": n, "m": m, "shift": shift, "ties": str(ties)})["key"]
            base = independent(chance, n, ties=ties)
            self.sides[key] = base, independent(chance, m, scale=shift, ties=ties)
        files = []
        for side, name in enumerate(("base.json", "new.json")):
            cases = [case() | {"key": key, "measurements": [sampled(both[side])]} for key, both in self.sides.items()]
            files.append(self.write(name, results(cases)))
        self.said = compare(*files)
        self.rows = {row["key"]: row for row in self.said["cases"]}
        self.assertEqual(set(self.rows), set(self.sides))

    def each(self):
        for key, (base, new) in self.sides.items():
            self.assertEqual(self.rows[key]["notes"], [])
            yield self.rows[key], base, new

    def test_ratio_is_the_median_of_all_ratios(self):
        """Hodges and Lehmann's estimate."""
        for row, base, new in self.each():
            ratios = numpy.divide.outer(numpy.asarray(new), numpy.asarray(base))
            self.assertAlmostEqual(row["ratio"] / float(numpy.median(ratios)), 1, delta=1e-9)

    def test_p_is_that_of_mann_and_whitney(self):
        for row, base, new in self.each():
            tied = len({*base, *new}) < len(base) + len(new)
            exact = not tied and max(len(base), len(new)) < 50
            method = "exact" if exact else "asymptotic"
            expected = stats.mannwhitneyu(new, base, alternative="two-sided", method=method).pvalue
            least = 2 / math.comb(len(base) + len(new), len(base))  # no arrangement is rarer than that
            self.assertAlmostEqual(row["p"] / max(expected, least), 1, delta=1e-6)

    def test_interval_is_what_the_test_does_not_reject(self):
        """Where new is divided by a ratio inside the interval, the test finds nothing; outside it does."""
        for row, base, new in self.each():
            low, high = row["ratio_ci95"]
            exact = max(len(base), len(new)) < 50
            for ratio, rejected in ((low, False), (high, False), (low, True), (high, True)):
                outwards = -1 if (ratio == low) == rejected else 1
                moved = ratio * (1 + outwards * 1e-9)
                u, p = stats.mannwhitneyu(
                    numpy.asarray(new) / moved,
                    base,
                    alternative="two-sided",
                    method="exact" if exact else "asymptotic",
                )
                self.assertEqual(p <= ALPHA, rejected, (ratio, u, p))

    def test_holm_adjusts_for_all_cases(self):
        keys = list(self.sides)
        p_values = [self.rows[key]["p"] for key in keys]
        order, most = sorted(range(len(keys)), key=lambda at: p_values[at]), 0
        for rank, at in enumerate(order):
            most = max(most, min(1, (len(keys) - rank) * p_values[at]))
            self.assertAlmostEqual(self.rows[keys[at]]["p_holm"], most, delta=1e-12)

    def test_verdicts_follow(self):
        limit = self.said["options"]["threshold"]
        found = set()
        for row, _, _ in self.each():
            (low, high), sure = row["ratio_ci95"], row["p_holm"] <= ALPHA
            expected = "same" if low >= 1 - limit and high <= 1 + limit else "inconclusive"
            if sure and low > 1 + limit:
                expected = "regressed"
            elif sure and high < 1 - limit:
                expected = "improved"
            self.assertEqual(row["verdict"], expected)
            found.add(expected)
        self.assertEqual(found, {"same", "inconclusive", "regressed", "improved"})


if __name__ == "__main__":
    support.require_program()
    unittest.main()

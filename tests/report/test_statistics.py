"""The numbers of `xferbench compare` against those of scipy and numpy."""

import itertools
import math
import random
import sys
import unittest

import support
from support import case, compare, results, sampled, samples

SKIPPED = 77  # CTest counts this exit code as skipped
ALPHA = 0.05

try:
    import numpy
    from scipy import stats
except ImportError:
    print("skipped: no scipy (on Debian: apt install python3-scipy)")
    sys.exit(SKIPPED)


def lag_one(values):
    """Lag-one autocorrelation, the program's measure of dependence."""
    centred = numpy.asarray(values) - numpy.mean(values)
    return float((centred[1:] * centred[:-1]).sum() / (centred**2).sum())


def moves(values):
    """Whether a linear fit or the outer thirds show a trend."""
    third = len(values) // 3
    shift = abs(numpy.median(values[-third:]) / numpy.median(values[:third]) - 1)
    return stats.linregress(range(len(values)), values).pvalue < 0.2 or shift > 0.008


def independent(chance, n, **more):
    """Samples that also look independent: otherwise the program widens the interval, which scipy does not."""
    while True:
        found = samples(chance, n, **more)
        if abs(lag_one(found)) < 0.1 and not moves(found):
            return found


def by_t(ratio, variance, freedom):
    """p and confidence interval of a ratio, from the variance of its logarithm."""
    error = math.sqrt(variance)
    half = stats.t.isf(ALPHA / 2, freedom) * error
    p = 2 * stats.t.sf(abs(math.log(ratio)) / error, freedom)
    return p, [ratio * math.exp(-half), ratio * math.exp(half)]


class OneProcessASide(support.Folder):
    """Seeded samples of every kind that the program distinguishes: few or many, with or without ties, shifted or
    not."""

    SIZES = ((6, 7), (10, 10), (25, 40), (49, 49), (50, 30), (120, 200))

    def setUp(self):
        super().setUp()
        chance = random.Random(20250101)
        self.sides = {}
        for (n, m), shift, ties in itertools.product(self.SIZES, (1, 1.08, 2, 0.5), (False, True)):
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
        """The Hodges-Lehmann estimate."""
        for row, base, new in self.each():
            ratios = numpy.divide.outer(numpy.asarray(new), numpy.asarray(base))
            self.assertAlmostEqual(row["ratio"] / float(numpy.median(ratios)), 1, delta=1e-9)

    def test_p_and_interval_are_those_of_welch_with_the_assumed_spread(self):
        spread, freedom = self.said["options"]["assumed_spread"], 3  # 3: half of six degrees of freedom per side
        for row, base, new in self.each():
            low, high = row["ratio_ci95_within"]
            own = (math.log(high / low) / (2 * stats.norm.isf(ALPHA / 2))) ** 2
            variance = own + 2 * spread**2
            doubt = own**2 / (len(base) + len(new) - 2) + 2 * spread**4 / freedom
            p, interval = by_t(row["ratio"], variance, variance**2 / doubt)
            self.assertEqual(row["test"], "welch-t")
            self.assertAlmostEqual(row["p"] / p, 1, delta=1e-6)
            numpy.testing.assert_allclose(row["ratio_ci95"], interval, rtol=1e-9)

    def test_interval_is_what_the_test_does_not_reject(self):
        """Dividing by a ratio inside the interval makes the test find nothing; by one outside, the test rejects."""
        for row, base, new in self.each():
            low, high = row["ratio_ci95_within"]
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
        self.assertEqual(found, {"inconclusive", "regressed", "improved"})


class SeveralProcesses(support.Folder):
    """Processes whose levels differ by more than their own samples vary."""

    SHIFTS = (1, 1.02, 1.05, 1.3, 0.8)

    def compare(self, base, new, *flags):
        """Compares so many processes per side. Returns each row with the logarithms of both sides' medians."""
        chance = random.Random(20260101 + 100 * base + new)
        sides = {}
        names = {}
        for side, count in (("base", base), ("new", new)):
            names[side] = []
            for process in range(count):
                cases = []
                for shift in self.SHIFTS:
                    level = 1e-3 * math.exp(0.02 * chance.gauss(0, 1)) * (shift if side == "new" else 1)
                    taken = [level * (1 + 0.0002 * x) for x in (3, -2, 1, -4, 5, 0, -1, 4, -3, 2)]
                    sides.setdefault((shift, side), []).append(math.log(numpy.median(taken)))
                    key = case(params={"shift": shift})["key"]
                    cases.append(case() | {"key": key, "measurements": [sampled(taken)]})
                names[side].append(self.write(f"{side}{process}.json", results(cases)))
        rows = compare(*flags, "--base", *names["base"], "--new", *names["new"])["cases"]
        return [(row, sides[shift, "base"], sides[shift, "new"]) for row, shift in zip(rows, self.SHIFTS, strict=True)]

    def test_are_compared_by_welch_on_logarithms_of_medians(self):
        for base, new in ((2, 2), (3, 2), (3, 3), (4, 4)):
            for row, a, b in self.compare(base, new, "--assume-spread", "0"):
                expected = stats.ttest_ind(b, a, equal_var=False)
                self.assertEqual(row["test"], "welch-t")
                self.assertAlmostEqual(row["p"] / expected.pvalue, 1, delta=1e-6)
                self.assertAlmostEqual(row["ratio"] / math.exp(numpy.mean(b) - numpy.mean(a)), 1, delta=1e-9)

    def test_weigh_what_they_show_with_what_is_assumed(self):
        for base, new in ((2, 2), (3, 4)):
            for row, a, b in self.compare(base, new):
                parts = []
                for side in (a, b):
                    weight = len(side) - 1
                    variance = (3 * 0.02**2 + weight * numpy.var(side, ddof=1)) / (3 + weight)
                    parts.append((variance / len(side), 3 + weight))
                variance = sum(part for part, _ in parts)
                freedom = variance**2 / sum(part**2 / f for part, f in parts)
                p, interval = by_t(math.exp(numpy.mean(b) - numpy.mean(a)), variance, freedom)
                self.assertAlmostEqual(row["p"] / p, 1, delta=1e-2)
                numpy.testing.assert_allclose(row["ratio_ci95"], interval, rtol=1e-3)

    def test_that_are_enough_are_compared_by_mann_and_whitney(self):
        for row, a, b in self.compare(7, 7):
            expected = stats.mannwhitneyu(b, a, alternative="two-sided", method="exact").pvalue
            self.assertEqual(row["test"], "mann-whitney")
            self.assertAlmostEqual(row["p"] / expected, 1, delta=1e-9)
            ratios = numpy.exp(numpy.subtract.outer(b, a))
            self.assertAlmostEqual(row["ratio"] / float(numpy.median(ratios)), 1, delta=1e-9)


if __name__ == "__main__":
    support.require_program()
    unittest.main()

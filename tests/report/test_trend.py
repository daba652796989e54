"""Trends: noise is not called a change, a change is found at its file, and the page says what differs there."""

import datetime
import json
import random
import unittest

import support
from support import case, measurement, results, sampled
from xferbench_report import trend

CASES = 29  # as many as the suite ci has


def noise(chance, n, kind="normal"):
    if kind == "bimodal":
        return [(1.0 if chance.random() < 0.7 else 1.03) * (1 + 0.002 * chance.gauss(0, 1)) for _ in range(n)]
    if kind == "heavy":
        return [1 + 0.01 * chance.expovariate(1) ** 2 for _ in range(n)]
    return [1 + 0.01 * chance.gauss(0, 1) for _ in range(n)]


def stepped(chance, n, at, factor):
    return [value * (factor if place >= at else 1) for place, value in enumerate(noise(chance, n))]


class Changes(unittest.TestCase):
    def test_noise_has_none_in_all_but_a_twentieth_of_pages(self):
        """Whatever its kind, and however small a change would be told. 120 pages each: 5 % are 6, and 12 are beyond
        three standard deviations."""
        for kind in ("normal", "heavy", "bimodal"):
            chance = random.Random(kind)
            false = sum(
                any(trend.changes(noise(chance, 40, kind), CASES, threshold=0) for _ in range(CASES))
                for _ in range(120)
            )
            self.assertLessEqual(false, 12, kind)

    def test_a_step_of_five_percent_in_noise_of_one_is_found_at_its_file(self):
        chance, right = random.Random(11), 0
        for _ in range(200):
            at = chance.randrange(8, 33)
            found = trend.changes(stepped(chance, 40, at, 1.05), CASES)
            right += [one.at for one in found] == [at]
            self.assertTrue(any(abs(one.at - at) <= 2 for one in found), (at, found))
        self.assertGreaterEqual(right, 190)

    def test_how_large_it_was(self):
        found = trend.changes(stepped(random.Random(1), 40, 20, 1.05), CASES)[0]
        self.assertAlmostEqual(found.ratio, 1.05, delta=0.01)
        self.assertLess(found.p, trend.ERROR / CASES)

    def test_up_and_down_again_are_two(self):
        chance = random.Random(2)
        values = [v * (1.1 if 15 <= place < 30 else 1) for place, v in enumerate(noise(chance, 45))]
        self.assertEqual([one.at for one in trend.changes(values, CASES)], [15, 30])

    def test_what_is_sure_but_small_is_left_out(self):
        values = [(1 + n % 7 / 1e4) * (1.01 if n >= 30 else 1) for n in range(60)]
        self.assertEqual(trend.changes(values, CASES), [])
        self.assertEqual(len(trend.changes(values, CASES, threshold=0.005)), 1)

    def test_series_in_which_nothing_could_be_seen(self):
        for values in ([], [1.0], [1, 2, 1, 2], [3.0] * 40, [0.0] * 40):
            self.assertEqual(trend.changes(values, CASES), [])

    def test_so_many_files_must_show_it_as_is_said(self):
        needed, chance = trend.fewest(CASES), random.Random(5)
        found = [
            sum(bool(trend.changes(stepped(chance, 30 + after, 30, 1.3), CASES)) for _ in range(40))
            for after in (needed - 1, needed)
        ]
        self.assertLess(found[0], 20)
        self.assertEqual(found[1], 40)

    def test_the_same_series_has_the_same_changes(self):
        values = stepped(random.Random(3), 40, 20, 1.03)
        first = trend.changes(values, CASES)
        trend.by_chance.cache_clear()
        self.assertEqual(trend.changes(values, CASES), first)


class Page(support.Folder):
    def night(self, number, scale=1.0, **more):
        chance = random.Random(number)
        cases = []
        for way, factor in (("h2d", scale), ("d2h", 1.0)):
            values = [1e-3 * factor * (1 + 0.003 * chance.gauss(0, 1)) for _ in range(15)]
            cases.append(case("memcpy", {"dir": way}, [sampled(values)]))
        begun = datetime.datetime(2026, 3, 1, 3) + datetime.timedelta(days=number)
        tool = {"version": "0.1.0", "git": f"c0ffee{number:02}", "build": {"compiler": "GNU 12"}}
        value = results(cases, started_at=f"{begun.isoformat()}Z", tool=tool, **more)
        value["environment"]["driver"] = "590" if scale > 1 else "580"
        return self.write(f"night-{number:02}.json", value)

    def trend(self, *files):
        outcome = self.report("--trend", *files, "--quiet", "-o", "trend.html")
        self.assertEqual((outcome.returncode, outcome.stderr), (0, ""))
        return (self.folder / "trend.html").read_text(encoding="utf-8")

    def test_says_what_changed_when_and_what_else_did(self):
        """In whatever order the files are given; each night is a file of its own, though its name ends in a number."""
        files = [self.night(number, 1.05 if number >= 12 else 1) for number in range(24)]
        html = self.trend(*files)
        first = html[html.index("<main>") : html.index("<h2><bdi>Every case over time")]
        for words in ("24 runs", "1 change<", "1 for the worse", "2026-03-13T03:00:00Z", "c0ffee11 and 0.1.0 c0ffee12",
                      "driver: 580, then 590", "memcpy: h2d"):
            self.assertIn(words, first)
        figures = json.loads(html.split('id="figures">', 1)[1].split("</script>", 1)[0])
        self.assertEqual(len(figures), 2)
        cuts = [[one["x0"] for one in figure["layout"]["shapes"]] for figure in figures.values()]
        self.assertEqual(cuts, [["2026-03-13T03:00:00Z"], []])
        random.Random(1).shuffle(files)
        self.assertEqual(self.trend(*files), html)

    def test_names_are_shown_and_never_markup(self):
        nasty = "<img src=x>"
        nights = [
            results([case(nasty, {"n": nasty}, [measurement(nasty, 1.0 + n, nasty)])], gpu=nasty,
                    started_at=f"2026-03-0{n + 1}T03:00:00Z")
            for n in range(6)
        ]
        html = self.trend(*(self.write(f"{n}.json", night) for n, night in enumerate(nights)))
        self.assertGreater(html.count("&lt;img src=x&gt;"), 5)
        self.assertNotIn(nasty, html)
        self.assertNotIn("&amp;lt;", html)

    def test_without_a_change_says_so(self):
        self.assertIn("<strong>No change</strong>", self.trend(*(self.night(number) for number in range(20))))

    def test_simulated_and_not_verified_are_marked(self):
        html = self.trend(*(self.night(number, verified=False) for number in range(6)))
        self.assertIn("NOT VERIFIED: these results", html)
        self.assertIn('"name":"watermark"', html)

    def test_files_that_make_no_trend_are_refused(self):
        files = [self.night(number) for number in range(5)]
        other = results([case()], gpu="Another GPU")
        for arguments, words in (
            ([*files, self.write("other.json", other)], ["other.json", "machine", "Another GPU"]),
            (files[:4], ["5 runs at least", "these are 4"]),
            ([*files, self.write("t.json", {"traceEvents": []})], ["t.json", "timeline"]),
        ):
            with self.subTest(words=words):
                outcome = self.report("--trend", *arguments)
                self.assertEqual(outcome.returncode, 2)
                for word in words:
                    self.assertIn(word, outcome.stderr)
                self.assertFalse((self.folder / "report.html").exists())
        self.assertEqual(self.report(files[0], "--trend", *files).returncode, 2)

    def test_processes_of_a_night_are_one_point(self):
        files = []
        for number in range(6):
            for process in (1, 2, 3):
                value = json.loads((self.folder / self.night(number)).read_text(encoding="utf-8"))
                files.append(self.write(f"{number:02}-run-{process}.json", value))
        self.assertIn("6 runs", self.trend(*files))


if __name__ == "__main__":
    unittest.main()

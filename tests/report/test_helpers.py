"""Pure functions of the report: text, estimates, names, groups, and figures as Plotly's schema wants them."""

import array
import base64
import contextlib
import hashlib
import io
import itertools
import json
import lzma
import math
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import unittest
import unittest.mock

import jsonschema
import support
from support import ROOT, case, measurement, results

from xferbench_report import files, journal, page, records, samples, sides, tables, text, vendor
from xferbench_report.charts import catalogue, figure, general, grouping, memcpy, overlap, timeline, tune

HOSTILE = "</script><!-- \u2028 & \"' \ud800 \x00 \u202e"


def run_of(cases, path="a.json", **more):
    run = records.Run(path, results(cases, **more))
    records.name_apart([run])
    return run


class Journal(support.Folder):
    """What a run that was killed has left: a file that is behind, and its journal."""

    def setUp(self):
        super().setUp()
        self.cases = [case(params={"dir": "h2d", "size": 1 << size}) for size in range(10, 15)]
        whole = results(self.cases)
        whole = {"schema": whole.pop("schema"), "complete": False, **{k: v for k, v in whole.items() if k != "complete"}}
        whole["results"] = whole.pop("results")  # the last field
        self.text = json.dumps(whole, indent=1).encode()
        self.file = self.write("r.json", {**whole, "results": self.cases[:2]})

    def known(self, text):
        journal.path_of(self.file).write_bytes(text)
        with open(self.file, encoding="utf-8") as file:
            return len(journal.taken_in(json.load(file), journal.text_beside(self.file))["results"])

    def test_is_taken_in_up_to_its_last_whole_result(self):
        end = self.text.rindex(journal.END_OF_RESULT) + len(journal.END_OF_RESULT)
        self.assertEqual(self.known(self.text[:end]), 5)
        self.assertEqual(self.known(self.text[: end - 1]), 4)
        self.assertEqual(self.known(self.text[:300]), 2)
        self.assertEqual(self.known(b"what somebody else keeps here"), 2)

    def test_of_another_run_is_none_of_this_ones(self):
        with open(self.file, encoding="utf-8") as file:
            started = json.load(file)["started_at"].encode()
        self.assertEqual(self.known(self.text.replace(started, b"1999-01-01T00:00:00Z")), 2)

    def loaded(self):
        """How many results a report reads, and what it says."""
        with contextlib.redirect_stderr(io.StringIO()) as said:
            (run,), _ = files.load([str(self.file)])
        return len(run.cases), said.getvalue()

    def test_that_is_damaged_leaves_the_file_to_be_read_and_is_named(self):
        for damage in (b"\x01", b"9"):
            journal.path_of(self.file).write_bytes(self.text.replace(b'"status"', damage + b'"status"', 4))
            cases, said = self.loaded()
            self.assertEqual(cases, 2)
            self.assertIn("r.json.journal: is damaged", said)
            self.assertIn("--resume", said)
        journal.path_of(self.file).write_bytes(self.text.replace(b'"status"', b'"sta"', 4))
        self.assertEqual(self.loaded()[0], 2)

    def test_that_goes_while_the_file_is_read_is_taken_in(self):
        """As where the run ends just then."""
        journal.path_of(self.file).write_bytes(self.text)
        read = files.read_json

        def read_and_end(path):
            value = read(path)
            journal.path_of(path).unlink()
            return value

        with unittest.mock.patch.object(files, "read_json", read_and_end):
            self.assertEqual(self.loaded(), (5, ""))


class Compressed(support.Folder):
    """A results file as docs/results has most of them."""

    def setUp(self):
        super().setUp()
        self.packed = lzma.compress(json.dumps(results([case()])).encode())
        self.path = str(self.folder / "r.json.xz")

    def load(self, data):
        pathlib.Path(self.path).write_bytes(data)
        return files.load([self.path])

    def test_is_read_as_it_is(self):
        runs, _ = self.load(self.packed)
        self.assertEqual(len(runs[0].cases), 1)

    def test_that_is_cut_off_or_damaged_or_no_end_comes_of_is_refused(self):
        damaged = self.packed[:40] + bytes([self.packed[40] ^ 0xFF]) + self.packed[41:]
        for data, said in ((self.packed[:-20], "cut off"), (damaged, "cannot be unpacked")):
            with self.subTest(said), self.assertRaisesRegex(files.Refused, f"r.json.xz: is compressed by xz, .*{said}"):
                self.load(data)
        with unittest.mock.patch.object(files, "MOST_UNPACKED", 100):
            with self.assertRaisesRegex(files.Refused, "of more than"):
                self.load(self.packed)


class Links(support.Folder):
    """What packages leave out is not linked to."""

    def test_that_lead_nowhere_become_their_text(self):
        script = ROOT / "packaging" / "unlink_missing.py"
        page = self.folder / "docs" / "a.md"
        page.parent.mkdir()
        page.write_text("[b](b.md#x) [`c`](../c.cpp), [e [x]](gone.md) [w](https://x.example/) ![p](p.png) [here](#y)\n")
        (self.folder / "docs" / "b.md").touch()
        subprocess.run([sys.executable, "-B", script, self.folder], check=True)
        self.assertEqual(page.read_text(), "[b](b.md#x) `c`, e [x] [w](https://x.example/) ![p](p.png) [here](#y)\n")


class Text(unittest.TestCase):
    def test_templates_escape_what_ends_text_and_attributes(self):
        for template, name, expected in (
            ("{{ name }}", "<a href='x'>\"& \u2028 \ud800", "&lt;a href=&#39;x&#39;&gt;&#34;&amp;   \ufffd"),
            ("{{ name | breakable }}", "a/<b>", "a/<wbr>&lt;b&gt;"),
        ):
            self.assertEqual(page.environment().from_string(template).render(name=name), expected)

    def test_names_become_one_line_that_can_be_encoded(self):
        self.assertEqual(text.plain("a\n\tb\u2028c\ud800"), "a b c\ufffd")
        text.plain(HOSTILE).encode("utf-8")

    def test_labels_leave_no_markup_for_plotly(self):
        self.assertEqual(text.label("<b>x</b> &amp;"), "&lt;b&gt;x&lt;/b&gt; &amp;amp;")

    def test_script_json_cannot_end_its_element(self):
        written = text.script_json({"name": HOSTILE})
        self.assertTrue(written.isascii())
        for forbidden in ("<", ">", "&", "\u2028"):
            self.assertNotIn(forbidden, written)

    def test_script_json_has_null_for_what_json_has_not(self):
        self.assertEqual(text.script_json({"x": [1.5, float("nan"), (float("inf"),)]}), '{"x":[1.5,null,[null]]}')

    def test_quantities_read_well(self):
        for value, unit, expected in (
            (0.005513, "s", "5.513 ms"),
            (4.06e-4, "s", "406 us"),
            (2.5e-9, "s", "2.5 ns"),
            (0, "s", "0 s"),
            (268435456, "B", "256 MiB"),
            (8, "B", "8 B"),
            (97.4, "GB/s", "97.4 GB/s"),
            (0.96, "1", "0.96"),
            (1234567, "keys/s", "1,234,567 keys/s"),
            (1e300, "1", "1.000e+300"),
        ):
            with self.subTest(value=value, unit=unit):
                self.assertEqual(text.quantity(value, unit), expected)

    def test_unique_numbers_what_repeats(self):
        self.assertEqual(text.unique(["a", "a", "a (2)", "b"]), ["a", "a (2)", "a (2) (2)", "b"])

    def test_sizes_in_keys_get_a_space(self):
        self.assertEqual(
            [text.value_in_key(word) for word in ("256MiB", "8B", "1.5GiB", "MiB")],
            ["256 MiB", "8 B", "1.5 GiB", "MiB"],
        )


class Records(unittest.TestCase):
    def test_numbers_beyond_a_double_stay_finite(self):
        self.assertEqual(text.number(10**400), 1e300)
        self.assertEqual(text.number(-(10**400)), -1e300)
        for write in (text.digits, text.size, text.seconds, text.percent):
            write(10**400)

    def test_environment_of_absurd_numbers_makes_a_page(self):
        run = run_of([case()])
        huge = 10**400
        run.environment["gpu"] |= {"memory_bytes": huge, "pcie": {"generation": huge, "width": huge, "source": "x"}}
        event = {"name": "copy", "ph": "X", "pid": 1, "tid": 1, "ts": huge, "dur": huge, "args": {"bytes": huge}}
        timelines = [records.Timeline("t.json", {"traceEvents": [event]})]
        self.assertIn("</html>", page.render(sides.recognised([run]), timelines, None))

    def test_interval_always_contains_its_median(self):
        found = records.Measurement(measurement(ci95=[2e-3, 3e-3])).estimate()
        self.assertLessEqual(found.low, found.value)

    def test_rate_has_the_interval_of_its_time_turned_round(self):
        found = records.Case(case(metrics={"bandwidth": (50.0, "GB/s")})).rate()
        self.assertAlmostEqual(found.low, 50 / 1.005)
        self.assertAlmostEqual(found.high, 50 / 0.995)

    def test_metric_of_another_unit_is_none(self):
        self.assertIsNone(records.Case(case(metrics={"bandwidth": (50.0, "apples")})).rate())

    def test_a_case_is_about_what_the_file_declares(self):
        """Or else, in older files, about its first measurement, or what pipelines were about."""
        empty = measurement("empty")
        del empty["median"], empty["ci95"]
        stages = [measurement("h2d", 1.0), measurement("pipeline", 2.0), empty]
        declared = [
            {"name": "limit", "kind": "metric", "headline": True},
            {"name": "empty", "kind": "measurement", "headline": True},
            {"name": "pipeline", "kind": "measurement", "headline": True, "heading": "makespan"},
        ]
        found = run_of([case("x", {}, stages)], metrics_declared={"x": declared}).cases[0]
        self.assertEqual((found.main().value, found.heading(found.headline().name)), (2.0, "makespan"))
        self.assertIn("makespan", tables.case_row(found, []))
        for scenario, value in (("x", 1.0), ("overlap", 2.0)):
            run = records.Run("a.json", results([case(scenario, {}, stages)]), catalogue.ABOUT)
            self.assertEqual(run.cases[0].main().value, value)

    def test_runs_get_names_that_differ(self):
        runs = [records.Run(path, results()) for path in ("x/a.json", "y/a.json", "y/a.json")]
        records.name_apart(runs)
        self.assertEqual([run.short_label for run in runs], ["x/a.json", "y/a.json", "y/a.json (2)"])
        self.assertIn("NVIDIA Test", runs[0].label)

    def test_simulated_runs_say_so_in_their_names(self):
        self.assertIn("SIMULATED", run_of([], simulated=True).label)
        self.assertEqual(run_of([]).marks, [])

    def test_runs_that_were_not_verified_say_so_in_their_names(self):
        self.assertTrue(run_of([], verified=False).label.endswith(", NOT VERIFIED"))
        for said in ({"verified": True}, {}):  # older files do not say
            self.assertEqual(run_of([], **said).marks, [])


class Groups(unittest.TestCase):
    def setUp(self):
        params = [{"host": host, "streams": n, "size": 1024} for host in ("pinned", "none") for n in (1, 2)]
        self.cases = [records.Case(case("x", one)) for one in params]

    def test_only_what_varies_names_a_case(self):
        self.assertEqual(grouping.varying(self.cases), ["host", "streams"])
        self.assertEqual(grouping.names_apart(self.cases)[0], "pinned, streams 1")
        self.assertEqual(grouping.names_apart(self.cases)[2], "host none, streams 1")

    def test_same_names_are_told_apart(self):
        self.assertEqual(len(set(grouping.names_apart(self.cases + self.cases))), 8)

    def test_groups_differ_in_the_free_axis_only(self):
        found = grouping.groups(self.cases, ["streams"], ["host"])
        self.assertEqual([(title, len(group)) for title, group in found], [("pinned", 2), ("host none", 2)])

    def test_facets_are_named_by_what_they_agree_in(self):
        self.assertEqual([title for title, _ in grouping.facets(self.cases, ["host"])], ["pinned", "host none"])


class Figures(unittest.TestCase):
    def test_hover_breaks_long_keys_and_escapes_them(self):
        shown = figure.hover("a=<b>/" + "/".join(["step=1234567890"] * 8))
        self.assertIn("a=&lt;b&gt;/", shown)
        self.assertGreater(shown.count("<br>"), 0)

    def test_every_point_says_which_case_how_long_how_sure_and_of_how_many(self):
        run = run_of([case(measurements=[measurement(median=2e-3, flags=["drift"])])])
        shown = figure.case_hover(run, run.cases[0])
        for words in ("memcpy/dir=h2d/size=1048576", "median 2 ms", "[1.99 ms, 2.01 ms]", "n = 10", "drift", "a.json"):
            self.assertIn(words, shown)

    def test_error_bars_reach_the_ends_of_the_interval(self):
        bars = figure.error_bars([records.Estimate(2, 1, 5), records.Estimate(3)], 10)
        self.assertEqual((bars["arrayminus"], bars["array"]), ([10, 0], [30, 0]))
        self.assertIsNone(figure.error_bars([records.Estimate(3)]))

    def test_looks_repeat_late(self):
        self.assertEqual(len({figure.look(index) for index in range(40)}), 40)

    def test_axis_labels_leave_room(self):
        self.assertEqual(figure.with_room([1, 2, 1000]), [1, 1000])
        self.assertEqual(figure.with_room([7]), [7])

    def test_time_scale_suits_the_middle(self):
        self.assertEqual(figure.time_scale([1e-9, 5e-6, 1]), (1e6, "us"))
        self.assertEqual(figure.time_scale([0])[1], "s")

    def test_simulated_data_are_marked_in_the_chart(self):
        for simulated, count in ((True, 1), (False, 0)):
            chart = general.overview("memcpy", [run_of([case()], simulated=simulated)])[0]
            marks = [one for one in chart.figure()["layout"]["annotations"] if one.get("name") == "watermark"]
            self.assertEqual([one["text"] for one in marks], ["SIMULATED (profile h200)"] * count)

    def test_data_that_were_not_verified_are_marked_in_the_chart(self):
        chart = general.overview("memcpy", [run_of([case()], simulated=True, verified=False)])[0]
        self.assertEqual(chart.marks(), ["SIMULATED (profile h200)", "NOT VERIFIED"])

    def test_a_fault_is_marked_in_the_chart_and_on_the_page(self):
        faulty = results([case()])
        faulty["environment"]["variables"]["XFERBENCH_INJECT"] = "corrupt:copy:3"
        run = run_of([case()], environment=faulty["environment"])
        self.assertEqual(run.marks, ["FAULT INJECTED"])
        self.assertIn("FAULT INJECTED: corrupt:copy:3; not a measurement", page.banner([run], []))

    def test_the_page_says_what_was_not_verified(self):
        checked, not_checked = run_of([case()]), run_of([case()], verified=False)
        self.assertEqual(page.banner([checked], []), "")
        self.assertIn("NOT VERIFIED: these results", page.banner([not_checked], []))
        self.assertIn("NOT VERIFIED: some of these results", page.banner([checked, not_checked], []))
        both = page.banner([run_of([case()], simulated=True, verified=False)], [])
        self.assertIn("SIMULATED (profile h200): all numbers", both)
        self.assertIn("NOT VERIFIED", both)
        facts = dict(tables.environments([not_checked], [])["files"])
        self.assertTrue(any(isinstance(fact["verified"], tables.Alarm) for fact in facts.values()))

    def test_raw_link_rate_is_lanes_times_encoding(self):
        self.assertAlmostEqual(memcpy.raw_link_rate({"generation": 5, "width": 16}), 63.015, places=2)
        self.assertAlmostEqual(memcpy.raw_link_rate({"generation": 1, "width": 8}), 2.0)
        self.assertIsNone(memcpy.raw_link_rate({"generation": 99, "width": 16}))
        self.assertIsNone(memcpy.raw_link_rate(None))

    def test_map_has_the_efficiency_of_each_cell(self):
        cases = [
            case("overlap", {"streams": s, "chunks": c}, [measurement("pipeline")], {"efficiency": (s * c / 100, "1")})
            for s in (1, 2)
            for c in (4, 8)
        ]
        run = run_of(cases[:-1])
        chart = overlap.maps([(run, run.of("overlap"))])[0]
        self.assertEqual(chart.traces[0]["z"], [[4.0, 8.0], [8.0, None]])

    def test_best_line_takes_the_fastest(self):
        metrics = [{"bandwidth": (10 * growth, "GB/s")} for growth in (1, 3, 2)]
        cases = [records.Case(case("overlap", {"chunks": 4}, [measurement("pipeline")], one)) for one in metrics]
        self.assertEqual([one.rate().value for one in overlap.best_at(cases, "chunks")], [30])

    def test_tune_ranks_confirmed_before_searched(self):
        cases = [
            records.Case(case("overlap", {"chunks": n}, [measurement("pipeline", t)], labels={"measured_in": word}))
            for n, t, word in ((1, 1.0, "search"), (2, 3.0, "confirmation"), (3, 2.0, "confirmation"))
        ]
        self.assertEqual([one.count("chunks") for one in tune.ranked(cases)], [3, 2, 1])

    def test_gantt_has_a_row_for_each_track(self):
        events = [{"name": "thread_name", "ph": "M", "pid": 1, "tid": t, "args": {"name": "H2D"}} for t in (1, 2)]
        events += [{"name": "copy", "cat": "H2D", "ph": "X", "pid": 1, "tid": t, "ts": 5, "dur": 2} for t in (1, 2)]
        chart = timeline.charts(records.Timeline("t.json", {"traceEvents": events}))[0]
        self.assertEqual(chart.traces[0]["y"], ["H2D", "H2D (2)"])
        self.assertEqual(chart.traces[0]["base"], [5, 5])

    def test_every_flag_of_the_documentation_is_explained(self):
        pages = [path.read_text(encoding="utf-8") for path in sorted((support.ROOT / "docs").rglob("*.md"))]
        chapter = next(page.split("## Flags and warnings\n")[1] for page in pages if "## Flags and warnings\n" in page)
        named = [line.split("`")[1] for line in chapter.split("\n## ")[0].splitlines() if line.startswith("| `")]
        self.assertEqual(sorted(named), sorted(tables.FLAGS))


class Colours(unittest.TestCase):
    """As people with usual and with unusual colour vision see them."""

    # Linear RGB as seen without one kind of cones (Machado, Oliveira and Fernandes 2009).
    VISION = {
        "usual": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
        "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
        "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
        "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
    }
    TO_LMS = (  # and from there Ottosson's OKLab
        (0.41222147, 0.53633254, 0.05144599),
        (0.2119035, 0.68069955, 0.10739696),
        (0.08830246, 0.28171884, 0.6299787),
    )
    TO_LAB = (
        (0.21045426, 0.79361779, -0.00407205),
        (1.9779985, -2.42859221, 0.45059371),
        (0.025904, 0.78277177, -0.80867577),
    )

    def linear(self, colour):
        shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        return [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]

    def through(self, matrix, vector):
        return [sum(a * b for a, b in zip(row, vector)) for row in matrix]

    def oklab(self, linear):
        lms = self.through(self.TO_LMS, [min(1, max(0, one)) for one in linear])
        return self.through(self.TO_LAB, [one ** (1 / 3) for one in lms])

    def contrast(self, one, other):
        light = sorted(sum(w * s for w, s in zip((0.2126, 0.7152, 0.0722), self.linear(c))) for c in (one, other))
        return (light[1] + 0.05) / (light[0] + 0.05)

    def grounds(self):
        """Of the page and of charts, light and dark."""
        css = (support.SCRIPTS / "xferbench_report" / "templates" / "page.css").read_text(encoding="utf-8")
        screen = css.split("@media print")[0]
        found = re.findall(r"--(?:ground|panel): (#[0-9a-f]{6})", screen)
        self.assertEqual(len(found), 4)
        return found

    def test_stand_out_from_every_ground(self):
        for colour in (*figure.COLOURS, figure.LIMIT_COLOUR):
            for ground in self.grounds():
                self.assertGreaterEqual(self.contrast(colour, ground), 3, (colour, ground))

    def test_differ_for_everyone(self):
        for kind, matrix in self.VISION.items():
            seen = [self.oklab(self.through(matrix, self.linear(colour))) for colour in figure.COLOURS]
            for one, other in itertools.combinations(range(len(seen)), 2):
                self.assertGreater(math.dist(seen[one], seen[other]), 0.1, (kind, one, other))


class ThreeStates(unittest.TestCase):
    def test_equal_needs_the_whole_interval_within_the_margin(self):
        """0.948 of something, with an interval of which nobody knows, is not alike to it."""
        for mine, expected in (
            (records.Estimate(1.000, 0.999, 1.001), "equal"),
            (records.Estimate(0.948, 0.90, 1.01), records.NOT_DECIDED),
            (records.Estimate(0.948), records.NOT_DECIDED),
            (records.Estimate(0.948, 0.947, 0.949), "less"),
            (records.Estimate(1.10, 1.09, 1.11), "more"),
            (records.Estimate(1.0, 0.98, 1.02), records.NOT_DECIDED),
        ):
            self.assertEqual(mine.beside(records.Estimate(1.0, 0.9995, 1.0005)), expected, mine)

    def test_the_best_says_how_many_cannot_be_told_apart(self):
        medians = {1: 1.0, 2: 1.004, 3: 1.2}
        cases = [case("x", {"n": n}, [measurement(median=t)], {"rate": (1 / t, "GB/s")}) for n, t in medians.items()]
        found = catalogue.headlines("x", run_of(cases))
        self.assertEqual([(one.name, one.others) for one in found], [("n 1", 1)])

    def test_a_map_marks_all_that_may_be_best(self):
        cases = [
            case("overlap", {"streams": s, "chunks": c}, [measurement("pipeline", t)], {"efficiency": (0.9 / t, "1")})
            for s, c, t in ((1, 4, 1.0), (1, 8, 1.002), (2, 4, 1.3), (2, 8, 1.4))
        ]
        run = run_of(cases)
        chart = overlap.maps([(run, run.of("overlap"))])[0]
        self.assertEqual(sorted(one["text"] for one in chart.annotations), ["64.3", "69.2", "89.8*", "90.0*"])
        self.assertIn("1 other that cannot be told apart", chart.note)


class Sides(unittest.TestCase):
    def runs(self, *names, **more):
        return [run_of([case()], name, **more) for name in names]

    def test_processes_of_one_run_are_one_side(self):
        names = ("a/new-1.json", "a/new-2.json", "a/old-1.json", "b/new-3.json", "single.json")
        self.assertEqual([len(side.runs) for side in sides.recognised(self.runs(*names))], [2, 1, 1, 1])

    def test_what_differs_by_more_than_its_number_is_apart(self):
        first = run_of([case()], "n-1.json")
        for change in (
            {"gpu": "Another"},
            {"command": ["xferbench", "overlap"]},
            {"started_at": "2025-01-02T00:00:00Z"},
            {"tool": {"version": "0.1.0", "git": "abc", "build": {"compiler": "GNU 12"}}},
        ):
            self.assertEqual(len(sides.recognised([first, run_of([case()], "n-2.json", **change)])), 2, change)
        outputs = {"command": ["xferbench", "memcpy", "--json", "n.json", "--csv=x.csv"]}
        self.assertEqual(len(sides.recognised([first, run_of([case()], "n-2.json", **outputs)])), 1)

    def test_numbers_of_a_side_are_those_of_its_processes(self):
        runs = [run_of([case(measurements=[measurement(median=t, flags=["drift"])])], f"n-{t}.json") for t in (1, 2, 4)]
        main = sides.side(runs).run.cases[0].main()
        self.assertEqual((main.value, main.samples), (2, 3))
        self.assertAlmostEqual(main.low * main.high, 4)
        self.assertAlmostEqual(main.high, 2 * math.exp(4.303 * math.log(2) / math.sqrt(3)), places=9)
        self.assertIn("3 processes", figure.case_hover(runs[0], sides.side(runs).run.cases[0]))

    def test_a_case_that_failed_in_one_process_failed(self):
        bad = run_of([case(status="failed", reason="wrong byte", measurements=[])], "n-2.json")
        self.assertEqual(sides.side([run_of([case()], "n-1.json"), bad]).run.cases[0].status, "failed")


class Samples(unittest.TestCase):
    def unpacked(self, entry):
        low, high, packed = entry[5], entry[6], array.array("H", base64.b64decode(entry[-1]))
        return [low + (high - low) * step / 65535 for step in packed]

    def test_are_those_of_the_file(self):
        values = [1e-3 * (1 + n % 17 / 100) for n in range(300)]
        found = samples.embedded(sides.recognised([run_of([case(measurements=[support.sampled(values)])])]))
        self.assertEqual(found["keys"], [case()["key"]])
        (entry,) = found["cases"][0]
        self.assertEqual(entry[:5], [0, "copy", "s", 300, 1])
        for seen, meant in zip(self.unpacked(entry), values):
            self.assertAlmostEqual(seen, meant, delta=1e-3 * 0.17 / 65535)
        self.assertEqual(found["left_out"], "")

    def test_of_too_many_one_in_so_many_is_there_and_that_is_said(self):
        one = support.sampled([1.0 + n / 1e6 for n in range(2000)])
        cases = [case(params={"n": n}, measurements=[one, {**one, "name": "beside"}]) for n in range(200)]
        found = samples.embedded(sides.recognised([run_of(cases)]))
        kept = [entry for entries in found["cases"].values() for entry in entries]
        self.assertEqual({entry[1] for entry in kept}, {"copy"})
        self.assertLessEqual(sum(len(self.unpacked(entry)) for entry in kept), samples.MOST)
        self.assertEqual({entry[4] for entry in kept}, {3})
        for words in ("only what it is about", "one sample in 3"):
            self.assertIn(words, found["left_out"])

    def test_of_far_too_many_none_is_there_and_that_is_said(self):
        one = support.sampled([1.0 + n for n in range(20)])
        run = run_of([case(params={"n": n}, measurements=[one]) for n in range(80)])
        with unittest.mock.patch.object(samples, "MOST", 1500):
            found = samples.embedded(sides.recognised([run]))
        self.assertEqual(found["cases"], {})
        self.assertIn("too many samples", found["left_out"])


class Sentences(unittest.TestCase):
    def finding(self, kind, words):
        return {"scenario": "memcpy", "kind": kind, "labels": {}, "metrics": {}, "text": words}

    def test_six_are_open_of_all_kinds_and_the_rest_is_kept(self):
        said = [self.finding("crossover", f"c{n}") for n in range(20)]
        said += [self.finding("winner", f"w{n}") for n in range(2)]
        ((_, shown, rest),) = tables.findings("memcpy", [run_of([case()], findings=said)])
        self.assertEqual(shown, ["c0", "c1", "c2", "c3", "w0", "w1"])
        self.assertEqual(sorted(shown + rest), sorted(one["text"] for one in said))

    def test_skipped_cases_of_one_reason_are_one_line(self):
        why = "--size 12345B is not a multiple of 4"
        skipped = [case(params={"n": n}, status="skipped", reason=why, measurements=[]) for n in range(42)]
        skipped += [case(params={"n": 50}, status="skipped", reason="no such engine", measurements=[])]
        found = tables.not_measured([run_of(skipped)])["skipped"]
        self.assertEqual([(count, reason) for _, _, count, reason, _ in found], [(42, why), (1, "no such engine")])
        html = page.render(sides.recognised([run_of([case(), *skipped])]), [], None)
        self.assertEqual(html.count(why), 1)
        self.assertIn("42 cases of", html)

    def test_alarms_are_flags_that_put_numbers_in_doubt_and_no_others(self):
        flagged = [measurement(flags=["drift", "outliers"]), measurement("other", flags=["haunted"])]
        found = tables.alarms([run_of([case(measurements=flagged)], complete=False)])
        self.assertEqual([str(what) for what, _ in found], ["incomplete", "drift", "haunted"])


class Vendor(support.Folder):
    def package(self, archive=b"", sha512=None):
        """One whose archive a stand-in of npm packs."""
        tools = self.folder / "tools"
        tools.mkdir(exist_ok=True)
        (self.folder / "packed.tgz").write_bytes(archive)
        npm = tools / "npm"
        npm.write_text(f'#!/bin/sh\necho "$@" >> {self.folder}/asked\ncp {self.folder}/packed.tgz "$5/p.tgz"\n')
        npm.chmod(0o755)
        hashed = base64.b64encode(hashlib.sha512(archive).digest()).decode()
        return vendor.Package("some-package", "1.2.3", sha512 or hashed, "package/a.js")

    def packed(self, content):
        holder = io.BytesIO()
        with tarfile.open(fileobj=holder, mode="w:gz") as made:
            entry = tarfile.TarInfo("package/a.js")
            entry.size = len(content)
            made.addfile(entry, io.BytesIO(content))
        return holder.getvalue()

    def fetch(self, package):
        with unittest.mock.patch.object(vendor, "FOLDER", self.folder / "vendor"):
            with unittest.mock.patch.dict(os.environ, {"PATH": f"{self.folder}/tools:{os.environ['PATH']}"}):
                vendor.fetch(package)
                vendor.fetch(package)  # and does nothing
            return vendor.source(package)

    def test_is_fetched_once_by_name_and_version(self):
        self.assertEqual(self.fetch(self.package(self.packed(b"let x;"))), "let x;")
        asked = (self.folder / "asked").read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(asked), 1)
        self.assertIn("some-package@1.2.3", asked[0])

    def test_with_another_hash_is_refused(self):
        with self.assertRaisesRegex(vendor.Missing, "is not what it was"):
            self.fetch(self.package(self.packed(b"let x;"), "AAAA"))
        self.assertFalse((self.folder / "vendor").exists())

    def test_that_is_missing_says_how_to_get_it(self):
        with unittest.mock.patch.object(vendor, "FOLDER", self.folder / "vendor"):
            with self.assertRaisesRegex(vendor.Missing, "scripts/setup --report"):
                vendor.source(vendor.PLOTLY)


class Schemas(unittest.TestCase):
    """What files are held against is not checked again each time."""

    def test_are_valid_themselves(self):
        paths = [files.TIMELINE, *(ROOT / "docs").glob("*-schema.json")]
        self.assertGreater(len(paths), 5)
        for path in paths:
            with self.subTest(path.name):
                jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text(encoding="utf-8")))


class Names(unittest.TestCase):
    def test_metrics_of_a_scenario_are_named_in_its_own_charts_only(self):
        """Everything else reads declarations, so that a new scenario needs no line there."""
        known = [case for path in support.RESULTS.glob("*.json") for case in json.loads(path.read_text())["results"]]
        scenarios = {case["scenario"] for case in known}
        names = {one["name"] for case in known for one in case["measurements"]}
        names |= {name for case in known for name in case["metrics"]}
        schema = (support.ROOT / "docs" / "results-schema.json").read_text(encoding="utf-8")
        names -= scenarios | {name for name in names if f'"{name}": {{' in schema}  # fields of the file
        self.assertGreater(len(names), 50)
        package = support.SCRIPTS / "xferbench_report"
        of_programs = {"explanation", "explain"}  # read files of xferbench explain, whose fields are their own
        for path in [*package.rglob("*.py"), *package.rglob("*.html")]:
            if path.stem in of_programs:
                continue
            if path.parent.name != "charts" or path.stem not in scenarios | {"tune", *catalogue.SPECIAL}:
                source = path.read_text(encoding="utf-8")
                self.assertEqual([name for name in names if f'"{name}"' in source], [], path)


class Page(unittest.TestCase):
    def test_lonely_narrow_charts_take_the_width(self):
        def chart(narrow):
            return figure.Chart("", [], [], {}, {}, narrow=narrow)

        charts = [chart(wide != "w") for wide in "nnwnwnnn"]
        page.widen_lonely(charts)
        self.assertEqual(["n" if one.narrow else "w" for one in charts], list("nnwwwnnw"))

    def test_same_files_make_the_same_page(self):
        def made():
            return page.render(sides.recognised([run_of([case(), case(params={"size": 2})])]), [], None)

        self.assertEqual(made(), made())

    def test_banner_is_there_exactly_when_something_is_simulated(self):
        self.assertEqual(page.banner([run_of([])], []), "")
        self.assertIn("some numbers", page.banner([run_of([]), run_of([], simulated=True)], []))
        self.assertIn("all numbers", page.banner([run_of([], simulated=True)], []))


if __name__ == "__main__":
    unittest.main()

"""Pages in a real browser without a network: every chart is drawn, nothing is fetched, and no name does any harm."""

import contextlib
import json
import random
import subprocess
import sys
import unittest
import unittest.mock

import several_gpus
import support
from support import RESULTS, TIMELINES, case, compare, measurement, results, simulate
from xferbench_report import files, page, sides, validation

EXPLANATIONS = support.ROOT / "tests" / "unit" / "golden" / "explain"
SKIPPED = 77  # what CTest takes for a test that did not run

# Strings that would run, close or break something if they were taken for anything but text.
HOSTILE = (
    "<script>window.pwned=1</script>",
    "</script><script>window.pwned=2</script>",
    "<img src=x onerror=window.pwned=3>",
    "\"'><svg onload=window.pwned=4>",
    '<a href="javascript:window.pwned=5">link</a>',
    "<!-- <b>bold</b> &lt;i&gt; &amp;",
    "%{y} %{customdata} $x^2$ ${window.pwned=6} {{7*7}}",
    "emoji \U0001f680 and \u05e2\u05d1\u05e8\u05d9\u05ea \u202eright to left",
    "line\u2028separator \ud800 half a character",
)

# Charts that must be there for each kind of file; the beginnings of their titles.
EXPECTED = {
    "memcpy": ["Host to GPU", "GPU to host", "Both directions at once"],
    "memcpy-sizes": ["Host to GPU", "GPU to host"],
    "memcpy-inside": ["Inside the GPU"],
    "overlap": ["Rate over chunks: 16 MiB", "Rate over chunks: 256 MiB", "Best rate over size"],
    "overlap-exhaustive": [
        "The 10 fastest of 265",
        "Measured over predicted",
        "Efficiency: growth 1",
        "Rate over chunks",
    ],
    "overlap-tune-16M": ["The 10 fastest of 53"],
    "smem": ["Rate"],
    "smem-stages": ["Rate over stages", "Rate over bytes in flight"],
    "smem-balance": ["Time over intensity"],
    "smem-tune": ["The 10 fastest of 148"],
    "dynpar": ["Cost of each child", "Sort, by the device"],
    "latency": ["Latency: copy", "Latency: launch", "Latency: wait"],
    "async": ["Time over size"],
    "staging": ["Rate over size", "Time over size"],
    "alloc": ["Time over size"],
    "callback": [],
}


SOON_VALIDATED = 100_000  # bytes: what takes long of larger files is to hold them against the schema


class Stored(support.BrowserTest):
    """The results of the documentation."""

    def sections(self, path):
        """Those that its page would have, with all charts that are expected."""
        runs, _ = files.load([str(path)])
        sections = list(page.sections(sides.recognised(runs), []))
        found = [chart.title for section in sections for chart in section.charts]
        for beginning in EXPECTED.get(path.stem.removeprefix("h200-"), []):
            self.assertTrue(any(title.startswith(beginning) for title in found), (beginning, found))
        self.assertEqual(page.banner(runs, []), "")
        return sections

    def assert_shown(self, sections):
        self.open(self.write("all.html", page.document("all", "", sections)))
        drawn = [chart["title"] for chart in self.assert_all_drawn()]
        self.assertEqual(drawn, [chart.title for chart in charts_of(sections)])
        self.assertEqual(self.violations(), [])
        self.assert_legends_neither_cover_nor_scroll()

    def assert_axes_are_honest(self, charts):
        """Values begin at zero, or the axis says that they do not or that it is logarithmic, or they are shares."""
        for chart in charts:
            one = chart.figure()
            if one["data"][0]["type"] == "heatmap":
                continue
            axis = one["layout"]["xaxis" if one["layout"]["yaxis"].get("type") == "category" else "yaxis"]
            said = axis["title"]["text"]
            with self.subTest(chart=chart.title, axis=said):
                honest = axis.get("rangemode") == "tozero" or "does not begin at zero" in said
                self.assertTrue(honest or (axis.get("type") == "log" and "logarithmic" in said))

    def assert_legends_neither_cover_nor_scroll(self):
        found = self.run_js(
            """return [...document.querySelectorAll('figure .legend')].map((legend) => {
                 const chart = legend.parentElement.querySelector('.main-svg').getBoundingClientRect();
                 const box = legend.getBoundingClientRect();
                 return {covers: box.top < chart.bottom - 1, scrolls: legend.scrollHeight > legend.clientHeight + 1
                         || legend.scrollWidth > legend.clientWidth + 1, names: legend.children.length};
               });"""
        )
        self.assertGreater(len(found), 5)
        self.assertEqual([one for one in found if one["covers"] or one["scrolls"] or not one["names"]], [])


def charts_of(sections):
    return [chart for section in sections for chart in section.charts]


def settings(value, name=""):
    """All that is set in a figure, and how where it changes which code draws it."""
    if isinstance(value, dict):
        return frozenset().union(*(settings(one, f"{name}.{key}") for key, one in value.items()))
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return frozenset().union(*(settings(one, f"{name}[]") for one in value))
    return {(name, value if name.endswith((".type", ".mode", ".dash", ".shape", ".orientation")) else None)}


class StoredResults(Stored):
    def test_have_the_charts_that_are_expected_and_each_kind_can_be_drawn(self):
        sections, kinds = [], {}
        every = unittest.mock.patch.object(validation, "violations", return_value=[])
        for path in RESULTS.glob("*.json"):
            soon = path.stat().st_size < SOON_VALIDATED
            with self.subTest(file=path.name), contextlib.nullcontext() if soon else every:
                sections += self.sections(path)
        self.assert_axes_are_honest(charts_of(sections))
        for section in sections:
            for chart in section.charts:
                kinds.setdefault((section.title, settings(chart.figure())), chart)
        self.assertGreater(len(kinds), 30)
        shown = page.Section("Kinds", "scenario", kinds.values(), findings=[], nothing="", cases=None)
        self.assert_shown([shown])


class StoredResultsLong(Stored):
    def test_have_all_their_charts_drawn(self):
        """Those of many files on a page: it is the loading that takes its time."""
        pages, paths = 8, RESULTS.glob("*.json")
        for part in range(pages):
            with self.subTest(part=part):
                sections = [section for path in paths[part::pages] for section in self.sections(path)]
                self.assert_shown(sections)
                self.assert_axes_are_honest(charts_of(sections))


class Drawn(support.BrowserTest):
    def titles(self, *files):
        self.open(self.make(*files))
        return [chart["title"] for chart in self.assert_all_drawn()]

    def test_a_misspelt_setting_would_be_seen(self):
        page = self.make(self.write("x.json", results([case()])))
        whole = page.read_text(encoding="utf-8").replace('"hovertext":', '"hovertxt":')
        self.open(self.write("misspelt.html", whole), draw=False)
        self.assertTrue(self.violations())

    def test_map_has_a_number_in_each_cell(self):
        self.open(self.make(RESULTS / "h200-overlap-exhaustive.json"))
        self.assert_all_drawn()
        texts = self.run_js(
            """return [...document.querySelectorAll('figure')].filter((one) => one.textContent.includes('Efficiency'))
                 .map((one) => [...one.querySelectorAll('.annotation-text')].map((text) => text.textContent));"""
        )
        self.assertEqual([len(cells) for cells in texts], [55, 55, 55])
        self.assertTrue(all(any(text.endswith("*") for text in cells) for cells in texts))

    def test_several_gpus_are_matrices_and_bars(self):
        trace = self.write("trace.json", several_gpus.timeline(8))
        files = [self.write("p.json", several_gpus.p2p(8, odd=(3, 1))), self.write("t.json", several_gpus.together(8))]
        titles = self.titles(*files, trace)
        self.assertEqual(self.violations(), [])
        for title in ("Read from another GPU, GB/s", "Latency, ns", "Shares: together over alone: pattern both",
                      "Alone and in company: both", "Rate over GPUs: both", "overlap/size=1MiB (simulated, SIMULATED)"):
            self.assertIn(title, titles)
        shown = self.run_js(
            """return [...document.querySelectorAll('figure')].filter((one) => one.textContent.includes('Read from'))
                 .map((one) => [...one.querySelectorAll('.annotation-text')].map((text) => text.textContent))[0];"""
        )
        self.assertEqual((len(shown), [text for text in shown if text.endswith("*")]), (56, ["196*"]))

    def test_link_and_its_best_are_in_the_legend(self):
        self.open(self.make(RESULTS / "h200-memcpy-sizes.json"))
        legend = self.run_js("return [...document.querySelectorAll('.legend bdi')].map((one) => one.textContent);")
        for words in ("PCIe 5 x16: 63.02 GB/s", "less packet headers: 57.61 GB/s", "best measured: 55.54 GB/s"):
            self.assertIn(words, legend)

    def test_intervals_are_drawn(self):
        self.open(self.make(RESULTS / "h200-memcpy.json"))
        self.assertGreater(self.run_js("return document.querySelectorAll('.errorbar path').length;"), 50)

    def test_timeline_has_a_row_for_each_engine(self):
        titles = self.titles(TIMELINES / "h200-overlap.json")
        self.assertEqual(len(titles), 1)
        rows = self.run_js("return [...document.querySelectorAll('.ytick text')].map((one) => one.textContent);")
        self.assertEqual(sorted(rows), ["D2H", "H2D", "host calls", "kernel"])
        bars = self.run_js("return document.querySelectorAll('.barlayer .point path').length;")
        events = json.loads((TIMELINES / "h200-overlap.json").read_text(encoding="utf-8"))["traceEvents"]
        self.assertEqual(bars, len([one for one in events if one["ph"] == "X"]))

    def test_several_files_are_compared(self):
        other = json.loads((RESULTS / "h200-memcpy.json").read_text(encoding="utf-8"))
        other["environment"]["gpu"]["name"] = "Another GPU"
        path = self.write("h200-memcpy.json", other)
        titles = self.titles(
            RESULTS / "h200-memcpy.json", path, RESULTS / "h200-latency.json", TIMELINES / "h200-overlap.json"
        )
        self.assertTrue(any(title.startswith("New over base: memcpy, Another GPU") for title in titles), titles)
        legend = set(self.run_js("return [...document.querySelectorAll('.legend bdi')].map((one) => one.textContent);"))
        self.assertTrue(any(name.startswith("Another GPU, ") for name in legend), legend)
        self.assertTrue(any(name.startswith("NVIDIA H200, ") for name in legend), legend)
        same = compare(RESULTS / "h200-memcpy.json", path)["summary"]["same"]
        verdicts = self.run_js("return document.querySelector('#section-1 li').innerText;")
        self.assertIn(f"{same} equal", verdicts)

    def test_the_same_file_twice(self):
        self.titles(RESULTS / "h200-callback.json", RESULTS / "h200-callback.json")

    def test_no_results_at_all(self):
        self.open(self.make(self.write("empty.json", results(complete=False))))
        self.assertEqual(self.assert_all_drawn(), [])
        self.assertIn("NO: the run was interrupted", self.run_js("return document.body.innerText;"))

    def test_only_skipped_and_failed(self):
        skipped = case(status="skipped", reason="no such engine here", measurements=[])
        failed = case(params={"size": 2}, status="failed", reason="wrong byte at offset 7")
        self.open(self.make(self.write("sad.json", results([skipped, failed]))))
        self.assertEqual(self.assert_all_drawn(), [])
        shown = self.run_js("return document.body.innerText;")
        for words in ("no such engine here", "wrong byte at offset 7", "1 case failed"):
            self.assertIn(words, shown)

    def test_unknown_scenario_units_and_flags(self):
        cases = [
            case("teleport", {"distance": n}, [measurement("jump", n, "furlongs", flags=["haunted"])], warnings=["odd"])
            for n in (1, 2)
        ]
        self.assertEqual(self.titles(self.write("x.json", results(cases))), ["All cases"])
        shown = self.run_js("return document.body.innerText;")
        for words in ("furlongs", "haunted", "odd", "Scenario teleport"):
            self.assertIn(words, shown)

    def test_axes_of_unexpected_kinds(self):
        """Valid files in which the axes that charts look for are words, missing, zero, or huge."""
        odd = [0, "words", -1, 10**300, 0.5]
        cases = []
        for scenario in EXPECTED:
            for value in odd:
                axes = ("size", "dir", "streams", "chunks", "stages", "intensity", "children", "op")
                params = dict.fromkeys(axes, value)
                metrics = {"bandwidth": (0, "GB/s"), "efficiency": (0, "1")}
                metrics |= {"per_child": (1e-6, "s"), "predicted": (0, "s")}
                cases.append(case(scenario, params, [measurement(median=0.0), measurement("pipeline")], metrics))
            cases.append(case(scenario, {}, []))
            cases.append(case(scenario, {"task": "sort"}, labels={"measured_in": "search"}))
        self.titles(self.write("odd.json", results(cases)))

    CASES = 1000

    def test_many_cases_remain_usable(self):
        chance = random.Random(1)
        cases = [
            case(
                params={"dir": "h2d", "host": f"kind{n % 4}", "n": n, "size": 1024 << n % 9},
                measurements=[measurement(median=chance.uniform(1e-3, 2e-3))],
                metrics={"bandwidth": (chance.uniform(1, 50), "GB/s")},
            )
            for n in range(self.CASES)
        ]
        self.open(self.make(self.write("big.json", results(cases))))
        self.assert_all_drawn()


class DrawnLong(support.BrowserTest):
    CASES = 4000
    test_thousands_of_cases_remain_usable = Drawn.test_many_cases_remain_usable


class Simulated(support.BrowserTest):
    def marks(self):
        """The banner's text, and for each chart how many marks stand in it."""
        banner = self.run_js("return [...document.querySelectorAll('.banner')].map((one) => one.innerText).join();")
        charts = self.run_js(
            """return [...document.querySelectorAll('figure .chart')].map((chart) =>
                 [...chart.querySelectorAll('.annotation-text')]
                   .filter((one) => one.textContent.startsWith('SIMULATED')).length);"""
        )
        return banner, charts

    def test_everything_is_marked(self):
        self.open(self.make(self.write("x.json", results([case()], simulated=True))))
        self.assert_all_drawn()
        banner, charts = self.marks()
        self.assertIn("SIMULATED (profile h200)", banner)
        self.assertTrue(charts and all(charts), charts)

    def test_banner_stays_in_view(self):
        self.open(self.make(self.write("x.json", results([case(params={"n": n}) for n in range(60)], simulated=True))))
        self.run_js("window.scrollTo(0, document.documentElement.scrollHeight);")
        top = self.run_js("return document.querySelector('.banner').getBoundingClientRect().top;")
        self.assertGreater(self.run_js("return window.scrollY;"), 500)
        self.assertEqual(top, 0)

    def test_real_files_are_not(self):
        self.open(self.make(self.write("x.json", results([case()]))))
        self.assertEqual(self.marks(), ("", [0]))
        self.assertNotIn("SIMULATED", self.run_js("return document.body.innerText;"))

    def test_only_charts_with_simulated_data_in_a_mixed_page(self):
        real = self.write("real.json", results([case()]))
        other = self.write("other.json", results([case("latency", {"op": "copy"})], simulated=True))
        self.open(self.make(real, other))
        self.assert_all_drawn()
        banner, _ = self.marks()
        self.assertIn("some numbers", banner)
        marked = self.run_js(
            "return [...document.querySelectorAll('figure')].map((one) => [one.closest('section')"
            ".querySelector('h2').textContent, one.innerText.includes('SIMULATED')]);"
        )
        for section, has_mark in marked:
            self.assertEqual(has_mark, "latency" in section, marked)

    def test_what_the_program_writes(self):
        trace = self.folder / "trace.json"
        axes = ["--streams", "1,2,4", "--chunks", "4,8,16", "--size", "1M,4M"]
        simulate(self.folder / "sweep.json", *axes, "--timeline", trace)
        simulate(self.folder / "tune.json", "tune", "--size", "1M", "--budget", "1")
        simulate(self.folder / "copies.json", "memcpy", "--size", "64K,1M,16M")
        self.open(self.make(*(self.folder / name for name in ("sweep.json", "tune.json", "copies.json", "trace.json"))))
        titles = [chart["title"] for chart in self.assert_all_drawn()]
        for beginning in ("Efficiency: 1 MiB", "Efficiency: 4 MiB", "Host to GPU", "The ", "overlap/size="):
            self.assertTrue(any(title.startswith(beginning) for title in titles), (beginning, titles))
        self.assertTrue(all(self.marks()[1]))


class Hostile(support.BrowserTest):
    def hostile_file(self):
        """A valid file in which every string that may hold anything holds something nasty."""
        cases, word = [], iter(HOSTILE * 60)
        for scenario in ("memcpy", "overlap", "smem", "dynpar", "latency", next(word).replace("/", "|")):
            for n in range(6):
                nasty = next(word).replace("/", "|").replace("=", "~")
                params = dict.fromkeys(("dir", "method", "strategy", "op", "launch"), nasty)
                params |= {"size": 1024 << n, "streams": 1 + n % 2, "chunks": 1 + n // 2}
                params |= {"stages": n + 1, "children": n + 1}
                metrics = {"bandwidth": (10 + n, "GB/s"), "efficiency": (n / 10, "1"), "per_child": (1e-6, "s")}
                measured = [measurement(next(word) + "1"), measurement(next(word) + "2", unit=next(word))]
                cases.append(
                    case(scenario, params, measured, metrics, warnings=[next(word)], labels={"measured_in": next(word)})
                )
        cases += [case(params={"dir": n}, status="failed", reason=reason) for n, reason in enumerate(HOSTILE)]
        cases += [case(next(word).replace("/", "|"), {"x": 1}, [measurement(unit=next(word))]) for _ in HOSTILE]
        findings = [
            {"scenario": "memcpy", "kind": "fit", "labels": {}, "metrics": {}, "text": text} for text in HOSTILE
        ]
        value = results(cases, gpu=HOSTILE[0], findings=findings, command=list(HOSTILE))
        value["environment"]["host"] = {"cpu": HOSTILE[1], "kernel": HOSTILE[2], "numa_note": HOSTILE[3]}
        value["environment"]["variables"] = dict.fromkeys(HOSTILE, HOSTILE[4])
        value["environment"]["driver"], value["tool"]["version"] = HOSTILE[5], HOSTILE[6]
        return value

    def hostile_timeline(self):
        events = [
            {"name": kind, "ph": "M", "pid": 1, "tid": 1, "args": {"name": HOSTILE[1]}}
            for kind in ("process_name", "thread_name")
        ]
        events += [
            {"name": text, "cat": text, "ph": "X", "pid": 1, "tid": 1, "ts": n, "dur": 1, "args": {text: 1, "bytes": 2}}
            for n, text in enumerate(HOSTILE)
        ]
        return {"traceEvents": events, "otherData": {"gpu": HOSTILE[2], "SIMULATED": HOSTILE[0]}}

    def test_names_are_shown_and_never_run(self):
        value = self.hostile_file()
        simulated = json.loads(json.dumps(value))
        simulated["environment"] |= {"backend": "simulated", "profile": HOSTILE[1]}
        name = "<img src=x onerror=window.pwned=7>.json"
        contents = {name: value, "b.json": simulated, "t.json": self.hostile_timeline()}
        files = [self.write(name, content) for name, content in contents.items()]
        validate = [str(support.SCRIPTS / "validate-results"), *files[:2]]
        outcome = subprocess.run(validate, check=False, capture_output=True)
        self.assertEqual((outcome.returncode, outcome.stdout), (0, b""), "the file itself must be valid")
        self.open(self.make(*files, title=HOSTILE[0]))
        self.assertGreater(len(self.assert_all_drawn()), 10)
        self.hover_everywhere()
        self.assertIsNone(self.run_js("return window.pwned === undefined ? null : String(window.pwned);"))
        self.assert_only_own_elements()
        shown = self.run_js("return document.body.textContent;")
        for text in HOSTILE[:7]:
            self.assertIn(text, shown)
        self.assertEqual(self.run_js("return document.title;"), HOSTILE[0])

    def hover_everywhere(self):
        """Plotly makes hover texts when they are shown, so one of each trace is."""
        self.run_js(
            """for (const chart of document.querySelectorAll('figure .chart')) {
                 chart.data.forEach((trace, number) => {
                   const at = trace.type === 'heatmap' ? [0, 0] : 0;
                   try { Plotly.Fx.hover(chart, [{curveNumber: number, pointNumber: at}]); } catch (error) { }
                 });
               }"""
        )
        self.assertGreater(self.run_js("return document.querySelectorAll('.hoverlayer .hovertext').length;"), 5)

    def assert_only_own_elements(self):
        """No element, attribute or link came out of a name."""
        found = self.run_js(
            """return {scripts: document.querySelectorAll('script').length,
                       images: document.querySelectorAll('img, iframe, object, embed').length,
                       links: [...document.querySelectorAll('a')].map((one) => one.getAttribute('href')
                               || one.getAttribute('xlink:href') || '#').filter((href) => !href.startsWith('#')),
                       handlers: [...document.querySelectorAll('main *, nav *')].filter((one) =>
                         [...one.attributes].some((attribute) => attribute.name.startsWith('on'))).length,
                       bold: document.querySelectorAll('svg [style*="bold"]').length};"""
        )
        self.assertEqual(found, {"scripts": 4, "images": 0, "links": [], "handlers": 0, "bold": 0})

    def test_what_is_planted_in_a_page_would_be_stopped_and_seen(self):
        """The second line of defence, and the proof that these tests would notice."""
        page = self.make(self.write("x.json", results([case()])))
        text = page.read_text(encoding="utf-8")
        for planted in ("<script>window.pwned=1</script>", '<img src="https://example.com/x.png">'):
            page.write_text(text.replace("<main>", "<main>" + planted), encoding="utf-8")
            self.open(page)
            self.assertIsNone(self.run_js("return window.pwned || null;"))
            with self.assertRaises(AssertionError):
                self.assert_quiet()

    def test_a_chart_that_cannot_be_drawn_would_be_seen(self):
        self.open(self.make(self.write("x.json", results([case()]))), draw=False)
        self.run_js(
            "document.querySelector('.chart').dataset.state = '';"
            "Plotly.newPlot = () => { throw new Error('planted'); };"
        )
        self.browser.execute_async_script("drawAllCharts().then(arguments[arguments.length - 1]);")
        self.assertEqual([chart["state"] for chart in self.charts()], ["failed"])
        self.assertIn("could not be drawn: planted", self.charts()[0]["text"])
        with self.assertRaises(AssertionError):
            self.assert_quiet()


class Reading(support.BrowserTest):
    NARROW = [["h200-ci.json", "h200-ci-repeat-1.json"]]

    def test_contents_lead_to_every_section_and_chart(self):
        self.open(self.make(RESULTS / "h200-latency.json"), draw=False)
        dead = self.run_js(
            "return [...document.querySelectorAll('nav a')].filter((one) => "
            "!document.querySelector(one.getAttribute('href'))).length;"
        )
        self.assertEqual(dead, 0)
        self.assertGreater(self.run_js("return document.querySelectorAll('nav a').length;"), 6)

    def test_dark_and_light_differ_and_follow_the_reader(self):
        self.open(self.make(RESULTS / "h200-callback.json"))
        seen = []
        for scheme in ("light", "dark"):
            self.browser.execute_cdp_cmd(
                "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
            )
            self.browser.execute_async_script("setTimeout(arguments[0], 300);")
            seen.append(
                self.run_js(
                    "return [getComputedStyle(document.body).backgroundColor, "
                    "getComputedStyle(document.querySelector('.xtick text')).fill];"
                )
            )
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        self.assertNotEqual(seen[0][0], seen[1][0])
        self.assertNotEqual(seen[0][1], seen[1][1])

    def test_print_has_every_chart(self):
        self.open(self.make(RESULTS / "h200-latency.json"), draw=False)
        printed = self.browser.execute_cdp_cmd("Page.printToPDF", {})
        self.assertGreater(len(printed["data"]), 50000)
        self.assertEqual({chart["state"] for chart in self.charts()}, {"drawn"})

    def test_narrow_windows_do_not_scroll_sideways(self):
        """Whatever is on the page; names of cases keep clear of the points beside them."""
        self.emulate(420, 800)
        for files in self.NARROW:
            with self.subTest(files=files):
                self.open(self.make(*(RESULTS / name for name in files)))
                self.assert_all_drawn()
                self.assertLessEqual(self.run_js("return document.documentElement.scrollWidth;"), 420)
                widths = self.run_js(
                    """return [...document.querySelectorAll('.chart .bglayer .bg, .chart .cartesianlayer .plot')]
                         .map((one) => one.getBoundingClientRect()).filter((box) => box.width)
                         .map((box) => box.width);"""
                )
                self.assertGreater(len(widths), 2)
                self.assertGreater(min(widths), 60)

    def test_numbers_of_eight_gpus_keep_apart_in_narrow_windows(self):
        self.emulate(420, 800)
        files = [self.write("p.json", several_gpus.p2p(8, odd=(3, 1))), self.write("t.json", several_gpus.together(8))]
        self.open(self.make(*files))
        self.assert_all_drawn()
        self.assertLessEqual(self.run_js("return document.documentElement.scrollWidth;"), 420)
        overlapping = self.run_js(
            """let all = 0, found = [];
               for (const chart of document.querySelectorAll('.chart')) {
                 const boxes = [...chart.querySelectorAll('.annotation-text')].map((one) => one.getBoundingClientRect());
                 all += boxes.length;
                 boxes.forEach((one, n) => boxes.slice(n + 1).forEach((other) => {
                   if (one.left < other.right && other.left < one.right && one.top < other.bottom
                       && other.top < one.bottom) found.push([chart.id, one.left, other.left]);
                 }));
               }
               return [all, found];"""
        )
        self.assertEqual((overlapping[0] >= 280, overlapping[1]), (True, []))


class ReadingLong(support.BrowserTest):
    NARROW = [["h200-ci.json"], ["h200-quick.json", "h200-ci.json"], ["h200-overlap-exhaustive.json"]]
    test_narrow_windows_do_not_scroll_sideways = Reading.test_narrow_windows_do_not_scroll_sideways


class Answer(support.BrowserTest):
    """What the first screen says."""

    def shown_at_first(self):
        """The text of what can be seen without scrolling."""
        return self.run_js(
            """const seen = [];
               for (const one of document.querySelectorAll('main p, main li, main td, main th, main summary, h1')) {
                 const box = one.getBoundingClientRect();
                 if (box.top < innerHeight && box.bottom > 0 && box.height) seen.push(one.innerText);
               }
               return seen.join('\\n');"""
        )

    def test_of_a_run(self):
        self.emulate(1280, 900)
        self.open(self.make(RESULTS / "h200-ci.json"), draw=False)
        shown = self.shown_at_first()
        for words in ("xferbench --suite ci", "29 cases measured", "drift", "Host to GPU", "55.42 GB/s",
                      "55.4 GB/s to 55.44", "96.2 % of 57.61 GB/s, the link", "Least cost of a child",
                      "Machine, build and command"):
            self.assertIn(words, shown)
        for words in ("UUID", "multiprocessors"):
            self.assertNotIn(words, shown)

    def test_of_a_comparison(self):
        """The verdict, the worst cases by name, and what differs, before any chart."""
        slower = json.loads((RESULTS / "h200-ci.json").read_text(encoding="utf-8"))
        slower["environment"]["driver"] = "999.9"
        for one in slower["results"][0]["measurements"]:
            scale = [1.5 * sampled for sampled in one["samples"]]
            one |= {name: 1.5 * one[name] for name in ("min", "median", "max", "p90")}
            one |= {"samples": scale, "ci95": [1.5 * end for end in one["ci95"]]}
        self.emulate(1280, 900)
        self.open(self.make(RESULTS / "h200-ci.json", self.write("slow.json", slower)), draw=False)
        shown = self.shown_at_first()
        for words in ("slow.json against h200-ci.json: 1 slower", "+50.00 % memcpy/", "equal (within"):
            self.assertIn(words, shown)
        differs = self.run_js("return document.querySelector('.answer').innerText;")
        self.assertIn("999.9", differs)
        self.assertNotIn("multiprocessors", differs.split("Machine, build")[0])

    def test_of_a_failure(self):
        bad = case(params={"size": 2}, status="failed", reason="wrong byte at offset 7", measurements=[])
        self.open(self.make(self.write("bad.json", results([case(), bad], complete=False))), draw=False)
        shown = self.shown_at_first()
        for words in ("1 case failed.", "wrong byte at offset 7", "was interrupted"):
            self.assertIn(words, shown)

    def test_findings_come_before_charts(self):
        self.open(self.make(RESULTS / "h200-ci.json"), draw=False)
        after = self.run_js(
            """return [...document.querySelectorAll('section')].filter((one) => one.querySelector('.findings'))
                 .map((one) => Boolean(one.querySelector('.findings').compareDocumentPosition(
                   one.querySelector('figure')) & Node.DOCUMENT_POSITION_FOLLOWING));"""
        )
        self.assertGreater(len(after), 2)
        self.assertTrue(all(after))


class Tables(support.BrowserTest):
    """Of cases: sorted, filtered, and opened by keyboard."""

    def column(self, number):
        return self.run_js(
            "return [...document.querySelector('table.sortable').tBodies[0].rows].filter((row) => !row.hidden)"
            ".map((row) => row.cells[arguments[0]].dataset.sort || row.cells[arguments[0]].innerText);",
            number,
        )

    def head(self, word):
        """The place of a column; its button has the focus."""
        return self.run_js(
            """const heads = [...document.querySelectorAll('table.sortable')[0].querySelectorAll('th')];
               const found = heads.findIndex((one) => one.innerText.startsWith(arguments[0]));
               heads[found].querySelector('button').focus();
               return found;""",
            word,
        )

    def test_are_sorted_by_any_column_by_keyboard(self):
        self.open(self.make(RESULTS / "h200-ci.json"), draw=False)
        column = self.head("rate")
        for word, backwards in (("ascending", False), ("descending", True)):
            self.press("\n")
            rates = [float(value.removesuffix(" GB/s")) for value in self.column(column)]
            self.assertEqual(rates, sorted(rates, reverse=backwards))
            marked = self.run_js("return [...document.querySelectorAll('table.sortable')[0].querySelectorAll('th')]"
                                 ".map((one) => one.getAttribute('aria-sort'));")
            self.assertEqual(marked[column], word)
            self.assertEqual({one for place, one in enumerate(marked) if place != column}, {"none"})

    def test_are_filtered_by_words_of_names_and_keys(self):
        self.open(self.make(RESULTS / "h200-ci.json"), draw=False)
        self.run_js("document.querySelector('.filter input').focus();")
        self.press("h2d ", "api=async")
        self.assertEqual(len(self.column(0)), 3)
        told = self.run_js("return document.querySelector('.filter [role=status]').innerText;")
        self.assertEqual(told, "3 of 11 cases")

    def test_every_case_has_a_row(self):
        self.open(self.make(RESULTS / "h200-memcpy.json"), draw=False)
        rows = self.run_js("return document.querySelectorAll('table.sortable tbody tr').length;")
        known = json.loads((RESULTS / "h200-memcpy.json").read_text(encoding="utf-8"))["results"]
        self.assertEqual(rows, sum(one["status"] == "ok" for one in known))


class Spread(support.BrowserTest):
    """The samples of a case."""

    def show(self, number=0):
        self.run_js("document.querySelectorAll('button.case')[arguments[0]].focus();", number)
        self.press("\n")
        self.browser.execute_async_script(
            """const done = arguments[0], at = () => document.querySelector('#samples-chart[data-state=drawn]')
                 ? done() : setTimeout(at, 20); at();"""
        )

    def drawn(self):
        return self.run_js(
            "return document.getElementById('samples-chart').data.map((one) => ({type: one.type, x: one.x, y: one.y}));"
        )

    def test_are_shown_in_run_order_and_as_a_density(self):
        path = RESULTS / "h200-ci.json"
        first = json.loads(path.read_text(encoding="utf-8"))["results"][0]
        self.open(self.make(path), draw=False)
        self.show()
        self.assertEqual(self.run_js("return document.getElementById('samples-title').innerText;"), first["key"])
        dots, density = self.drawn()
        meant = first["measurements"][0]["samples"]
        self.assertEqual((dots["type"], density["type"]), ("scatter", "violin"))
        self.assertEqual(dots["x"], list(range(1, len(meant) + 1)))
        for seen, sample in zip(dots["y"], meant):
            self.assertAlmostEqual(seen / 1e6, sample, delta=1e-4 * sample)
        names = self.run_js("return [...document.querySelectorAll('#samples-which option')].map((one) => one.text);")
        self.assertEqual(len(names), len(first["measurements"]))
        self.press("\ue00c")  # Escape
        after = self.run_js("return [document.querySelector('dialog').open, document.activeElement.className];")
        self.assertEqual(after, [False, "case"])
        self.assert_quiet()

    def test_of_several_files_stand_beside_each_other(self):
        self.open(self.make(RESULTS / "h200-ci.json", RESULTS / "h200-ci-health.json"), draw=False)
        self.show()
        self.assertEqual([one["type"] for one in self.drawn()], ["scatter", "violin"] * 2)
        legend = self.run_js("return [...document.querySelectorAll('dialog .legend bdi')].map((one) => one.innerText);")
        self.assertEqual([name.split(", ")[1] for name in legend], ["h200-ci.json", "h200-ci-health.json"])

    def test_simulated_ones_are_marked(self):
        self.open(self.make(self.write("x.json", results([case()], simulated=True, verified=False))), draw=False)
        self.show()
        said, *drawn = self.run_js(
            "return [document.getElementById('samples-mark').innerText, "
            "...[...document.querySelectorAll('#samples-chart .annotation-text')].map((one) => one.textContent)];"
        )
        self.assertEqual((said, drawn), (", ".join(drawn), ["SIMULATED (profile h200)", "NOT VERIFIED"]))

    def test_names_do_no_harm_here_either(self):
        nasty = HOSTILE[2].replace("/", "|").replace("=", "~")
        measured = [measurement(HOSTILE[0]), measurement(HOSTILE[3], unit=HOSTILE[4])]
        path = self.write("x.json", results([case(params={"dir": nasty}, measurements=measured)], gpu=HOSTILE[1]))
        self.open(self.make(path), draw=False)
        self.show()
        self.assertIsNone(self.run_js("return window.pwned === undefined ? null : String(window.pwned);"))
        elements = "dialog img, dialog script, dialog a:not(.modebar-btn)"
        added = self.run_js("return document.querySelectorAll(arguments[0]).length;", elements)
        self.assertEqual(added, 0)


class Axe(support.BrowserTest):
    """Pages, and what axe-core finds of them."""

    def assert_nothing_serious(self, kind, page, dark):
        width, height = (420, 800) if dark else (1280, 900)
        with self.subTest(page=kind, width=width, dark=dark):
            self.emulate(width, height, dark)
            self.open(page)
            self.assert_all_drawn()
            self.assertEqual((self.violations(), self.serious()), ([], []))

    def assert_nothing_serious_of_samples(self):
        self.run_js("document.querySelector('button.case').click();")
        self.browser.execute_async_script("setTimeout(arguments[0], 500);")
        self.assertEqual(self.serious(), [])

    def simulated(self):
        """A file with cases of each status."""
        skipped = case(params={"n": 1}, status="skipped", reason="why", measurements=[])
        bad = case(params={"n": 2}, status="failed", reason="wrong", measurements=[])
        return self.write("s.json", results([case(warnings=["odd"]), skipped, bad], simulated=True))

    def trend(self):
        nights = [results([case(), case("odd")], started_at=f"2026-03-{day:02}T03:00:00Z") for day in range(1, 9)]
        files = [self.write(f"{day}.json", night) for day, night in enumerate(nights)]
        self.assertEqual(self.report("--trend", *files, "-o", "trend.html").returncode, 0)
        return self.folder / "trend.html"

    def explanation(self):
        return self.make(EXPLANATIONS / "torch.json", name="explained.html")


class EveryoneLong(Axe):
    def pages(self):
        yield "run", self.make(RESULTS / "h200-ci.json")
        yield "comparison", self.make(RESULTS / "h200-ci.json", RESULTS / "h200-ci-health.json", name="two.html")
        yield "maps", self.make(RESULTS / "h200-overlap-exhaustive.json", name="maps.html")
        several = [self.write("p.json", several_gpus.p2p(8)), self.write("g.json", several_gpus.together(8))]
        yield "several GPUs", self.make(*several, name="gpus.html")
        yield "simulated", self.make(self.simulated(), name="s.html")
        yield "timeline", self.make(TIMELINES / "h200-overlap.json", name="t.html")
        yield "trend", self.trend()
        yield "explanation", self.explanation()

    def test_no_serious_finding_of_axe(self):
        for kind, page in self.pages():
            for dark in (False, True):
                self.assert_nothing_serious(kind, page, dark)

    def test_no_serious_finding_where_samples_are_shown(self):
        for dark in (False, True):
            self.emulate(1280, 900, dark)
            self.open(self.make(RESULTS / "h200-ci.json"))
            self.assert_nothing_serious_of_samples()


class Everyone(Axe):
    """Pages can be used by keyboard and by those who cannot see them, at any width, light or dark."""

    def test_no_serious_finding_of_axe(self):
        """On small pages: one of files of all kinds, and one of each other kind."""
        files = {"p.json": several_gpus.p2p(2), "t.json": several_gpus.timeline(2)}
        small = self.make(self.simulated(), *(self.write(name, value) for name, value in files.items()))
        self.assert_nothing_serious("results", small, dark=True)
        self.emulate(1280, 900)
        self.open(small)
        self.assert_nothing_serious_of_samples()
        self.assert_nothing_serious("trend", self.trend(), dark=False)
        self.assert_nothing_serious("explanation", self.explanation(), dark=True)

    def test_a_planted_one_would_be_found(self):
        self.open(self.make(self.write("x.json", results([case()]))), draw=False)
        self.run_js("const one = document.createElement('button'); document.querySelector('main').append(one);")
        self.assertEqual([one["id"] for one in self.serious()], ["button-name"])

    def test_every_chart_has_a_name_that_says_what_it_shows(self):
        self.open(self.make(RESULTS / "h200-ci.json"), draw=False)
        names = self.run_js("return [...document.querySelectorAll('figure .chart')].map((one) => one.ariaLabel);")
        self.assertEqual(len(names), len(set(names)))
        self.assertIn("Host to GPU. GB/s over size. 3 points; beside it PCIe 5 x16: 63.02 GB/s, less packet "
                      "headers: 57.61 GB/s, best measured: 55.42 GB/s", names)

    def test_points_are_read_by_keyboard(self):
        self.open(self.make(RESULTS / "h200-ci.json"), draw=False)
        self.run_js("document.querySelector('figure .chart').focus();")
        self.press("\ue014")  # right
        self.browser.execute_async_script("setTimeout(arguments[0], 300);")
        said = []
        for _ in range(2):
            self.press("\ue014")
            said.append(self.run_js("return document.getElementById('spoken').textContent;"))
        self.assertIn("memcpy/dir=h2d", said[0])
        self.assertIn("median", said[0])
        self.assertNotEqual(*said)
        self.assertEqual(self.run_js("return document.querySelectorAll('.hoverlayer .hovertext').length;"), 1)

    def test_cells_are_read_by_keyboard(self):
        self.open(self.make(self.write("p.json", several_gpus.p2p(3))), draw=False)
        self.run_js("document.querySelector('figure .chart').focus();")
        self.press("\ue014")  # right
        self.browser.execute_async_script("setTimeout(arguments[0], 300);")
        said = []
        for key in ("\ue012", "\ue013", "\ue013", "\ue014"):  # left, up, up, right
            self.press(key)
            said.append(self.run_js("return document.getElementById('spoken').textContent;").split(",")[0])
        self.assertIn("from=2/to=0", said[0])
        self.assertIn("from=1/to=0", said[1])
        self.assertIn("nothing was measured here", said[2])
        self.assertIn("from=0/to=1", said[3])

    def test_legends_switch_traces_by_keyboard(self):
        self.open(self.make(RESULTS / "h200-memcpy-sizes.json"))
        self.run_js("document.querySelector('.legend button').focus();")
        self.press("\n")
        state = self.run_js("return [document.querySelector('.legend button').getAttribute('aria-pressed'), "
                            "document.querySelector('figure .chart').data[0].visible];")
        self.assertEqual(state, ["false", False])


class Explained(support.BrowserTest):
    """Pages of what a program's transfers cost it. The files are those that the program's own tests hold."""

    def record(self, name):
        return json.loads((EXPLANATIONS / f"{name}.json").read_text(encoding="utf-8"))

    def shown(self, record, **options):
        self.open(self.make(self.write("explain.json", record), **options))
        charts = self.assert_all_drawn()
        self.assertEqual(self.violations(), [])
        return [chart["title"] for chart in charts], self.run_js("return document.body.innerText;")

    def test_the_answer_stands_first_and_everything_is_there(self):
        record = self.record("torch")
        titles, words = self.shown(record)
        self.assertEqual(titles, ["Where the time went", "What ran when", "Copies: rate over size"])
        first = self.run_js("return document.querySelector('.verdict').innerText;")
        self.assertEqual(first.strip(), record["processes"][0]["answer"])
        for one in record["processes"][0]["findings"]:
            self.assertIn(one["what"], words)
            self.assertIn(one["mend"], words)
        for said in ("53 ms to 31.2 ms, about 1.7 times as fast", "the first 3: 53 ms to 19.1 ms, at most 2.8 times",
                     "unwatched: 53 ms; watched: 54.5 ms, 1.028 times as long", "limits of NVIDIA H200",
                     "2 findings that gain less are left out", "copies alone: 43.3 %",
                     "this machine: to the GPU, pinned"):
            self.assertIn(said, words)
        self.assertNotIn("SIMULATED", words)

    def test_the_bar_of_shares_is_as_long_as_the_time(self):
        self.shown(self.record("torch"))
        lengths = self.run_js(
            """return [...document.querySelectorAll('.barlayer')][0].querySelectorAll('.point path').length
                 && document.querySelector('figure .chart').data.map((one) => one.x[0]);"""
        )
        self.assertAlmostEqual(sum(lengths), 54.5, places=3)

    def test_spans_have_rows_and_do_not_cover_each_other(self):
        record = self.record("torch")
        spans = record["processes"][0]["timeline"]["spans"]
        spans += [dict(spans[3], begin=spans[3]["begin"] + 1e-5), dict(spans[0], name="inner", end=1e-4)]
        self.shown(record)
        rows = self.run_js("return document.querySelectorAll('figure')[1].querySelectorAll('.ytick text').length;")
        self.assertEqual(rows, 5 + 2, "a second kernel beside the first, and a range in a range")
        bars = self.run_js("return document.querySelectorAll('figure')[1].querySelectorAll('.barlayer .point').length;")
        self.assertEqual(bars, len(spans))
        self.assertIn("The first 2.5 ms in which anything was recorded", self.run_js("return document.body.innerText;"))

    def test_kinds_that_were_asked_for_are_told_with_their_time(self):
        record = self.record("torch")
        record["processes"][0] |= {"seconds_mended": 0.0265, "mended": ["pageable", "setup"], "mended_missing": ["setup"]}
        _, words = self.shown(record)
        self.assertIn("With pageable mended: 53 ms to 26.5 ms, about 2.0 times as fast.", words)

    def test_a_finding_may_gain_only_once_those_above_it_are_mended(self):
        record = self.record("torch")
        record["processes"][0]["findings"][1]["seconds_after"] = 0.053
        _, words = self.shown(record)
        said = "53 ms to 53 ms alone, but 31.2 ms to 23 ms once those above are mended: about 1.4 times as fast"
        self.assertIn(said, words)

    def test_nothing_found_and_no_gpu(self):
        titles, words = self.shown(self.record("nothing_found"))
        self.assertIn("nothing was found that gains more than 1 %", words)
        self.assertIn("it did not run unwatched", words)
        titles, words = self.shown(self.record("no_gpu"))
        self.assertEqual(titles, [])
        self.assertIn("The program used no GPU.", words)
        _, words = self.shown(self.record("no_gpu") | {"blind": "CUPTI is in use"})
        self.assertIn("Nothing of the program was recorded. CUPTI is in use.", words)
        self.assertNotIn("used no GPU", words)

    def test_withheld_gains_several_processes_and_simulated_ones(self):
        record = self.record("torch")
        other = self.record("nothing_found")["processes"][0]
        record["processes"][0] |= {"withheld": "the replay is off by 26 %", "findings": [], "together": []}
        record["processes"].append(other | {"ending": "It was killed", "gpus": []})
        titles, words = self.shown(record | {"simulated": True, "profile": "h200"})
        self.assertEqual(len([one for one in titles if one == "Where the time went"]), 2)
        for said in ("Gains are not told: the replay is off by 26 %", f"Process {other['pid']}", "It was killed",
                     "SIMULATED (profile h200): all numbers on this page are modelled, not measured"):
            self.assertIn(said, words)

    def test_names_are_shown_and_never_run(self):
        record = self.record("torch")
        for number, nasty in enumerate(HOSTILE):
            process = json.loads(json.dumps(record["processes"][0]))
            process |= {"pid": number, "command": nasty, "gpus": [nasty], "notes": [nasty], "ending": nasty}
            process["stretch"]["range"] = process["answer"] = nasty
            place = dict.fromkeys(("call", "range", "kernel_before", "kernel_after"), nasty) | {"stack": [nasty]}
            process["findings"][0] |= {"what": nasty, "mend": nasty, "assumption": nasty, "place": place}
            for span in process["timeline"]["spans"]:
                span["name"] = nasty
            record["processes"].append(process)
        record |= {"command": list(HOSTILE), "limits_of": HOSTILE[0], "warnings": list(HOSTILE)}
        self.shown(record | {"simulated": True, "profile": HOSTILE[1]}, title=HOSTILE[0])
        self.assertIsNone(self.run_js("return window.pwned === undefined ? null : String(window.pwned);"))
        planted = self.run_js("return document.querySelectorAll('main img, main a[href^=javascript]').length;")
        self.assertEqual(planted, 0)


class Speed(support.BrowserTest):
    """Bytes, and when the first chart is there; the limit of time is wide, as machines that test are slow and busy."""

    MOST_BYTES = 2_000_000
    LARGEST = -10  # how many files count: the largest ones

    def test_pages_of_usual_files_have_at_most_two_megabytes(self):
        for path in sorted(RESULTS.glob("*.json"), key=lambda path: path.stat().st_size)[self.LARGEST :]:
            with self.subTest(file=path.name):
                self.assertLessEqual(self.make(path).stat().st_size, self.MOST_BYTES)

    def test_only_charts_in_view_are_drawn_and_soon(self):
        page = self.make(RESULTS / "h200-ci.json")
        script = """new MutationObserver(() => {
                      if (!window.first && document.querySelector('.chart[data-state=drawn]'))
                        window.first = performance.now();
                    }).observe(document, {subtree: true, attributes: true, childList: true});"""
        added = self.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script})
        self.addCleanup(self.browser.execute_cdp_cmd, "Page.removeScriptToEvaluateOnNewDocument", added)
        self.open(page, draw=False)
        first = self.browser.execute_async_script(
            "const done = arguments[0], at = () => window.first ? done(window.first) : setTimeout(at, 20); at();"
        )
        painted = self.run_js("return performance.getEntriesByName('first-contentful-paint')[0].startTime;")
        print(f"{page.stat().st_size} bytes, painted after {painted:.0f} ms, first chart after {first:.0f} ms")
        self.assertLess(first, 5000)
        states = [chart["state"] for chart in self.charts()]
        self.assertEqual(states[0], "drawn")
        self.assertLess(states.count("drawn"), len(states) / 2)


class SpeedLong(support.BrowserTest):
    MOST_BYTES, LARGEST = Speed.MOST_BYTES, 0  # all
    test_pages_of_all_files_have_at_most_two_megabytes = Speed.test_pages_of_usual_files_have_at_most_two_megabytes


if __name__ == "__main__":
    if not (support.BROWSER and support.DRIVER):
        print("skipped: no chromium or chromedriver on PATH (on Debian: apt install chromium chromium-driver)")
        sys.exit(SKIPPED)
    support.require_program()
    support.main()

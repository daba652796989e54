"""Pages in a real browser without a network: every chart is drawn, nothing is fetched, and no name does any harm."""

import json
import random
import subprocess
import sys
import unittest

import support
from support import RESULTS, TIMELINES, case, compare, measurement, results, simulate
from xferbench_report import files, page, sides

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


class Drawn(support.BrowserTest):
    def titles(self, *files):
        self.open(self.make(*files))
        return [chart["title"] for chart in self.assert_all_drawn()]

    def test_every_result_of_the_documentation(self):
        """The sections that a page of each would have, all on one page: it is the loading that takes its time."""
        shown, titles = [], []
        for path in sorted(RESULTS.glob("*.json")):
            with self.subTest(file=path.name):
                runs, _ = files.load([str(path)])
                sections = list(page.sections(sides.recognised(runs), []))
                found = [chart.title for section in sections for chart in section.charts]
                for beginning in EXPECTED.get(path.stem.removeprefix("h200-"), []):
                    self.assertTrue(any(title.startswith(beginning) for title in found), (beginning, found))
                self.assertEqual(page.banner(runs, []), "")
                shown += sections
                titles += found
        self.open(self.write("all.html", page.document("all", "", shown)))
        self.assertEqual([chart["title"] for chart in self.assert_all_drawn()], titles)
        self.assertEqual(self.violations(), [])
        self.assert_axes_are_honest()
        self.assert_legends_neither_cover_nor_scroll()

    def violations(self):
        """What of the figures is not in Plotly's schema; Plotly ignores what it does not know."""
        return self.run_js(
            """const figures = JSON.parse(document.getElementById('figures').textContent);
               return Object.entries(figures).flatMap(([name, one]) =>
                 (Plotly.validate(one.data, one.layout) || []).filter((found) => found.code !== 'unused')
                   .map((found) => name + ': ' + found.msg));"""
        )

    def test_a_misspelt_setting_would_be_seen(self):
        page = self.make(self.write("x.json", results([case()])))
        whole = page.read_text(encoding="utf-8").replace('"hovertext":', '"hovertxt":')
        self.open(self.write("misspelt.html", whole), draw=False)
        self.assertTrue(self.violations())

    def assert_axes_are_honest(self):
        """Values begin at zero, or the axis says that they do not or that it is logarithmic, or they are shares."""
        figures = self.run_js("return JSON.parse(document.getElementById('figures').textContent);")
        self.assertGreater(len(figures), 50)
        for name, one in figures.items():
            if one["data"][0]["type"] == "heatmap":
                continue
            axis = one["layout"]["xaxis" if one["layout"]["yaxis"].get("type") == "category" else "yaxis"]
            said = axis["title"]["text"]
            with self.subTest(chart=name, axis=said):
                honest = axis.get("rangemode") == "tozero" or "does not begin at zero" in said
                self.assertTrue(honest or (axis["type"] == "log" and "logarithmic" in said))

    def assert_legends_neither_cover_nor_scroll(self):
        found = self.run_js(
            """return [...document.querySelectorAll('figure .legend')].map((legend) => {
                 const chart = legend.parentElement.querySelector('.main-svg').getBoundingClientRect();
                 const box = legend.getBoundingClientRect();
                 return {covers: box.top < chart.bottom - 1, scrolls: legend.scrollHeight > legend.clientHeight + 1
                         || legend.scrollWidth > legend.clientWidth + 1, names: legend.children.length};
               });"""
        )
        self.assertGreater(len(found), 20)
        self.assertEqual([one for one in found if one["covers"] or one["scrolls"] or not one["names"]], [])

    def test_map_has_a_number_in_each_cell(self):
        self.open(self.make(RESULTS / "h200-overlap-exhaustive.json"))
        self.assert_all_drawn()
        texts = self.run_js(
            """return [...document.querySelectorAll('figure')].filter((one) => one.textContent.includes('Efficiency'))
                 .map((one) => [...one.querySelectorAll('.annotation-text')].map((text) => text.textContent));"""
        )
        self.assertEqual([len(cells) for cells in texts], [55, 55, 55])
        self.assertTrue(all(any(text.endswith("*") for text in cells) for cells in texts))

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

    def test_thousands_of_cases_remain_usable(self):
        chance = random.Random(1)
        cases = [
            case(
                params={"dir": "h2d", "host": f"kind{n % 4}", "n": n, "size": 1024 << n % 9},
                measurements=[measurement(median=chance.uniform(1e-3, 2e-3))],
                metrics={"bandwidth": (chance.uniform(1, 50), "GB/s")},
            )
            for n in range(4000)
        ]
        self.open(self.make(self.write("big.json", results(cases))))
        self.assert_all_drawn()


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
    def test_contents_lead_to_every_section_and_chart(self):
        self.open(self.make(RESULTS / "h200-latency.json"))
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
        self.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride", {"width": 420, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        )
        self.open(self.make(RESULTS / "h200-callback.json"))
        wide = self.run_js("return document.documentElement.scrollWidth;")
        self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.assertLessEqual(wide, 420)


if __name__ == "__main__":
    if not (support.BROWSER and support.DRIVER):
        print("skipped: no chromium or chromedriver on PATH (on Debian: apt install chromium chromium-driver)")
        sys.exit(SKIPPED)
    support.require_program()
    unittest.main()

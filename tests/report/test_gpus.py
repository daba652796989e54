"""What pages show of runs on several GPUs, before any browser draws it."""

import pathlib
import subprocess
import unittest

import several_gpus
import support
from support import results
from xferbench_report import files, page, records, samples, sides, tables
from xferbench_report.charts import catalogue, gpus, matrix, timeline


def run_of(value):
    run = records.Run("x.json", value)
    records.name_apart([run])
    return run


def of_scenario(value, scenario):
    return catalogue.of_scenario(scenario, [run_of(value)])


def cells(chart):
    """The numbers as they stand in the map, by the names of their row and column."""
    rows, columns = chart.yaxis["ticktext"], chart.xaxis["ticktext"]
    return {(rows[one["y"]], columns[one["x"]]): one["text"] for one in chart.annotations}


class Pairs(unittest.TestCase):
    def test_each_direction_and_the_latency_are_a_matrix(self):
        charts = of_scenario(several_gpus.p2p(2), "p2p")
        self.assertEqual(
            [chart.title for chart in charts], ["Read from another GPU, GB/s", "Write to another GPU, GB/s", "Latency, ns"]
        )
        self.assertEqual(cells(charts[0]), {("0", "1"): "390", ("1", "0"): "390"})
        self.assertEqual(cells(charts[2]), {("0", "1"): "828", ("1", "0"): "828"})
        self.assertEqual([axis["title"]["text"] for axis in (charts[0].yaxis, charts[0].xaxis)], ["from GPU", "to GPU"])

    def test_eight_have_fifty_six_cells_with_the_first_on_top(self):
        chart = of_scenario(several_gpus.p2p(8), "p2p")[0]
        self.assertEqual(len(chart.annotations), 56)
        self.assertEqual(chart.yaxis["ticktext"], list("76543210"), "upwards")
        self.assertEqual(chart.xaxis["ticktext"], list("01234567"))
        trace = chart.traces[0]
        self.assertEqual([row.count(None) for row in trace["z"]], [1] * 8, "the diagonal")
        self.assertTrue(all(trace["z"][7 - n][n] is None for n in range(8)))
        self.assertIn("from GPU 7 to GPU 0", trace["hovertext"][0][0])

    def test_what_differs_from_its_like_is_marked(self):
        chart, other, *_ = of_scenario(several_gpus.p2p(4, odd=(3, 1)), "p2p")
        marked = [place for place, words in cells(chart).items() if words.endswith("*")]
        self.assertEqual(marked, [("3", "1")])
        self.assertIn("of its group of 12 cells", chart.note)
        self.assertEqual(len([one for one in cells(other).values() if one.endswith("*")]), 1, "the same pair")

    def test_pairs_of_one_node_are_alike_and_those_across_are(self):
        value = several_gpus.p2p(8, directions=("read",))
        for one in value["results"]:
            if "dir" in one["params"] and int(one["params"]["from"]) // 4 != int(one["params"]["to"]) // 4:
                across = several_gpus.pair_case(*map(int, (one["params"]["from"], one["params"]["to"])), 55.5)
                one |= {"metrics": across["metrics"], "measurements": across["measurements"]}
        chart = of_scenario(value, "p2p")[0]
        self.assertEqual(chart.note, "", cells(chart))

    def test_only_the_largest_size_is_a_matrix_and_all_are_lines(self):
        sizes = (4096, 1 << 20, 1 << 28)
        charts = of_scenario(several_gpus.p2p(2, sizes=sizes), "p2p")
        titles = [chart.title for chart in charts]
        self.assertEqual(titles[:2], ["Read from another GPU, GB/s: 256 MiB", "Write to another GPU, GB/s: 256 MiB"])
        self.assertTrue(any(title.startswith("Rate over size") for title in titles), titles)
        lines = next(chart for chart in charts if chart.title.startswith("Rate over size"))
        self.assertEqual(len(lines.traces[0]["x"]), 3)

    def test_the_first_screen_has_the_best_of_each_direction(self):
        found = catalogue.headlines("p2p", run_of(several_gpus.p2p(2)))
        self.assertEqual(
            [one.what for one in found],
            ["Read from another GPU", "Write to another GPU", "Latency of a read of another GPU"],
        )
        self.assertIn("from 1, to 0", found[0].name)
        self.assertIn("of 478.1 GB/s, the links between them", found[0].of_what())
        self.assertAlmostEqual(found[2].value.value, 828e-9)

    def test_numbers_of_cells_are_short(self):
        shown = {390.34: "390", 55.42: "55.4", 9.961: "9.96", 1234.5: "1234", 0.668: "0.67", 99.96: "100"}
        for value, words in shown.items():
            self.assertEqual(matrix.in_cell(value), words)


class OddOnes(unittest.TestCase):
    """The same numbers as in tests/unit/odd_ones_test.cpp: both decide alike."""

    def places(self, values, share=0.01):
        group = {n: records.Estimate(v, v * (1 - share), v * (1 + share)) for n, v in enumerate(values)}
        return gpus.odd_ones(group)

    def test_as_the_program_says(self):
        for values, share, odd in (
            ((390, 391, 389, 390, 200, 392), 0.01, [4]),
            ((390, 391, 420, 390, 200, 392), 0.01, [2, 4]),
            ((100, 100, 100, 104.9), 0.01, []),
            ((100, 100, 100, 105.1), 0.01, [3]),
            ((100, 100, 100, 94.9), 0.01, [3]),
            ((100, 100, 100, 80), 0.2, [3]),
            ((100, 100, 100, 80), 0.3, []),
            ((100, 100, 100, 130), 0.25, []),
            ((100, 50), 0.01, []),
            ((50, 50, 100, 100), 0.01, [0, 1, 2, 3]),
        ):
            with self.subTest(values=values, share=share):
                self.assertEqual(self.places(values, share), odd)

    def test_what_has_no_interval_is_not_known(self):
        group = {n: records.Estimate(value) for n, value in enumerate((100, 100, 100, 50))}
        self.assertEqual(gpus.odd_ones(group), [])


class Company(unittest.TestCase):
    def test_findings_about_pairs_are_symmetric_matrices(self):
        charts = of_scenario(several_gpus.together(8), "together")
        self.assertEqual(
            [chart.title for chart in charts[:2]],
            ["Shares: together over alone: pattern h2d", "Shares: together over alone: pattern both"],
        )
        found = cells(charts[0])
        self.assertEqual(len(found), 56)
        self.assertTrue(all(found[a, b] == found[b, a] for a, b in found))
        self.assertEqual((found["0", "3"], found["0", "4"]), ("0.67", "1.00"))

    def test_each_gpu_has_a_bar_alone_and_one_in_company(self):
        charts = {chart.title: chart for chart in of_scenario(several_gpus.together(2), "together")}
        bars = charts["Alone and in company: h2d"]
        self.assertEqual([trace["name"] for trace in bars.traces], ["alone", "2 GPUs at once"])
        self.assertEqual(bars.traces[0]["y"], ["GPU 0", "GPU 1"])
        self.assertEqual(bars.traces[0]["x"], [55.25, 55.26])
        self.assertEqual(bars.traces[1]["x"], [45, 45.01])
        self.assertEqual(bars.xaxis["rangemode"], "tozero")
        count = charts["Rate over GPUs: h2d"]
        self.assertEqual([trace["x"] for trace in count.traces], [[1, 2], [1, 2]])
        self.assertEqual(count.traces[0]["y"], [55.25, 90])
        self.assertEqual(count.traces[1]["y"], [55.25, 110.5])

    def test_of_several_groups_the_median_is_drawn(self):
        charts = {chart.title: chart for chart in of_scenario(several_gpus.together(4), "together")}
        bars = charts["Alone and in company: h2d"]
        self.assertEqual([trace["name"] for trace in bars.traces], ["alone", "2 GPUs at once", "4 GPUs at once"])
        self.assertIn("the median", bars.note)
        self.assertIn("GPU 3 in 0+3: 50.03 GB/s", bars.traces[1]["hovertext"][3])

    def test_the_first_screen_says_what_all_reach(self):
        found = catalogue.headlines("together", run_of(several_gpus.together(2)))
        self.assertEqual([one.what for one in found], ["2 GPUs at once: h2d", "2 GPUs at once: both"])
        self.assertEqual(found[0].value.value, 90)
        self.assertIn("of 110.5 GB/s, each of them alone, added up", found[0].of_what())

    def test_alone_may_be_measured_between_the_samples_in_company(self):
        value = several_gpus.together(2, patterns=("h2d",))
        value["results"] = value["results"][2:]
        own = value["results"][0]["gpu_metrics"]
        own += [{**one, "name": "gpu_alone_bandwidth", "value": 55 + one["gpu"]} for one in list(own)]
        charts = {chart.title: chart for chart in of_scenario(value, "together")}
        bars = charts["Alone and in company"]
        self.assertEqual([(trace["name"], trace["x"]) for trace in bars.traces],
                         [("alone", [55, 56]), ("2 GPUs at once", [45, 45.01])])
        self.assertEqual([trace["y"] for trace in charts["Rate over GPUs"].traces], [[90], [111]])

    def test_alone_needs_no_numbers_of_gpus(self):
        value = several_gpus.together(2)
        for one in value["results"]:
            one.pop("gpu_metrics")
        bars = {chart.title: chart for chart in of_scenario(value, "together")}["Alone and in company: h2d"]
        self.assertEqual([trace["name"] for trace in bars.traces], ["alone"])

    def test_any_scenario_shows_numbers_of_its_gpus(self):
        own = [{"name": "efficiency", "gpu": gpu, "value": 0.9, "unit": "1"} for gpu in (0, 3)]
        charts = of_scenario(results([support.case("overlap", {"size": 1}, gpu_metrics=own)]), "overlap")
        chart = next(chart for chart in charts if chart.title == "GPU by GPU: efficiency")
        self.assertEqual(chart.traces[0]["y"], ["GPU 0", "GPU 3"])

    def test_numbers_of_very_many_are_left_to_the_file(self):
        own = [{"name": "efficiency", "gpu": gpu, "value": 0.9, "unit": "1"} for gpu in range(8)]
        many = [support.case("overlap", {"size": n}, gpu_metrics=own) for n in range(9)]
        self.assertFalse(any(one.title.startswith("GPU by") for one in of_scenario(results(many), "overlap")))


class Facts(support.Folder):
    def test_of_the_machine_name_every_gpu_and_what_joins_them(self):
        facts = tables.facts_of(run_of(several_gpus.p2p(8)))
        self.assertEqual(
            facts["GPU 7"], "NVIDIA Test, PCIe generation 5, 16 lanes, NUMA node 1, 18 NVLinks, GPU-7"
        )
        self.assertEqual(facts["between GPUs"], "18 NVLinks, 478.1 GB/s, peer access, atomics: all pairs")

    def test_of_pairs_that_are_joined_differently_name_them(self):
        value = several_gpus.p2p(2)
        value["environment"]["links"][1] |= {"access": False, "nvlinks": 0, "nvlink_bandwidth": 0, "atomics": False}
        facts = tables.facts_of(run_of(value))
        self.assertEqual(facts["between GPUs"], "18 NVLinks, 478.1 GB/s, peer access, atomics: 0 to 1; "
                         "no NVLink, no peer access: 1 to 0")

    def test_gpus_of_two_kinds_are_both_named(self):
        value = several_gpus.p2p(3)
        value["environment"]["gpus"][1]["name"] = "Another"
        self.assertEqual(run_of(value).gpu, "2 x NVIDIA Test and 1 x Another")

    def test_a_case_is_about_what_all_its_gpus_did(self):
        value = several_gpus.together(2)
        value["results"][2]["measurements"].reverse()
        case = run_of(value).cases[2]
        self.assertEqual(case.params["group"], "0+1")
        self.assertIsNone(case.headline().gpu)
        self.assertEqual(case.measurement("copy", 1).gpu, 1)

    def test_samples_of_single_gpus_are_named_after_them(self):
        run = run_of(several_gpus.together(2))
        embedded = samples.embedded([sides.side([run])])
        names = [one[1] for one in embedded["cases"][embedded["keys"].index(run.cases[2].key)]]
        self.assertEqual(names, ["copy", "copy, GPU 0", "copy, GPU 1"])

    def test_processes_are_pooled_gpu_by_gpu(self):
        first, second = several_gpus.together(2), several_gpus.together(2)
        for one in second["results"][2]["gpu_metrics"]:
            one["value"] += 2
        pooled = sides.side([run_of(first), run_of(second)]).run.cases[2]
        self.assertEqual(pooled.gpu_metrics(), {("gpu_bandwidth", "GB/s"): {0: 46, 1: 46.01}})
        self.assertEqual([one.gpu for one in pooled.measurements], [None, 0, 1])

    def test_files_keep_to_the_schema_and_to_the_program(self):
        for name, value in (("p2p.json", several_gpus.p2p(2)), ("together.json", several_gpus.together(2))):
            path = self.write(name, value)
            runs, _ = files.load([path])
            self.assertEqual(len(runs), 1)
            said = subprocess.run([support.PROGRAM, "compare", path, path], capture_output=True, check=False, text=True)
            self.assertEqual(said.returncode, 0, said.stderr)

    def test_a_name_of_one_gpu_twice_is_refused_by_the_program(self):
        value = several_gpus.together(2)
        value["results"][2]["gpu_metrics"][1]["gpu"] = 0
        path = self.write("twice.json", value)
        said = subprocess.run([support.PROGRAM, "compare", path, path], capture_output=True, check=False, text=True)
        self.assertEqual(said.returncode, 2)
        self.assertIn("gpu_bandwidth of GPU 0", said.stderr)

    def test_a_whole_page_of_eight_is_made(self):
        paths = [self.write("p.json", several_gpus.p2p(8)), self.write("t.json", several_gpus.together(8))]
        made = pathlib.Path(self.make(*paths)).read_text(encoding="utf-8")
        self.assertIn("8 x NVIDIA Test", made)


class Timelines(unittest.TestCase):
    def test_gpus_of_a_case_are_rows_of_one_chart(self):
        charts = timeline.charts(records.Timeline("t.json", several_gpus.timeline()))
        self.assertEqual([chart.title for chart in charts], ["overlap/size=1MiB (simulated, SIMULATED)"])
        rows = list(reversed(charts[0].yaxis["categoryarray"]))
        self.assertEqual(rows, ["GPU 0 H2D", "GPU 0 kernel", "GPU 0 P2P", "GPU 1 H2D", "GPU 1 kernel", "GPU 1 P2P",
                                "host calls"])
        copies = next(trace for trace in charts[0].traces if trace["name"] == "H2D")
        self.assertEqual(copies["y"], ["GPU 0 H2D", "GPU 1 H2D"])
        self.assertTrue(all("copy, number 1<br>" in words for words in copies["hovertext"]), "each GPU counts its own")
        self.assertEqual(len(set(copies["marker"]["opacity"])), 1)

    def test_processes_that_say_nothing_of_cases_are_charts_each(self):
        value = several_gpus.timeline()
        for event in value["traceEvents"]:
            event["args"].pop("case", None)
        self.assertEqual(len(timeline.charts(records.Timeline("t.json", value))), 3)


if __name__ == "__main__":
    support.require_program()
    unittest.main()

"""What pages show of fleets, before any browser draws it."""

import json
import re
import time
import unittest

import fleets
import support
from xferbench_report import fleet, page, records
from xferbench_report.charts import fleet as charts


def run_of(value):
    run = records.Run("x.json", value)
    records.name_apart([run])
    return run


def fleet_of(**more):
    return fleet.Fleet(run_of(fleets.file(**more)))


class Maps(unittest.TestCase):
    def test_a_test_is_a_map_of_nodes_and_their_ranks(self):
        found = charts.charts(fleet_of())
        self.assertEqual([chart.title for chart in found], ["memcpy, dir=h2d, pace all", "memcpy, dir=d2h, pace all"])
        trace = found[0].traces[0]
        self.assertEqual([len(trace["z"]), {len(row) for row in trace["z"]}], [2, {4}])
        self.assertEqual(found[0].yaxis["ticktext"], ["node1", "node0"], "the first is on top")
        self.assertEqual(found[0].xaxis["ticktext"], ["0", "1", "2", "3"])
        self.assertTrue(trace["hovertext"][1][2].startswith("rank 2, GPU 2 of node0: 55"), trace["hovertext"])

    def test_numbers_are_over_the_median_of_the_group(self):
        found = fleet_of(slow=5)
        shares = found.shares(found.tests[0])
        self.assertAlmostEqual(shares[5], 0.9, delta=0.01)
        self.assertTrue(all(abs(share - 1) < 0.01 for rank, share in shares.items() if rank != 5))

    def test_of_times_more_is_better_as_well(self):
        value = fleets.file(slow=5)
        value["metrics_declared"]["memcpy"] = fleets.DECLARED[:1]
        found = fleet.Fleet(run_of(value))
        self.assertEqual([found.tests[0].unit, found.tests[0].better], ["s", "lower"])
        self.assertAlmostEqual(found.shares(found.tests[0])[5], 0.9, delta=0.01)

    def test_other_gpus_are_another_group(self):
        value = fleets.file(slow=5)
        value["fleet"]["ranks"][5]["environment"]["gpu"]["name"] = "NVIDIA Other"
        found = fleet.Fleet(run_of(value))
        self.assertEqual(found.shares(found.tests[0])[5], 1)

    def test_what_is_flagged_has_a_star_and_what_is_missing_is_told(self):
        chart = charts.charts(fleet_of(slow=5, missing=(2,)))[0]
        shown = {(one["x"], one["y"]): one["text"] for one in chart.annotations}
        self.assertEqual(shown[(1, 0)], "90*")
        self.assertEqual(shown[(2, 1)], "-")
        self.assertEqual(sum(text.endswith("*") for text in shown.values()), 1)
        self.assertIsNone(chart.traces[0]["z"][1][2])
        self.assertIn("rank 5, GPU 1 of node1", chart.note)
        self.assertIn("SIMULATED", chart.spoken())

    def test_a_star_is_on_the_maps_of_tests_that_show_it(self):
        value = fleets.file(slow=5)
        value["fleet"]["flagged"][0]["tests"].pop()
        shown = [[one["text"] for one in chart.annotations] for chart in charts.charts(fleet.Fleet(run_of(value)))]
        self.assertEqual([[text for text in texts if "*" in text] for texts in shown], [["90*"], []])

    def test_transfers_within_and_between_hosts_are_groups_of_their_own(self):
        found = fleet.Fleet(run_of(fleets.transfers()))
        self.assertTrue(all(abs(share - 1) < 0.01 for share in found.shares(found.tests[0]).values()))
        chart = charts.charts(found)[0]
        self.assertFalse(any("*" in one["text"] for one in chart.annotations))
        self.assertIn("apart within a host and between hosts", chart.note)

    def test_transfers_of_all_rounds_are_one_group(self):
        value = fleets.transfers(rounds=2)
        slow = [one for one in value["results"] if one["labels"]["to"] in "567" and "/round=1/" in one["key"]]
        for one in slow:
            one["metrics"]["bandwidth"]["value"] = 25.0
        flagged = {"what": "host", "ranks": [6], "name": "", "shortfall": 0.5, "text": ""}
        key = value["results"][0]["key"].replace("/round=1", "")
        value["fleet"]["flagged"] = [flagged | {"tests": [f"{key} pace=all"]}]
        found = fleet.Fleet(run_of(value))
        self.assertEqual(len(found.tests), 2)
        self.assertAlmostEqual(found.shares(found.tests[0])[6], 0.5, delta=0.01)
        self.assertTrue(found.is_flagged(found.tests[0], 6))

    def test_a_flagged_pair_has_its_star_where_it_is_received(self):
        value = fleets.transfers()
        name = f"{value['results'][0]['key'].replace('/round=1', '')} pace=all"
        for ranks, stars in (([6, 7], [7]), ([7, 6], [])):
            flagged = {"what": "pair", "ranks": ranks, "name": "", "shortfall": 0.1, "tests": [name], "text": ""}
            value["fleet"]["flagged"] = [flagged]
            found = fleet.Fleet(run_of(value))
            self.assertEqual([rank for rank in range(8) if found.is_flagged(found.tests[0], rank)], stars)
        flagged |= {"what": "host", "ranks": [6]}
        found = fleet.Fleet(run_of(value))
        self.assertEqual([rank for rank in range(8) if found.is_flagged(found.tests[0], rank)], [6, 7])

    def test_many_ranks_have_stars_alone(self):
        chart = charts.charts(fleet_of(nodes=125, per_node=8, slow=500))[0]
        self.assertEqual([one["text"] for one in chart.annotations], ["*"])
        self.assertLessEqual(len(chart.yaxis["ticktext"]), 60)
        self.assertLessEqual(chart.height, 2400)

    def test_paces_are_tests_of_their_own_and_second_rounds_none(self):
        value = fleets.file(directions=("h2d",), paces=("all", "one"))
        value["results"].append(fleets.result(0, turn=2, rate=1.0))
        found = fleet.Fleet(run_of(value))
        self.assertEqual([test.pace for test in found.tests], ["all", "one"])
        self.assertGreater(found.tests[0].values[0], 50)


class Tables(unittest.TestCase):
    def test_a_transfer_between_two_names_both(self):
        value = fleets.file(directions=("h2d",), slow=5)
        for one in value["results"]:
            one["labels"] = {"from": str(one["fleet"]["rank"]), "to": "0"}
        found = fleet.Fleet(run_of(value))
        self.assertEqual(fleet.tests_table(found)["rows"][0][3], "rank 5 to rank 0")
        self.assertIn("rank 5 to rank 0", charts.charts(found)[0].traces[0]["hovertext"][0][1])

    def test_what_ranks_move_together_is_what_the_terminal_says(self):
        value = json.loads((support.RESULTS / "h200-x2-fleet-memcpy.json").read_text(encoding="utf-8"))
        found = fleet.Fleet(run_of(value))
        shown = [fleet.test_row(found, test)[-1] for test in found.tests if "dir=h2d" in test.key]
        self.assertEqual(shown, ["110.4 GB/s", "", ""], "as docs/fleet.md has it; their rates add up to 110.7")

    def test_rates_are_added_up_where_passes_are_not_known_and_those_of_transfers_never(self):
        value = fleets.file(directions=("h2d",))
        test = fleet_of(directions=("h2d",)).tests[0]
        self.assertEqual(fleet.together(test), sum(test.values.values()))
        for one in value["results"]:
            one["labels"] = {"from": str(one["fleet"]["rank"]), "to": "0"}
        self.assertIsNone(fleet.together(fleet.Fleet(run_of(value)).tests[0]))

    def test_together_is_from_the_first_begin_to_the_last_end(self):
        value = fleets.file(nodes=1, per_node=2, directions=("h2d",))
        for one, (begins, ends) in zip(value["results"], ([[0, 0], [8e-3, 8e-3]], [[2e-3, 2e-3], [1e-2, 1e-2]])):
            one["fleet"] |= {"begins": begins, "ends": ends}
        self.assertAlmostEqual(fleet.together(fleet.Fleet(run_of(value)).tests[0]), 2 * fleets.SIZE / 1e-2 / 1e9)

    def test_a_test_has_its_ends_and_whose_they_are(self):
        row = dict(zip(fleet.TESTS, fleet.test_row(found := fleet_of(slow=5), found.tests[0])))
        self.assertEqual(row["test"], "memcpy, dir=h2d, pace all")
        head = fleet.tests_table(found)["head"]
        self.assertEqual(head, list(fleet.TESTS))
        lowest = fleet.tests_table(found)["rows"][0][2:4]
        self.assertEqual(lowest, ["49.5 GB/s", "rank 5, GPU 1 of node1"])

    def test_a_gpu_has_its_own_number_and_not_that_of_the_rank(self):
        value = fleets.file(nodes=1, slow=3)
        for place in value["fleet"]["ranks"]:
            place["environment"]["gpu"]["index"] = place["local_rank"] % 2
        places = fleet.Fleet(run_of(value)).ranks
        self.assertEqual([fleet.gpu_of(places[rank]) for rank in range(4)], ["0", "1", "0", "1"], "two share one")
        environment = places[3]["environment"]
        for visible, shown in (("4,6", "6"), ("4, 6 ", "6"), ("GPU-a,GPU-b", "0000:17:00.0"), ("", "1"), ("4", "1")):
            environment |= {"variables": {"CUDA_VISIBLE_DEVICES": visible}}
            environment["gpu"]["pci_bus_id"] = "0000:17:00.0"
            self.assertEqual(fleet.gpu_of(places[3]), shown)
        del environment["gpu"]["index"]
        self.assertEqual(fleet.gpu_of(places[3]), "3", "a simulated host has as many GPUs as ranks")

    def test_ranks_are_listed_with_what_they_are_on(self):
        found = fleet.ranks_table(fleet_of(slow=5, missing=(2,)))
        rows = {row[0]: dict(zip(found["head"], row)) for row in found["rows"]}
        self.assertEqual(len(rows), 8)
        self.assertEqual([rows["5"][name] for name in ("host", "GPU", "UUID", "flagged")], ["node1", "1", "GPU-5", "link"])
        self.assertEqual(rows["2"]["flagged"], "missing")
        self.assertEqual(rows["0"]["link"], "PCIe generation 5, 16 lanes")


class Pages(support.Folder):
    def text_of(self, value):
        return self.make(self.write("fleet.json", value)).read_text(encoding="utf-8")

    def test_what_is_flagged_stands_at_the_top(self):
        text = self.text_of(fleets.file(slow=5, missing=(2,)))
        self.assertLess(text.index("the link of rank 5 is 10 %"), text.index("<h2>"))
        self.assertLess(text.index("rank 2, GPU 2 of node0"), text.index("<h2>"))
        self.assertIn("SIMULATED (profile h200)", text)
        self.assertIn("8 x NVIDIA Test on 2 hosts", text)

    def test_in_what_ranks_differ_stands_among_the_notes(self):
        text = self.text_of(fleets.file())
        self.assertLess(text.index("ranks differ in their driver"), text.index("groups are small"))

    def test_nothing_flagged_is_said_only_of_a_whole_run(self):
        self.assertIn("Nothing is flagged.", self.text_of(fleets.file()))
        self.assertNotIn("Nothing is flagged.", self.text_of(fleets.file() | {"complete": False}))

    def test_what_could_not_be_judged_is_not_called_good(self):
        for judged, unresolved, words in (
            (2, 0, None),
            (0, 0, "Nothing could be judged."),
            (1, 0, "Nothing is flagged in 1 of 2 tests; the others could not be judged."),
            (2, 1, "Nothing is flagged; a suspicion could be neither confirmed nor removed."),
        ):
            value = fleets.file()
            value["fleet"]["judgement"] = {"tests": 2, "judged": judged, "unresolved": unresolved}
            text = self.text_of(value)
            self.assertIn(f"<strong>{words or 'Nothing is flagged.'}</strong>", text)
            self.assertIn(f'<div class="verdict{" unsure" if words else ""}">', text)

    def test_a_thousand_ranks_fit(self):
        path = self.write("fleet.json", fleets.file(nodes=125, per_node=8, slow=500))
        begin = time.monotonic()
        text = self.make(path).read_text(encoding="utf-8")
        self.assertLess(time.monotonic() - begin, 60)
        figures = re.search(r'id="figures">(.*?)</script>', text, re.DOTALL)[1]
        self.assertEqual(len(json.loads(figures)), 2)
        self.assertLess(len(text) - len(page.plotly_source()), 2_000_000)
        self.assertEqual(text.count("<tr><td class=n data-sort="), 1000)

    def test_sentences_stand_apart(self):
        for value in (fleets.file(), fleets.file(slow=5), fleets.file(missing=(2,))):
            self.assertRegex(self.text_of(value), r"</strong>\s+[0-9]+ results measured")

    def test_names_are_escaped(self):
        value = fleets.file()
        for one in value["fleet"]["ranks"]:
            one["host"] = "<script>alert(1)</script>"
        self.assertNotIn("<script>alert(1)", self.text_of(value))

    def test_failures_name_their_rank(self):
        value = fleets.file()
        value["results"][3] |= {"status": "failed", "reason": "wrong byte"}
        text = self.text_of(value)
        self.assertIn("pace=all rank=3", text)

    def test_several_are_refused(self):
        path, single = self.write("fleet.json", fleets.file()), self.write("a.json", support.results())
        for given in ([path, single], [path, path], ["--base", path, "--new", path], ["--trend", path, single]):
            outcome = self.report(*given, "-o", "page.html")
            self.assertEqual(outcome.returncode, 2)
            self.assertIn("ranks", outcome.stderr)


if __name__ == "__main__":
    unittest.main()

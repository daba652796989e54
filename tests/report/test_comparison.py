"""What the page says of several files is what `xferbench compare` says."""

import json
import os
import pathlib
import random
import unittest
import unittest.mock

import markupsafe

import support
from support import case, compare, results, sampled, samples
from xferbench_report import comparison, tables
from xferbench_report.charts import figure
from xferbench_report.charts.figure import title_of


class Page(support.Folder):
    """The page's charts and tables beside what the program writes of the same files."""

    def setUp(self):
        super().setUp()
        chance = random.Random(7)

        def file_of(name, scale, count):
            measured = [[sampled(samples(chance, 20, scale(n)))] for n in range(count)]
            cases = [case("memcpy" if n % 2 else "odd", {"n": n}, one) for n, one in enumerate(measured)]
            cases.append(case("memcpy", {"n": "missing" if name == "base.json" else "new"}))
            return self.write(name, results(cases))

        self.files = [file_of("base.json", lambda n: 1, 9), file_of("new.json", lambda n: 0.9 + 0.03 * n, 9)]
        self.files.append(file_of("many.json", lambda n: 1 + n / 1000, 9))

    def figures(self, path):
        page = path.read_text(encoding="utf-8")
        return json.loads(page.split('id="figures">', 1)[1].split("</script>", 1)[0])

    def charts(self, figures):
        """Those of comparisons."""
        found = [one for one in figures.values() if title_of(one["layout"]["xaxis"]).startswith("change from base")]
        self.assertTrue(found)
        return found

    def compared(self, figures):
        """The points of the charts of comparisons: what each says of its case, and its numbers."""
        found = {}
        for one in self.charts(figures):
            for trace in one["data"]:
                none = {"array": [0] * len(trace["x"]), "arrayminus": [0] * len(trace["x"])}
                bars = trace.get("error_x", none)
                for value, up, down, words in zip(trace["x"], bars["array"], bars["arrayminus"], trace["hovertext"]):
                    key, file, verdict = words.split("<br>")[:3]
                    found[key, file.split(", ")[1]] = value, value - down, value + up, verdict
        return found

    def test_charts_and_tables_say_what_the_program_says(self):
        page = self.make(*self.files)
        drawn, html = self.compared(self.figures(page)), page.read_text(encoding="utf-8")
        compared = 0
        for name in ("new.json", "many.json"):
            said = compare("base.json", name)
            for verdict, count in said["summary"].items():
                if count:
                    self.assertIn(f"{count} {comparison.IN_WORDS[verdict]}", html)
            for row in said["cases"]:
                self.assertIn(f"<bdi>{comparison.IN_WORDS[row['verdict']]}</bdi>", html)
                if "ratio" not in row:
                    self.assertNotIn((row["key"], name), drawn)
                    continue
                value, low, high, words = drawn[row["key"], name]
                for seen, meant in zip((value, low, high), (row["ratio"], *row["ratio_ci95"])):
                    self.assertAlmostEqual(seen, meant, delta=1e-9)
                self.assertIn(f"{comparison.IN_WORDS[row['verdict']]} ({row['verdict']}), ratio ", words)
                compared += 1
        self.assertEqual((compared, len(drawn)), (18, 18))

    def test_rows_of_the_table_are_the_programs(self):
        for row in compare(*self.files[:2])["cases"]:
            cells = tables.compared_row(row, comparison.IN_WORDS[row["verdict"]], str, "short name")
            self.assertEqual(cells[0], comparison.IN_WORDS[row["verdict"]])
            self.assertEqual((cells[3], cells[3].opens, cells[5]), ("short name", row["key"], row["measured"]))
            self.assertEqual(isinstance(cells[0], tables.Alarm), row["verdict"] in comparison.ALARMING)
            if "ratio" in row:
                for shown, ratio in zip([cells[1], *cells[2].split(" to ")], [row["ratio"], *row["ratio_ci95"]]):
                    self.assertAlmostEqual(float(shown.removesuffix(" %")), 100 * (ratio - 1), delta=0.00501)

    def test_one_scale_with_the_threshold_drawn(self):
        """In all charts the same change has the same place, also where names are longer, and the same band."""
        layouts = [one["layout"] for one in self.charts(self.figures(self.make(*self.files)))]
        self.assertEqual(len(layouts), 4)
        for layout in layouts:
            bands = [(one["x0"], one["x1"]) for one in layout["shapes"] if one.get("name") == "threshold"]
            self.assertEqual(bands, [(0.97, 1.03)])
            self.assertEqual(layout["xaxis"]["range"], layouts[0]["xaxis"]["range"])
            self.assertEqual((layout["margin"], layout["yaxis"]["automargin"]), (layouts[0]["margin"], False))

    def test_what_is_far_off_lies_at_the_edge_and_says_how_far(self):
        slow = self.write("slow.json", results([case("odd", {"n": 0}, [sampled(samples(random.Random(1), 20, 10))])]))
        value, _, _, words = self.compared(self.figures(self.make(self.files[0], slow)))["odd/n=0", "slow.json"]
        self.assertEqual(value, 2)
        self.assertRegex(words, r"ratio 10 \[")

    def test_of_many_cases_those_that_matter_most_are_drawn(self):
        chance, paths = random.Random(3), []
        for name, slower in (("a.json", 1), ("b.json", 1.5)):
            count = figure.MOST_ROWS + 5
            cases = [
                case("odd", {"n": n}, [sampled(samples(chance, 30, slower if n > count - 4 else 1))])
                for n in range(count)
            ]
            paths.append(self.write(name, results(cases)))
        page = self.make(*paths)
        drawn = self.compared(self.figures(page))
        self.assertEqual(len(drawn), figure.MOST_ROWS)
        self.assertEqual(sum("slower" in words for *_, words in drawn.values()), 3)
        self.assertIn("5 further cases: in the table", page.read_text(encoding="utf-8"))

    def processes(self, name, scale):
        """Files as --repeat 4 writes them."""
        chance, paths = random.Random(name), []
        for number in range(1, 5):
            measured = [[sampled(samples(chance, 20, scale))] for _ in range(3)]
            cases = [case("odd", {"n": n}, one) for n, one in enumerate(measured)]
            command = ["xferbench", "odd", "--repeat", "4", "--json", f"{name}.json"]
            paths.append(self.write(f"{name}-{number}.json", results(cases, command=command)))
        return paths

    def test_processes_of_a_side_are_judged_together(self):
        """Named on the command line, or recognised by their names; one row each, with the program's verdict."""
        base, new = self.processes("base", 1), self.processes("new", 1.2)
        said = compare("--base", *base, "--new", *new)
        pages = [self.folder / name for name in ("named.html", "recognised.html")]
        for arguments, page in ((["--base", *base, "--new", *new], pages[0]), ([*base, *new], pages[1])):
            outcome = self.report(*arguments, "-o", page, "--quiet")
            self.assertEqual((outcome.returncode, outcome.stderr), (0, ""))
        self.assertEqual(*(page.read_bytes() for page in pages))
        drawn = self.compared(self.figures(pages[0]))
        self.assertEqual([key for key, _ in drawn], [row["key"] for row in said["cases"]])
        for row, (value, *_) in zip(said["cases"], drawn.values()):
            self.assertAlmostEqual(value, row["ratio"], delta=1e-9)
        self.assertIn("4 processes", pages[0].read_text(encoding="utf-8"))

    def test_sides_that_cannot_be(self):
        for arguments in (["--base", self.files[0]], ["--new", self.files[0]],
                          [self.files[2], "--base", self.files[0], "--new", self.files[1]]):
            with self.subTest(arguments=arguments):
                outcome = self.report(*arguments)
                self.assertEqual(outcome.returncode, 2)
                self.assertIn("--base", outcome.stderr)
                self.assertFalse((self.folder / "report.html").exists())

    def test_what_the_program_warns_of_is_shown(self):
        other = json.loads((self.folder / "new.json").read_text(encoding="utf-8"))
        other["environment"]["gpu"]["name"] = "Another GPU"
        self.write("new.json", other | {"complete": False})
        said, html = compare(*self.files[:2]), self.make(*self.files[:2]).read_text(encoding="utf-8")
        self.assertTrue(said["warnings"] and said["differences"])
        for words in (*said["warnings"], *said["differences"][0].values()):
            self.assertIn(str(markupsafe.escape(words)), html)

    def test_reasons_and_what_could_be_found_are_shown(self):
        """As a program writes them that knows of them."""
        said = compare(*self.files[:2])
        said["outcome"] = {"exit_code": 1, "because": "exit 1 because 1 case is slower", "least_slowdown": 0.07}
        row = next(row for row in said["cases"] if row.get("ratio", 0) > 1.1)
        row |= {"verdict": "regressed", "reason": "3 samples: too few to decide", "least_found": [0.91, 1.085]}
        row |= {"spread": 0.0123, "spread_from": "assumed", "ratio_ci95_within": [1.01, 1.02]}
        answer = self.write("answer.json", said)
        program = self.folder / "program"
        program.write_text(f"#!/bin/sh\ncat {answer}\nexit 1\n", encoding="utf-8")
        program.chmod(0o755)
        with unittest.mock.patch.dict(os.environ, {"XFERBENCH_PROGRAM": str(program)}):
            html = self.make(*self.files[:2]).read_text(encoding="utf-8")
        for words in ("Exit 1 because 1 case is slower", "slow-down of 7 %",
                      "3 samples: too few to decide", "+8.50 %", "1.23 % (assumed)", "+1.00 % to +2.00 %"):
            self.assertIn(words, html)
        self.assertIn('class="verdict bad"', html)

    def test_what_the_program_refuses_is_said(self):
        lonely = self.write("lonely.json", results([case("nothing in common")]))
        self.assertIn("have no case in common", self.make(self.files[0], lonely).read_text(encoding="utf-8"))

    def test_simulated_and_real_are_compared_with_a_mark(self):
        value = json.loads((self.folder / "new.json").read_text(encoding="utf-8"))
        value["environment"] |= {"backend": "simulated", "profile": "h200"}
        html = self.make(self.files[0], self.write("simulated.json", value)).read_text(encoding="utf-8")
        self.assertIn("their ratios mean little", html)
        self.assertIn("New over base: memcpy", html)

    def test_a_name_like_a_flag_is_a_file(self):
        pathlib.Path("--all").write_text(pathlib.Path(self.files[0]).read_text(encoding="utf-8"), encoding="utf-8")
        self.assertEqual(self.report("-o", "page.html", "--", self.files[0], "--all").returncode, 0)
        self.assertIn("10 equal", pathlib.Path("page.html").read_text(encoding="utf-8"))


if __name__ == "__main__":
    support.require_program()
    unittest.main()

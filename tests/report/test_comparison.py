"""What the page says of several files is what `xferbench compare` says."""

import json
import pathlib
import random
import unittest

import markupsafe

import support
from support import case, compare, results, sampled, samples
from xferbench_report import tables
from xferbench_report.charts import figure


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

    def compared(self, figures):
        """The points of the charts of comparisons: what each says of its case, and its numbers."""
        found = {}
        for figure in figures.values():
            for trace in figure["data"]:
                along = figure["layout"]["xaxis" if "error_x" in trace else "yaxis"].get("title", {})
                if not along.get("text", "").startswith("ratio") or trace["name"] == "equal":
                    continue
                values, bars = (trace["x"], trace["error_x"]) if "error_x" in trace else (trace["y"], trace["error_y"])
                for value, up, down, words in zip(values, bars["array"], bars["arrayminus"], trace["hovertext"]):
                    key, file, verdict = words.split("<br>")[:3]
                    found[key, file.split(", ")[1]] = value, value - down, value + up, verdict
        return found

    def test_charts_and_tables_say_what_the_program_says(self):
        page = self.make(*self.files)
        drawn, html = self.compared(self.figures(page)), page.read_text(encoding="utf-8")
        compared = 0
        for name in ("new.json", "many.json"):
            said = compare("base.json", name)
            counts = ", ".join(f"{n} {word.replace('_', ' ')}" for word, n in said["summary"].items() if n)
            self.assertIn(f"{name}</bdi>: <bdi>{counts}</bdi>", html)
            for row in said["cases"]:
                self.assertIn(f'<bdi>{row["verdict"]}</bdi>', html)
                if "ratio" not in row:
                    self.assertNotIn((row["key"], name), drawn)
                    continue
                value, low, high, words = drawn[row["key"], name]
                for seen, meant in zip((value, low, high), (row["ratio"], *row["ratio_ci95"])):
                    self.assertAlmostEqual(seen, meant, delta=1e-12)
                self.assertIn(f": {row['verdict']}, ratio ", words)
                compared += 1
        self.assertEqual((compared, len(drawn)), (18, 18))

    def test_rows_of_the_table_are_the_programs(self):
        for row in compare(*self.files[:2])["cases"]:
            cells = tables.compared_row(row, str)
            self.assertEqual(cells[:3], [row["verdict"], row["key"], row["measured"]])
            self.assertEqual(isinstance(cells[0], tables.Alarm), row["verdict"] == "regressed")
            if "ratio" in row:
                for shown, ratio in zip([cells[5], *cells[6].split(" to ")], [row["ratio"], *row["ratio_ci95"]]):
                    self.assertAlmostEqual(float(shown.removesuffix(" %")), 100 * (ratio - 1), delta=0.00501)

    def test_figures_keep_to_plotlys_schema(self):
        import plotly.graph_objects

        for one in self.figures(self.make(*self.files)).values():
            plotly.graph_objects.Figure(one)

    def test_many_cases_are_sorted_by_their_ratio(self):
        chance, paths = random.Random(3), []
        for name in ("a.json", "b.json"):
            cases = [case("odd", {"n": n}, [sampled(samples(chance, 12))]) for n in range(figure.MOST_ROWS + 1)]
            paths.append(self.write(name, results(cases)))
        drawn = [one for one in self.compared(self.figures(self.make(*paths))).values()]
        self.assertEqual(len(drawn), figure.MOST_ROWS + 1)
        self.assertEqual([value for value, *_ in drawn], sorted(value for value, *_ in drawn))

    def test_what_the_program_warns_of_is_shown(self):
        other = json.loads((self.folder / "new.json").read_text(encoding="utf-8"))
        other["environment"]["gpu"]["name"] = "Another GPU"
        self.write("new.json", other | {"complete": False})
        said, html = compare(*self.files[:2]), self.make(*self.files[:2]).read_text(encoding="utf-8")
        self.assertTrue(said["warnings"] and said["differences"])
        for words in (*said["warnings"], *said["differences"][0].values()):
            self.assertIn(str(markupsafe.escape(words)), html)

    def test_what_the_program_refuses_is_said(self):
        lonely = self.write("lonely.json", results([case("nothing in common")]))
        self.assertIn("have no case in common", self.make(self.files[0], lonely).read_text(encoding="utf-8"))

    def test_simulated_and_real_are_compared_with_a_mark(self):
        value = json.loads((self.folder / "new.json").read_text(encoding="utf-8"))
        value["environment"] |= {"backend": "simulated", "profile": "h200"}
        html = self.make(self.files[0], self.write("simulated.json", value)).read_text(encoding="utf-8")
        self.assertIn("their ratios mean little", html)
        self.assertIn("New over NVIDIA Test, base.json: memcpy", html)

    def test_a_name_like_a_flag_is_a_file(self):
        pathlib.Path("--all").write_text(pathlib.Path(self.files[0]).read_text(encoding="utf-8"), encoding="utf-8")
        self.assertEqual(self.report("-o", "page.html", "--", self.files[0], "--all").returncode, 0)
        self.assertIn("10 same", pathlib.Path("page.html").read_text(encoding="utf-8"))


if __name__ == "__main__":
    support.require_program()
    unittest.main()

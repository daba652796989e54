"""Output for other programs (JUnit XML, OpenMetrics text, notes for GitHub), checked by schemas and parsers of third
parties. Tests are skipped where those are not installed."""

import html.parser
import json
import re
import shutil
import socket
import subprocess
import time
import unittest
import urllib.request
import xml.etree.ElementTree

import support
import vendor
from support import PROGRAM, RESULTS, ROOT

HOSTILE = "a\"b\\c<d>&'\x01\u202e\ufffe{x=\"1\"} 2\n# EOF\n::error::]]>"


def xferbench(*arguments, code=0):
    return support.run(*arguments, code=code)


def needed(command):
    path = shutil.which(command)
    if not path:
        raise unittest.SkipTest(f"{command} is not installed")
    return path


@unittest.skipUnless(PROGRAM, "XFERBENCH_PROGRAM does not name the program")
class Written(support.Folder):
    """A test with results that pass, fail, are incomplete, or contain hostile texts."""

    def setUp(self):
        super().setUp()
        self.quick = RESULTS / "h200-quick.json"
        report = json.loads(self.quick.read_text(encoding="utf-8"))
        report["complete"] = False
        report["environment"]["gpu"]["name"] += HOSTILE
        self.cut = self.write("cut.json", report)
        expectations = json.loads((ROOT / "scenarios/expectations/h200.json").read_text(encoding="utf-8"))
        for one in expectations["expect"][:3]:
            one["name"] += HOSTILE
        expectations["expect"].append(
            {"name": "too much" + HOSTILE, "case": {"scenario": "memcpy"}, "metric": "bandwidth", "at_least": "9000 GB/s"}
        )
        expectations["expect"].append({"name": "no case", "case": {"scenario": "alloc"}, "metric": "x", "at_least": 1})
        self.hostile = self.write("host.ile.json", expectations)

    def slower(self):
        return self.write("slower.json", support.slower(self.quick, 1.5))


class Junit(Written):
    def check(self, *arguments, code=0):
        path = self.folder / "check.xml"
        xferbench("check", *arguments, "--junit", path, code=code)
        return path

    def both(self):
        """A passing check with a case of each kind, and a failing one with hostile names."""
        yield "good", self.check(self.quick, "--expect", "h200")
        yield "hostile", self.check(self.quick, self.cut, "--expect", self.hostile, code=1)

    def assert_valid(self, path, package):
        if not package.path.exists():
            self.skipTest(f"{package.path.name} is not there; scripts/setup --tests fetches it")
        command = [needed("xmllint"), "--noout", "--nonet", "--schema", str(package.path), str(path)]
        outcome = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)

    def test_is_valid_by_the_schema_of_jenkins(self):
        for name, path in self.both():
            with self.subTest(name):
                self.assert_valid(path, vendor.JUNIT_OF_JENKINS)

    def test_is_valid_by_the_schema_of_ant_but_for_what_was_skipped_which_that_does_not_know(self):
        for name, path in self.both():
            tree = xml.etree.ElementTree.parse(path)
            for case in tree.iter("testcase"):
                for skipped in case.findall("skipped"):
                    case.remove(skipped)
            tree.write(path)
            with self.subTest(name):
                self.assert_valid(path, vendor.JUNIT_OF_ANT)

    def test_says_the_same_as_check_does(self):
        try:
            import junitparser
        except ImportError:
            self.skipTest("python3-junitparser is not installed")
        for name, path in self.both():
            files = [self.quick] if name == "good" else [self.quick, self.cut]
            expect = "h200" if name == "good" else self.hostile
            code = 0 if name == "good" else 1
            said = json.loads(xferbench("check", *files, "--expect", expect, "--json", "-", code=code).stdout)
            verdicts = [row["verdict"] for row in said["checks"]]
            cases = [case for suite in junitparser.JUnitXml.fromfile(str(path)) for case in suite]
            kinds = [type(case.result[0]).__name__ if case.result else "Passed" for case in cases]
            with self.subTest(name):
                self.assertEqual(kinds.count("Passed"), verdicts.count("holds"))
                self.assertEqual(kinds.count("Failure"), verdicts.count("fails") + verdicts.count("no case"))
                self.assertEqual(kinds.count("Skipped"), verdicts.count("not measured"))
                self.assertEqual(kinds.count("Error"), sum(not file["complete"] for file in said["files"]))
                self.assertEqual(len(cases), len(kinds))
                self.assertTrue(all(case.classname.startswith("check.") for case in cases))


class OpenMetrics(Written):
    @classmethod
    def setUpClass(cls):
        """Small runs of all scenarios except exchange, which needs ranks."""
        few = ("--max-samples", "2", "--min-samples", "2", "--budget", "0.001", "--no-verify", "--quiet")
        of_one = ("overlap", "--size", "1M", "memcpy", "--size", "1M", "--dir", "h2d", "async", "--size", "1M")
        others = ("latency", "alloc", "--size", "4K", "staging", "--size", "1M", "callback", "--size", "1M", "smem")
        of_several = ("p2p", "--dir", "write", "--size", "1M", "together", "--size", "1M", "multipath", "--size", "1M")
        out = ("--openmetrics", "-")
        cls.run_of_one = xferbench(*few, "--simulate", *of_one, *others, "dynpar", *out).stdout
        cls.run_of_several = xferbench(*few, "--simulate", "h200-x8", "--gpus", "2", *of_several, *out).stdout

    def written(self):
        """OpenMetrics text of runs of all scenarios, checks and soaks."""
        yield "run", self.run_of_one
        yield "gpus", self.run_of_several
        yield "check", xferbench("check", self.quick, "--expect", "h200", "--openmetrics", "-").stdout
        yield "soak", xferbench("soak", "--simulate", "--for", "1s", "--size", "4M", "--openmetrics", "-").stdout
        yield "hostile", xferbench(
            "check", self.quick, self.cut, "--expect", self.hostile, "--openmetrics", "-", code=1
        ).stdout

    def test_is_read_by_prometheus_client(self):
        try:
            from prometheus_client.openmetrics.parser import text_string_to_metric_families
        except ImportError:
            self.skipTest("python3-prometheus-client is not installed")
        for name, text in self.written():
            with self.subTest(name):
                families = {family.name: family for family in text_string_to_metric_families(text)}
                for family in families.values():
                    self.assertTrue(family.name.startswith("xferbench_"), family.name)
                    self.assertTrue(family.documentation)
                    for sample in family.samples:
                        self.assertLessEqual(len(sample.labels), 6, sample)
                if name in ("run", "gpus"):
                    cases = {s.labels["status"]: s.value for s in families["xferbench_run_cases"].samples}
                    numbers = [s for f in families.values() for s in f.samples if "case" in s.labels]
                    self.assertEqual((len(numbers), cases["failed"]), (cases["ok"], 0))
                    self.assertEqual(families["xferbench_run_complete"].samples[0].value, 1)
                if name == "hostile":
                    found = {s.labels["expectation"] for s in families["xferbench_check_margin_ratio"].samples}
                    self.assertTrue(any(one.startswith("too much") and 'b\\c<d>' in one for one in found), found)

    def test_has_nothing_that_promtool_would_change(self):
        promtool = needed("promtool")
        for name, text in self.written():
            with self.subTest(name):
                outcome = subprocess.run(
                    [promtool, "check", "metrics"], input=text, capture_output=True, text=True, check=False
                )
                said = (outcome.stdout + outcome.stderr).splitlines()
                if name != "soak":
                    self.assertEqual((outcome.returncode, said), (0, []))
                    continue
                # promtool expects the help text at the sample's name of a counter; readers accept it.
                counters = re.findall(r"^# TYPE (\S+) counter", text, re.MULTILINE)
                self.assertEqual(sorted(said), sorted(f"{name}_total no help text" for name in counters))

    def test_is_taken_by_the_textfile_collector_of_node_exporter(self):
        exporter = needed("prometheus-node-exporter")
        folder = self.folder / "textfiles"
        folder.mkdir()
        for name, text in self.written():
            if name != "hostile":  # has the same series as "good" in another file
                (folder / f"{name}.prom").write_text(text, encoding="utf-8")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        command = [exporter, "--collector.disable-defaults", "--collector.textfile"]
        running = subprocess.Popen(
            [*command, f"--collector.textfile.directory={folder}", f"--web.listen-address={address}"],
            stderr=subprocess.DEVNULL,
        )
        try:
            served = self.fetched(f"http://{address}/metrics")
        finally:
            running.terminate()
            running.wait()
        self.assertIn("node_textfile_scrape_error 0", served)
        self.assertIn("\nxferbench_check_passes{", served)
        self.assertIn("# TYPE xferbench_overlap_pipeline_seconds gauge", served)

    def fetched(self, address):
        until = time.monotonic() + 30
        while True:
            try:
                with urllib.request.urlopen(address, timeout=10) as answer:
                    return answer.read().decode()
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)

    def test_of_a_run_stays_as_it_was_until_the_run_ends(self):
        """Until the run ends, monitoring reads the file of the run before."""
        path = self.folder / "run.prom"
        path.write_text("before\n", encoding="utf-8")
        results = self.folder / "r.json"
        words = ["memcpy", "--size", "4K:64M:x2", "--simulate", "--no-verify", "--quiet", "--json", results]
        words += ["--openmetrics", path]
        running = subprocess.Popen([PROGRAM, *map(str, words)], stdout=subprocess.DEVNULL)
        while running.poll() is None:
            text = path.read_text(encoding="utf-8")
            self.assertTrue(text == "before\n" or text.endswith("# EOF\n"), text[-100:])
            time.sleep(0.005)
        self.assertTrue(path.read_text(encoding="utf-8").endswith("# EOF\n"))
        self.assertEqual((self.folder / "run.prom~").read_text(encoding="utf-8"), "before\n")


class Rendered(html.parser.HTMLParser):
    """GitHub's rendering of a text: cells by table and row, words, and the elements used."""

    WITHOUT_END = {"br", "hr", "img", "input"}

    def __init__(self, page):
        super().__init__()
        self.open, self.elements, self.tables, self.words = [], set(), [], ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        if tag not in self.WITHOUT_END:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        if tag not in self.WITHOUT_END and (not self.open or self.open.pop() != tag):
            raise AssertionError(f"</{tag}> closes nothing")

    def handle_data(self, data):
        self.words += data
        if "td" in self.open or "th" in self.open:
            self.tables[-1][-1][-1] += data


class Markdown(Written):
    """Rendered by cmark-gfm, GitHub's own renderer. --unsafe keeps HTML in the text, so that injected elements would
    show."""

    OURS = {"h1", "h2", "h3", "p", "ul", "li", "strong", "em", "code", "details", "summary", "a", "br",
            "table", "thead", "tbody", "tr", "th", "td"}  # fmt: skip

    def rendered(self, text):
        command = [needed("cmark-gfm"), "--unsafe", *("--extension", "table", "--extension", "autolink")]
        page = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
        rendered = Rendered(page)
        self.assertEqual(rendered.open, [])
        self.assertLessEqual(rendered.elements, self.OURS)
        self.assertNotIn("|---", rendered.words, "a table that was not taken for one")
        for table in rendered.tables:
            self.assertEqual({len(row) for row in table}, {len(table[0])})
            self.assertTrue(all(table[0]), table[0])
        return rendered

    def test_of_compare_has_each_case_in_a_row_of_a_table(self):
        files = (self.quick, self.slower())
        said = json.loads(xferbench("compare", *files, "--json", "-", code=1).stdout)
        rendered = self.rendered(xferbench("compare", *files, "--markdown", "-", code=1).stdout)
        tables = [table for table in rendered.tables if table[0][0] == "verdict"]
        rows = [row for table in tables for row in table[1:]]
        keys = {row[table[0].index("case")] for table in tables for row in table[1:]}
        verdicts = [row["verdict"] for row in said["cases"]]
        self.assertEqual(sorted(row[0] for row in rows), sorted(verdicts))
        self.assertIn("regressed", verdicts)
        self.assertEqual(keys, {row["key"] for row in said["cases"]})

    def test_has_names_that_mean_ill_as_words(self):
        compared = support.run("compare", self.cut, self.quick, "--markdown", "-").stdout
        checked = xferbench("check", self.quick, self.cut, "--expect", self.hostile, "--markdown", "-", code=1).stdout
        for name, text in (("compare", compared), ("check", checked)):
            with self.subTest(name):
                self.assertIn("<d>", self.rendered(text).words)

    def test_of_a_run_has_the_tables_of_the_terminal(self):
        few = ("--max-samples", "2", "--min-samples", "2", "--budget", "0.001", "--simulate", "--quiet")
        run = xferbench("memcpy", "--dir", "h2d,d2h", "--host", "pinned", "--size", "1M,2M", *few, "--markdown", "-").stdout
        self.assertTrue(any(len(table) == 5 for table in self.rendered(run).tables))


class Annotations(Written):
    def test_of_check_are_lines_on_standard_error_and_nothing_else_changes(self):
        words = ("check", self.quick, "--expect", self.hostile)
        plain = xferbench(*words, code=1)
        told = xferbench(*words, "--annotations", "github", code=1)
        self.assertEqual(told.stdout, plain.stdout)
        lines = told.stderr.splitlines()
        self.assertEqual(len(lines), 2, told.stderr)
        for line in lines:
            self.assertRegex(line, r"^::error title=[^:,\n]*::[^\r\n]+$")

    def test_of_compare_are_there_although_it_is_quiet(self):
        slower = self.slower()
        told = xferbench("compare", self.quick, slower, "--quiet", "--annotations", "github", code=1)
        lines = told.stderr.splitlines()
        self.assertGreater(len(lines), 1)
        self.assertLessEqual(len(lines), 10)
        for line in lines:
            self.assertRegex(line, r"^::error title=xferbench( compare)?%3A [^:,\n]*::[^\r\n]+$")


if __name__ == "__main__":
    unittest.main()

"""Output in formats of other programs (--format), read as those programs do, and the files for Grafana, ReFrame and
SuperBench under packaging/, run with stand-ins for those programs."""

import argparse
import importlib.util
import json
import math
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import types
import unittest

import support
import vendor
from support import PROGRAM, RESULTS, ROOT

FORMATS = ("bmf", "github-smaller", "github-bigger", "nvbandwidth")
FEW = ("--simulate", "h200-x8", "--gpus", "2", "--max-samples", "8", "--budget", "0.01", "--quiet")
CASES = (
    *("memcpy", "--size", "1M,16M", "--host", "pinned,pageable"),  # of small ones, several share a sample
    *("p2p", "--size", "1M", "--dir", "all", "latency", "--op", "chase"),
    *("overlap", "--size", "4M", "alloc", "--size", "4K", "smem", "--size", "4M"),
)
# Bencher's documentation gives this schema in other words: benchmarks, their measures, and the numbers of each.
BMF = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"minLength": 1, "maxLength": 64},
        "additionalProperties": {
            "type": "object",
            "required": ["value"],
            "properties": {name: {"type": "number"} for name in ("value", "lower_value", "upper_value")},
            "additionalProperties": False,
        },
    },
    "propertyNames": {"minLength": 1, "maxLength": 1024},
}


@unittest.skipUnless(PROGRAM, "XFERBENCH_PROGRAM does not name the program")
class Written(support.Folder):
    @classmethod
    def setUpClass(cls):
        """One run of several scenarios, in all formats."""
        super().setUpClass()
        cls.folder_of_run = pathlib.Path(support.tempfile.mkdtemp(prefix="xferbench-formats-"))
        files = {name: cls.folder_of_run / name for name in FORMATS}
        words = [f"--format={name}={path}" for name, path in files.items()]
        support.run(*FEW, "--json", cls.folder_of_run / "results.json", *words, *CASES, code=0)
        cls.text = {name: path.read_text(encoding="utf-8") for name, path in files.items()}
        cls.read = {name: json.loads(text) for name, text in cls.text.items()}
        cls.results = json.loads((cls.folder_of_run / "results.json").read_text(encoding="utf-8"))["results"]
        cls.ok = [one for one in cls.results if one["status"] == "ok"]

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder_of_run)
        super().tearDownClass()


class Bencher(Written):
    def test_has_the_numbers_of_all_cases_by_the_schema_of_bencher(self):
        import jsonschema

        numbers = self.read["bmf"]
        jsonschema.Draft7Validator(BMF).validate(numbers)
        self.assertEqual(set(numbers), {one["key"] + " [SIMULATED]" for one in self.ok})
        for measures in numbers.values():
            for number in measures.values():
                self.assertLessEqual(number.get("lower_value", number["value"]), number["value"])
                self.assertGreaterEqual(number.get("upper_value", number["value"]), number["value"])

    def test_has_the_time_that_the_results_have(self):
        for one in self.ok:
            if not one["key"].startswith("memcpy/"):
                continue
            (copy,) = [m for m in one["measurements"] if m["name"] == "copy"]
            number = self.read["bmf"][one["key"] + " [SIMULATED]"]["latency"]
            self.assertAlmostEqual(number["value"], copy["median"] * 1e9, delta=1e-6 * number["value"])
            self.assertAlmostEqual(number["lower_value"], copy["ci95"][0] * 1e9, delta=1e-6 * number["value"])

    def test_has_rates_whose_intervals_are_those_of_the_times(self):
        """A rate and its time belong together: their product is a whole number of bytes."""
        rates = 0
        for name, measures in self.read["bmf"].items():
            for measure in ("bandwidth", "memory_traffic"):
                if measure not in measures:
                    continue
                rates += 1
                count = measures[measure]["value"] * measures["latency"]["value"]
                self.assertAlmostEqual(count, round(count), delta=1e-6 * count, msg=name)
        self.assertGreater(rates, 20)


class GithubActionBenchmark(Written):
    """The reader takes a list with name, value and unit, and optionally range and extra, both texts."""

    def test_is_read_as_the_action_reads_it(self):
        for name in ("github-smaller", "github-bigger"):
            entries = self.read[name]
            self.assertEqual(len({entry["name"] for entry in entries}), len(entries))
            for entry in entries:
                self.assertLessEqual(set(entry), {"name", "value", "unit", "range", "extra"})
                self.assertTrue(math.isfinite(entry["value"]))
                self.assertIn("[SIMULATED]", entry["name"])
                self.assertIn("SIMULATED by profile", entry["extra"])
                if "range" in entry:
                    self.assertGreaterEqual(float(re.search(r"(?:\+-|±)\s*(\d.+)", entry["range"])[1]), 0)

    def test_has_times_in_one_file_and_rates_in_the_other(self):
        smaller, bigger = self.read["github-smaller"], self.read["github-bigger"]
        self.assertGreaterEqual(len(smaller), len(self.ok))
        self.assertEqual({entry["unit"] for entry in smaller}, {"us"})
        self.assertEqual({entry["unit"] for entry in bigger}, {"GB/s"})


class Nvbandwidth(Written):
    def cases(self):
        return {case["name"]: case for case in self.read["nvbandwidth"]["nvbandwidth"]["testcases"]}

    def test_has_what_readers_need(self):
        """DCGM, which runs nvbandwidth, refuses output without these fields or with other types."""
        root = self.read["nvbandwidth"]["nvbandwidth"]
        for name, kind in (("CUDA Runtime Version", int), ("Driver Version", str), ("git_version", str)):
            self.assertIsInstance(root[name], kind)
        self.assertIn("SIMULATED", root["warning"])
        self.assertEqual(len(root["GPU Device list"]), 2)
        for case in root["testcases"]:
            self.assertIn(case["status"], ("Passed", "Error", "Waived"))
            if case["status"] != "Passed":
                continue
            self.assertTrue(case["bandwidth_description"])
            rows = case["bandwidth_matrix"]
            self.assertEqual({len(row) for row in rows}, {2})
            numbers = [float(cell) for row in rows[-2:] for cell in row if cell != "N/A"]
            self.assertAlmostEqual(sum(numbers), case["sum"], delta=1e-3 * case["sum"])
            self.assertAlmostEqual(min(numbers), case["min"], delta=1e-3 * case["min"])
            self.assertAlmostEqual(max(numbers), case["max"], delta=1e-3 * case["max"])

    def test_has_the_cases_with_a_counterpart(self):
        cases = self.cases()
        host = ["host_to_device_memcpy_ce", "device_to_host_memcpy_ce", "device_local_copy"]
        host += [f"{way}_bidirectional_memcpy_ce" for way in ("host_to_device", "device_to_host")]
        peers = [f"device_to_device_{both}memcpy_{way}_ce" for both in ("", "bidirectional_") for way in ("read", "write")]
        latency = cases.pop("host_device_latency_sm")
        self.assertEqual(latency["status"], "Waived")  # the simulator does not model it
        self.assertEqual(set(cases), {*host, *peers})
        self.assertEqual({len(cases[name]["bandwidth_matrix"]) for name in host}, {1})
        self.assertEqual([len(cases[name]["bandwidth_matrix"]) for name in peers], [2, 2, 6, 6])

    def test_says_how_many_cases_are_left_out(self):
        said = support.run("memcpy", "--dir", "h2d", "--size", "1M,4M", "--simulate", "--format", "nvbandwidth", code=0)
        self.assertRegex(said.stderr, "--format nvbandwidth: 3 of 4 cases have no number in it")
        cases = json.loads(said.stdout)["nvbandwidth"]["testcases"]
        self.assertEqual([case["name"] for case in cases], ["host_to_device_memcpy_ce"])


class OfStoredFiles(Written):
    def test_is_the_same_as_that_of_the_run(self):
        stored = self.folder_of_run / "results.json"
        for name in FORMATS:
            self.assertEqual(support.run("report", stored, "--quiet", f"--format={name}", code=0).stdout, self.text[name])

    def test_is_of_real_results_without_a_mark(self):
        quick = RESULTS / "h200-quick.json"
        numbers = json.loads(support.run("report", quick, "--format", "bmf", code=0).stdout)
        self.assertFalse([name for name in numbers if "[" in name])
        warned = json.loads(support.run("report", quick, "--format", "nvbandwidth", code=0).stdout)["nvbandwidth"]
        self.assertNotIn("warning", warned)
        self.assertEqual(warned["CUDA Runtime Version"], 13000)

    def test_needs_one_run(self):
        quick, slower = RESULTS / "h200-quick.json", self.write("x.json", support.slower(RESULTS / "h200-quick.json", 2))
        self.assertIn("one run", support.run("report", quick, slower, "--format", "bmf", code=2).stderr)


@unittest.skipUnless(PROGRAM, "XFERBENCH_PROGRAM does not name the program")
class Flag(support.Folder):
    def test_is_written_by_a_suite_of_several_processes_and_a_resumed_run(self):
        results, numbers = self.folder / "r.json", self.folder / "b.json"
        few = ("--simulate", "--max-samples", "6", "--budget", "0.001", "--quiet")
        suite = self.write("suite.json", {"schema": "xferbench-suite/1", "description": "d", "processes": 2,
                                          "runs": ["memcpy --dir h2d --host pinned --size 1M"]})  # fmt: skip
        support.run("--suite", suite, *few, "--json", results, f"--format=bmf={numbers}", code=0)
        self.assertEqual(len(json.loads(numbers.read_text(encoding="utf-8"))), 1)
        support.run("memcpy", "--size", "1M", *few, "--json", results, code=0)
        report = json.loads(results.read_text(encoding="utf-8"))
        count = len(report["results"])
        del report["results"][0]
        report["complete"] = False
        results.write_text(json.dumps(report), encoding="utf-8")
        support.run("--resume", results, "--quiet", f"--format=bmf={numbers}", code=0)
        self.assertEqual(len(json.loads(numbers.read_text(encoding="utf-8"))), count)


class Types:
    """The interfaces of Grafana's TypeScript declarations: fields, with their type and whether they are required."""

    def __init__(self, text):
        self.fields = {}
        for name, body in re.findall(r"^export interface (\w+) \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL):
            body = re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL)
            found = re.findall(r"^ {4}(\w+)(\??): (.*?);?$", body, re.MULTILINE)
            self.fields[name] = {field: (optional == "", kind) for field, optional, kind in found}

    def faults(self, value, kind):
        """What is wrong with a value of the interface, and with all that it contains."""
        fields = self.fields[kind]
        unknown = [f"{kind} has no {name}" for name in value if name not in fields]
        missing = [f"{kind} lacks {name}" for name, (needed, _) in fields.items() if needed and name not in value]
        inner = []
        for name, content in value.items():
            its = re.sub(r"^Array<(.*)>$", r"\1", fields.get(name, (False, ""))[1])
            for one in content if isinstance(content, list) else [content]:
                chosen = "RowPanel" if isinstance(one, dict) and one.get("type") == "row" else "Panel"
                its_kind = chosen if its == "(Panel | RowPanel)" else its
                if isinstance(one, dict) and its_kind in self.fields:
                    inner += self.faults(one, its_kind)
        return unknown + missing + inner


class Grafana(unittest.TestCase):
    FILE = ROOT / "packaging" / "grafana" / "xferbench.json"

    @classmethod
    def setUpClass(cls):
        cls.dashboard = json.loads(cls.FILE.read_text(encoding="utf-8"))
        cls.targets = [target for panel in cls.dashboard["panels"] for target in panel.get("targets", [])]

    def names(self):
        """Metrics of the expressions, named as families are: without the ending of a counter."""
        found = [name for target in self.targets for name in re.findall(r"\bxferbench_\w+", target["expr"])]
        return {name.removesuffix("_total") for name in found}

    def test_shows_exactly_the_metrics_that_the_program_writes(self):
        published = (ROOT / "tests" / "published" / "names.txt").read_text(encoding="utf-8")
        self.assertEqual(self.names(), set(re.findall(r"^openmetrics (\S+)$", published, re.MULTILINE)))

    @unittest.skipUnless(PROGRAM, "XFERBENCH_PROGRAM does not name the program")
    def test_uses_labels_that_the_program_writes(self):
        texts = [
            support.run("check", RESULTS / "h200-quick.json", "--expect", "h200", "--openmetrics", "-", code=0).stdout,
            support.run("soak", "--simulate", "--for", "1s", "--size", "4M", "--openmetrics", "-", code=0).stdout,
            support.run("memcpy", "--size", "1M", "--simulate", "--quiet", "--openmetrics", "-", code=0).stdout,
        ]
        written = {"instance", "rank", *re.findall(r'[{,](\w+)="', "\n".join(texts))}  # Prometheus adds the instance
        used = {label for target in self.targets for label in re.findall(r"{{(\w+)}}", target["legendFormat"])}
        grouped = [by for target in self.targets for by in re.findall(r"by \(([^)]*)\)", target["expr"])]
        self.assertLessEqual(used | {label for by in grouped for label in by.split(", ")}, written)

    def test_is_a_dashboard_by_the_declarations_of_grafana(self):
        try:
            types_of_grafana = Types(vendor.source(vendor.GRAFANA))
        except vendor.Missing as error:
            self.skipTest(str(error))
        self.assertEqual(types_of_grafana.faults(self.dashboard, "Dashboard"), [])
        for variable in self.dashboard["templating"]["list"]:
            self.assertEqual(types_of_grafana.faults(variable, "VariableModel"), [])

    def test_has_a_data_source_to_choose_and_panels_that_do_not_overlap(self):
        self.assertRegex(self.dashboard["uid"], r"^[\w-]{1,40}$")
        variables = {one["name"]: one for one in self.dashboard["templating"]["list"]}
        self.assertEqual((variables["datasource"]["type"], variables["datasource"]["query"]), ("datasource", "prometheus"))
        taken, ids = set(), set()
        for panel in self.dashboard["panels"]:
            ids.add(panel["id"])
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24)
            for x in range(place["x"], place["x"] + place["w"]):
                for y in range(place["y"], place["y"] + place["h"]):
                    self.assertNotIn((x, y), taken, panel["title"])
                    taken.add((x, y))
            self.assertEqual(len({target["refId"] for target in panel.get("targets", [])}), len(panel.get("targets", [])))
        self.assertEqual(len(ids), len(self.dashboard["panels"]))
        for target in self.targets:
            self.assertEqual(target["datasource"], {"type": "prometheus", "uid": "${datasource}"})

    def test_has_expressions_that_prometheus_parses(self):
        promtool = shutil.which("promtool")
        if not promtool:
            self.skipTest("promtool is not installed")
        with support.tempfile.TemporaryDirectory() as folder:
            rules = pathlib.Path(folder) / "rules.yml"
            expressions = [target["expr"].replace("$__rate_interval", "5m") for target in self.targets]
            listed = [{"record": f"rule:{i}", "expr": text} for i, text in enumerate(expressions)]
            rules.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": listed}]}), encoding="utf-8")
            outcome = subprocess.run([promtool, "check", "rules", rules], capture_output=True, text=True, check=False)
        self.assertEqual(outcome.returncode, 0, outcome.stdout + outcome.stderr)


def loaded(path, modules):
    """The module of that file, run with stand-ins for other modules."""
    before = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    try:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        vars(module).update(getattr(modules.get("reframe"), "builtins", {}))
        spec.loader.exec_module(module)
    finally:
        for name, old in before.items():
            sys.modules.pop(name) if old is None else sys.modules.update({name: old})
    return module


class ReFrame:
    """A stand-in for ReFrame 4: what its documentation says of the names that the check uses."""

    class SanityError(Exception):
        pass

    def __init__(self):
        self.tests = []

    def modules(self):
        def ensure(holds, msg):
            if not holds:
                raise self.SanityError(msg)
            return True

        names = ("reframe", "reframe.utility", "reframe.utility.sanity", "reframe.utility.typecheck")
        reframe, utility, sanity, typecheck = (types.ModuleType(name) for name in names)
        reframe.simple_test = lambda test: self.tests.append(test) or test
        reframe.RunOnlyRegressionTest = type("RunOnlyRegressionTest", (), {"perf_variables": {}})
        # ReFrame defines these names for the bodies of test classes.
        hook = lambda stage: lambda function: setattr(function, "before", stage) or function
        sanity_function = lambda function: setattr(function, "is_sanity", True) or function
        reframe.builtins = {"variable": lambda kind, value: kind(value), "run_before": hook,
                            "sanity_function": sanity_function}  # fmt: skip
        sanity.assert_true = lambda holds, msg=None: ensure(holds, msg)
        sanity.assert_eq = lambda one, other, msg=None: ensure(one == other, msg)
        sanity.all = all
        sanity.defer = lambda value: types.SimpleNamespace(evaluate=lambda: value)
        sanity.make_performance_function = lambda value, unit: (value.evaluate(), unit)
        typecheck.List = {str: list}
        reframe.utility, utility.sanity, utility.typecheck = utility, sanity, typecheck
        return dict(zip(names, (reframe, utility, sanity, typecheck)))


@unittest.skipUnless(PROGRAM, "XFERBENCH_PROGRAM does not name the program")
class ReFrameCheck(support.Folder):
    def ran(self, **variables):
        """The check after ReFrame's stages `run`, `sanity` and `performance`."""
        reframe = ReFrame()
        loaded(ROOT / "packaging" / "reframe" / "xferbench_check.py", reframe.modules())
        (test,) = reframe.tests
        check = test()
        check.stagedir, check.perf_variables = str(self.folder), {}
        vars(check).update(variables)
        check.set_options()
        self.assertEqual(check.set_options.before, "run")
        words = [PROGRAM, *check.executable_opts]
        subprocess.run(words, cwd=self.folder, stdout=subprocess.DEVNULL, check=False, timeout=300)
        self.assertTrue(check.all_cases_ran.is_sanity)
        check.all_cases_ran()
        check.set_performance_variables()
        self.assertEqual(check.set_performance_variables.before, "performance")
        return check

    def suite(self, command="memcpy --dir h2d,d2h --host pinned --size 1M"):
        return str(self.write("s.json", {"schema": "xferbench-suite/1", "description": "d", "runs": [command]}))

    FLAGS = ["--simulate", "--max-samples", "6", "--budget", "0.001"]

    def test_has_each_number_with_its_unit_as_a_performance_variable(self):
        check = self.ran(suite=self.suite(), flags=self.FLAGS, simulated=True)
        numbers = check.perf_variables
        self.assertEqual(len(numbers), 4)
        for name, (value, unit) in numbers.items():
            self.assertRegex(name, r"^memcpy/dir=(h2d|d2h)/[^\s:*]*_\[SIMULATED\]_(copy|bandwidth)$")
            self.assertGreater(value, 0)
            self.assertEqual(unit, "us" if name.endswith("copy") else "GB/s")
        for name in check.keep_files:
            self.assertTrue((self.folder / name).is_file())

    def test_fails_on_simulated_and_failed_cases(self):
        with self.assertRaisesRegex(ReFrame.SanityError, "simulated"):
            self.ran(suite=self.suite(), flags=self.FLAGS)
        results = self.folder / "results.json"
        report = json.loads(results.read_text(encoding="utf-8"))
        report["results"][0].update(status="failed", reason="wrong byte")
        results.write_text(json.dumps(report), encoding="utf-8")
        reframe = ReFrame()
        loaded(ROOT / "packaging" / "reframe" / "xferbench_check.py", reframe.modules())
        check = reframe.tests[0]()
        check.stagedir, check.simulated = str(self.folder), True
        with self.assertRaisesRegex(ReFrame.SanityError, "wrong byte"):
            check.all_cases_ran()


class SuperBench:
    """A stand-in for SuperBench: the parts of its base class that its own micro-benchmarks rely on."""

    def __init__(self):
        self.benchmarks = {}

    def modules(self):
        class MicroBenchmarkWithInvoke:
            def __init__(self, name, parameters=""):
                self._name, self._argv, self._commands = name, shlex.split(parameters), []
                self._parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
                self._result = types.SimpleNamespace(raw={}, numbers={})
                self._result.add_raw_data = lambda name, text, log: self._result.raw.setdefault(name, []).append(text)
                self._result.add_result = lambda name, value: self._result.numbers.setdefault(name, []).append(value)

            def add_parser_arguments(self):
                self._parser.add_argument("--bin_dir", default=None)
                self._parser.add_argument("--log_raw_data", action="store_true")

            def _preprocess(self):
                self.add_parser_arguments()
                self._args = self._parser.parse_args(self._argv)
                path = shutil.which(self._bin_name, path=self._args.bin_dir)
                self._args.bin_dir = path and str(pathlib.Path(path).parent)
                return path is not None

            def run(self):
                if not self._preprocess():
                    return False
                for i, command in enumerate(self._commands):
                    done = subprocess.run(command, shell=True, text=True, stdout=subprocess.PIPE,
                                          stderr=subprocess.STDOUT, cwd=self._args.bin_dir, check=False)  # fmt: skip
                    if done.returncode != 0 or not self._process_raw_result(i, done.stdout):
                        return False
                return True

        names = ("superbench", "superbench.benchmarks", "superbench.benchmarks.micro_benchmarks",
                 "superbench.common", "superbench.common.utils")  # fmt: skip
        made = {name: types.ModuleType(name) for name in names}
        benchmarks = made["superbench.benchmarks"]
        benchmarks.Platform = types.SimpleNamespace(CUDA="CUDA")
        benchmarks.BenchmarkRegistry = types.SimpleNamespace(
            register_benchmark=lambda name, made_by, platform=None: self.benchmarks.update({name: made_by})
        )
        made["superbench.benchmarks.micro_benchmarks"].MicroBenchmarkWithInvoke = MicroBenchmarkWithInvoke
        made["superbench.common.utils"].logger = types.SimpleNamespace(error=lambda text: None)
        return made


@unittest.skipUnless(PROGRAM, "XFERBENCH_PROGRAM does not name the program")
class SuperBenchBenchmark(support.Folder):
    def made(self, flags, command="memcpy --dir h2d --host pinned --size 1M"):
        superbench = SuperBench()
        loaded(ROOT / "packaging" / "superbench" / "xferbench.py", superbench.modules())
        suite = self.write("s.json", {"schema": "xferbench-suite/1", "description": "d", "runs": [command]})
        words = ["--bin_dir", str(pathlib.Path(PROGRAM).resolve().parent), "--suite", str(suite), f"--flags={flags}"]
        return superbench.benchmarks["xferbench"]("xferbench", shlex.join(words))

    def test_has_each_number_as_a_result(self):
        benchmark = self.made("--simulate --max-samples 6 --budget 0.001")
        self.assertTrue(benchmark.run(), benchmark._result.raw)
        self.assertEqual(len(benchmark._result.numbers), 2)
        for name, values in benchmark._result.numbers.items():
            self.assertRegex(name, r"^memcpy_dir_h2d_[a-z0-9_.\-]+_simulated_(latency|bandwidth)$")
            self.assertGreater(values[0], 0)

    def test_fails_if_the_program_does_or_writes_no_number(self):
        self.assertFalse(self.made("--simulate nothing").run())
        self.assertFalse(self.made("--simulate", "memcpy --dir h2d --host managed --size 1M").run())


if __name__ == "__main__":
    unittest.main()

"""A wheel of this build, installed into an empty environment, and the module in it: test_python.py BUILD PORTABLE

Also what packaging/sbom.py says of the build. Everything runs on the simulated device.
"""

import functools
import importlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock
import zipfile

import elf

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1])
PORTABLE = sys.argv[2].upper() in ("ON", "TRUE", "1")
QUICKLY = {"size": "4M", "simulate": True, "max_samples": 12, "no_verify": True}

sys.dont_write_bytecode = True
sys.path.insert(1, str(ROOT / "tests/report"))
import vendor  # noqa: E402  not to be compiled


def said(*command, code=0):
    outcome = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=300)
    if outcome.returncode != code:
        raise AssertionError(f"{command} ended with {outcome.returncode}: {outcome.stdout}{outcome.stderr}")
    return outcome.stdout


def setUpModule():
    """Installs the build, makes a wheel of that, and installs the wheel into an environment of its own."""
    global FOLDER, WHEEL
    os.environ.pop("XFERBENCH_PROGRAM", None)  # the module would prefer it
    FOLDER = pathlib.Path(unittest.enterModuleContext(tempfile.TemporaryDirectory(prefix="xferbench-wheel-")))
    said("cmake", "--install", BUILD, "--strip", "--prefix", FOLDER / "installed")
    WHEEL = pathlib.Path(said("/usr/bin/python3", ROOT / "packaging/python/wheel.py", FOLDER / "installed", FOLDER).strip())
    said("/usr/bin/python3", "-m", "venv", FOLDER / "venv")
    said(FOLDER / "venv/bin/pip", "install", "--no-index", "--quiet", WHEEL)
    sys.path.insert(0, str(next(FOLDER.glob("venv/lib/python*/site-packages"))))


def tearDownModule():
    said(FOLDER / "venv/bin/pip", "uninstall", "--yes", "--quiet", "xferbench")
    left = [path for path in (FOLDER / "venv").rglob("*xferbench*") if path.is_file() and path.suffix != ".pyc"]
    if left:
        raise AssertionError(f"pip left {left}")


@functools.cache
def xferbench():
    """The installed module."""
    return importlib.import_module("xferbench")


class Wheel(unittest.TestCase):
    def test_its_name_says_what_its_programs_need(self):
        with zipfile.ZipFile(WHEEL) as opened:
            opened.extractall(FOLDER / "unpacked")
        programs = [path for path in (FOLDER / "unpacked").rglob("*") if elf.is_elf(path)]
        newest = max(elf.read(path).newest("GLIBC") for path in programs)
        (cmake,) = re.findall(r"^project\(xferbench VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text("utf-8"), re.MULTILINE)
        machine = subprocess.check_output(["uname", "-m"], text=True).strip()
        self.assertEqual(WHEEL.name, f"xferbench-{cmake}-py3-none-manylinux_{newest[0]}_{newest[1]}_{machine}.whl")

    def test_the_program_finds_its_data_and_libraries(self):
        program = FOLDER / "venv/bin/xferbench"
        self.assertIn(f"xferbench {WHEEL.name.split('-')[1]}", said(program, "version"))
        said(program, "--suite", "ci", "--simulate", "--dry-run")
        installed = {path.name for path in (FOLDER / "installed").rglob("*") if elf.is_elf(path)}
        self.assertEqual(installed, {path.name for path in (FOLDER / "venv").rglob("*xferbench*") if elf.is_elf(path)})


class Module(unittest.TestCase):
    def test_runs_the_installed_program(self):
        self.assertEqual(pathlib.Path(xferbench().program()), (FOLDER / "venv/bin/xferbench").resolve())

    def test_a_run_has_what_the_file_has(self):
        run = xferbench().run("memcpy", dir="h2d", host=["pinned", "pageable"], **QUICKLY)
        self.assertEqual((run.simulated, run.complete, run.verified), (True, True, False))
        self.assertEqual([one["params"]["host"] for one in run.results], ["pinned", "pageable"])
        self.assertEqual(run.record["results"], run.results)
        self.assertEqual((repr(run), run.messages), ("<xferbench.Run: 2 results, SIMULATED>", ""))
        run.save(FOLDER / "run.json")
        self.assertEqual(xferbench().read(FOLDER / "run.json").record, run.record)
        said(FOLDER / "venv/bin/xferbench", "report", FOLDER / "run.json")

    def test_rows_are_the_measurements_and_metrics(self):
        run = xferbench().run("memcpy", dir="h2d", host="pinned", **QUICKLY)
        rows, (result,) = run.rows(), run.results
        names = [one["name"] for one in result["measurements"]] + list(result["metrics"])
        self.assertEqual([row["name"] for row in rows], names)
        first, last = rows[0], rows[-1]
        self.assertEqual((first["kind"], last["kind"]), ("measurement", "metric"))
        self.assertEqual(first["value"], result["measurements"][0]["median"])
        self.assertEqual([first["ci95_low"], first["ci95_high"]], result["measurements"][0]["ci95"])
        self.assertEqual((last["value"], last["unit"]), tuple(result["metrics"][last["name"]].values()))
        self.assertEqual((first["params.size"], first["simulated"], first["process"]), (4 << 20, True, 0))

    def test_stored_results_of_every_kind_have_rows(self):
        stored = ROOT / "docs/results"
        for name in ("h200-ci.json.xz", "h100-x2-gpus.json.xz", "h200-overlap-tune-16M.json.xz"):
            run = xferbench().read(stored / name)
            self.assertFalse(run.simulated)
            self.assertEqual({row["key"] for row in run.rows()}, {one["key"] for one in run.results})
        case = {"scenario": "memcpy", "key": "memcpy/size=1", "params": {"size": 1}, "status": "skipped", "reason": "why",
                "measurements": [], "metrics": {}}
        record = {"results": [case], "environment": {"backend": "cuda"}, "further_processes": [{"results": [case]}]}
        rows = xferbench().Run(record).rows()
        self.assertEqual([(row["process"], row["status"], row["reason"]) for row in rows],
                         [(0, "skipped", "why"), (1, "skipped", "why")])

    def test_to_pandas_has_a_line_for_each_row(self):
        try:
            import pandas
        except ModuleNotFoundError:  # scripts/setup --full-tests installs it
            pandas = types.SimpleNamespace(DataFrame=lambda rows: {name: [row[name] for row in rows] for name in ("name", "value")})
        run = xferbench().run("memcpy", dir="h2d", host="pinned", **QUICKLY)
        with unittest.mock.patch.dict(sys.modules, pandas=pandas):
            frame = run.to_pandas()
        for name in ("name", "value"):
            self.assertEqual(list(frame[name]), [row[name] for row in run.rows()])

    def test_needs_no_pandas_until_it_is_asked_for(self):
        script = ("import xferbench; run = xferbench.run('memcpy', size='4M', simulate='h100', no_verify=True, seed=None)\n"
                  "print(len(run.rows()))\ntry: run.to_pandas()\nexcept ModuleNotFoundError as error: print(error.name)")
        rows, missing = said(FOLDER / "venv/bin/python", "-c", script).split()
        self.assertGreater(int(rows), 0)
        self.assertEqual(missing, "pandas")

    def test_errors_are_the_programs(self):
        with self.assertRaises(xferbench().Error) as caught:
            xferbench().run("memcpy", size="256X", simulate=True)
        outcome = subprocess.run([xferbench().program(), "memcpy", "--size=256X", "--simulate"], capture_output=True, text=True,
                                 check=False)
        self.assertEqual((str(caught.exception), caught.exception.exit_code), (outcome.stderr.strip(), 2))
        self.assertIsNone(caught.exception.run)

    def test_a_case_that_fails_is_an_error_with_the_results(self):
        fault = unittest.mock.patch.dict("os.environ", XFERBENCH_INJECT="fail:copy:2")
        with fault, self.assertRaises(xferbench().Error) as caught:
            xferbench().run("memcpy", dir="h2d", host="pinned", size="4M", simulate=True)
        self.assertEqual(caught.exception.exit_code, 1)
        self.assertEqual([one["status"] for one in caught.exception.run.results], ["failed"])

    def test_flags_of_several_files_are_refused(self):
        for name in ("repeat", "json"):
            with self.assertRaisesRegex(ValueError, name):
                xferbench().run("memcpy", **{name: 2})


@functools.cache
def sbom():
    return json.loads(said("/usr/bin/python3", ROOT / "packaging/sbom.py", BUILD, FOLDER / "installed"))


class Sbom(unittest.TestCase):
    def test_is_as_the_standard_says(self):
        import jsonschema

        schema, licences = (json.loads(vendor.source(one)) for one in (vendor.CYCLONEDX, vendor.SPDX_LICENCES))
        resolver = jsonschema.RefResolver.from_schema(
            schema, store={"http://cyclonedx.org/schema/spdx.SNAPSHOT.schema.json": licences}
        )
        jsonschema.Draft7Validator(schema, resolver=resolver).validate(sbom())
        for one in sbom()["components"]:
            for licence in one.get("licenses", []):
                for name in re.split(r" WITH | AND | OR ", licence.get("expression", "")):
                    self.assertIn(name, ["", *licences["enum"]])

    def test_names_what_is_linked_with_version_and_licence(self):
        made = sbom()
        parts = {one["name"]: one for one in made["components"]}
        statically = {name for name, one in parts.items() if {"name": "xferbench:use", "value": "linked statically"} in
                      one.get("properties", [])}
        for name in ("libnuma-dev", "liburing-dev", "libfmt-dev", "nlohmann-json3-dev", "libcli11-dev"):
            installed = subprocess.check_output(["dpkg-query", "-W", "-f", "${Version}", name], text=True)
            self.assertEqual(parts[name]["version"], installed)
            self.assertTrue(parts[name]["licenses"])
        self.assertLessEqual({"libnuma-dev", "liburing-dev"}, statically)
        if PORTABLE:
            self.assertTrue(any(re.fullmatch(r"libstdc\+\+-\d+-dev", name) for name in statically), statically)
        known = {one["bom-ref"] for one in made["components"]} | {"xferbench"}
        for edge in made["dependencies"]:
            self.assertLessEqual({edge["ref"], *edge["dependsOn"]}, known)

    def test_what_is_linked_is_in_the_copyright_file(self):
        text = (ROOT / "packaging/copyright").read_text(encoding="utf-8")
        for name in ("libnuma", "liburing", "fmt", "nlohmann-json", "CLI11", "libstdc++", "cudart"):
            self.assertIn(name, text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

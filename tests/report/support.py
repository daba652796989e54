"""Helpers of these tests: stored results, the program, and a headless browser."""

import atexit
import fnmatch
import functools
import json
import lzma
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest


ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"


class Unpacked:
    """A folder of results files. Compressed files are unpacked on first access, until the process ends."""

    def __init__(self, folder):
        self.folder = folder

    @functools.cached_property
    def whole(self):
        whole = pathlib.Path(tempfile.mkdtemp(prefix="xferbench-results-"))
        atexit.register(shutil.rmtree, whole)
        return whole

    def __truediv__(self, name):
        path, packed = self.whole / name, self.folder / f"{name}.xz"
        if packed.exists() and not path.exists():
            path.write_bytes(lzma.decompress(packed.read_bytes()))
        elif (self.folder / name).exists() and not path.exists():
            path.symlink_to(self.folder / name)
        return path

    def glob(self, pattern):
        names = {path.name.removesuffix(".xz") for path in self.folder.iterdir()}
        return [self / name for name in fnmatch.filter(sorted(names), pattern)]


RESULTS = Unpacked(ROOT / "docs" / "results")

sys.dont_write_bytecode = True

import vendor  # noqa: E402  not to be compiled

PROGRAM = os.environ.get("XFERBENCH_PROGRAM", "")


def run(*arguments, code=None, folder=None):
    """Runs the program; fails on another exit code than `code`, if given."""
    outcome = subprocess.run(
        [PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False, cwd=folder, timeout=300
    )
    if code is not None and outcome.returncode != code:
        raise AssertionError(f"{arguments} ended with {outcome.returncode}: {outcome.stderr}")
    return outcome


def blocks(page):
    """The code blocks of a Markdown page, each with its language."""
    return re.findall(r"^```([\w+]*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def put_script(path, text):
    """Writes an executable script and makes its folder. Returns its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def slower(path, factor):
    """The file's results on a slower machine: times are multiplied by `factor`, and metrics where more is better
    divided."""
    report = json.loads(path.read_text(encoding="utf-8"))
    for found in report["results"]:
        for one in found["measurements"]:
            one |= {name: one[name] * factor for name in ("min", "median", "max", "p90", "p99") if name in one}
            one |= {name: [value * factor for value in one[name]] for name in ("samples", "ci95") if name in one}
        for name, metric in found["metrics"].items():
            if metric["unit"] == "s":
                metric["value"] *= factor
            elif metric["unit"] == "GB/s" or name in ("efficiency", "of_pinned"):
                metric["value"] /= factor
    return report


def compare(*arguments):
    """The JSON of `xferbench compare`."""
    outcome = run("compare", "--quiet", "--json", "-", *arguments)
    if outcome.returncode not in (0, 1, 4):
        raise AssertionError(outcome.stderr)
    return json.loads(outcome.stdout)


def require_program():
    if not PROGRAM:
        sys.exit("XFERBENCH_PROGRAM does not name the program to test with; ctest sets it")


def main():
    """Runs the test classes named on the command line. By default all except those ending in Long, which are slower
    forms of the others; with the argument Long only those."""
    long = sys.argv[1:] == ["Long"]
    ours = {name: one for name, one in vars(sys.modules["__main__"]).items() if isinstance(one, type)}
    tests = [name for name, one in ours.items() if issubclass(one, unittest.TestCase)]
    wanted = [name for name in tests if name.endswith("Long") == long]
    unittest.main(argv=sys.argv[:1] if long else None, defaultTest=wanted)


class Folder(unittest.TestCase):
    """A test in a temporary folder."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="xferbench-report-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def write(self, name, value):
        path = self.folder / name
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
        return str(path)


def measurement(name="copy", median=1e-3, unit="s", **more):
    """A valid measurement with ten samples and an interval of one percent."""
    samples = [median * (1 + 0.002 * step) for step in (-4, -3, -2, -1, 0, 0, 1, 2, 3, 4)]
    return {
        "name": name,
        "clock": "event",
        "unit": unit,
        "samples": samples,
        "n": 10,
        "min": samples[0],
        "median": median,
        "max": samples[-1],
        "ci95": [median * 0.995, median * 1.005],
        "p90": samples[-2],
        "stop": "ci",
        "batch": 1,
        "warmup": {"runs": 3, "converged": True},
        "outliers": {"mild": 0, "severe": 0},
        "flags": [],
        **more,
    }


def sampled(samples, unit="s", name="copy"):
    """A measurement of these samples in run order."""
    ordered = sorted(samples)
    found = measurement(name, statistics.median(ordered), unit)
    return found | {
        "samples": list(samples),
        "n": len(ordered),
        "min": ordered[0],
        "max": ordered[-1],
        "ci95": [ordered[0], ordered[-1]],
        "p90": ordered[9 * len(ordered) // 10],
    }


def samples(chance, n, scale=1.0, ties=False):
    """Samples with the skew of times, in random order."""
    found = [1e-3 * scale * math.exp(0.02 * chance.gauss(0, 1)) + 2e-5 * chance.expovariate(1) for _ in range(n)]
    return [round(value, 5) for value in found] if ties else found


def case(scenario="memcpy", params=None, measurements=None, metrics=None, **more):
    params = {"dir": "h2d", "size": 1048576} if params is None else params
    key = "/".join([scenario, *(f"{name}={value}" for name, value in params.items())])
    found = {name: {"value": value, "unit": unit} for name, (value, unit) in (metrics or {}).items()}
    return {
        "scenario": scenario,
        "key": key,
        "params": params,
        "status": "ok",
        "reason": "",
        "warnings": [],
        "measurements": [measurement()] if measurements is None else measurements,
        "metrics": found,
        "labels": {},
        **more,
    }


def results(cases=(), simulated=False, gpu="NVIDIA Test", **more):
    environment = {"backend": "cuda", "gpu": {"name": gpu}, "host": {}, "variables": {}}
    if simulated:
        environment |= {"backend": "simulated", "profile": "h200"}
    return {
        "schema": "xferbench/1",
        "complete": True,
        "started_at": "2025-01-01T00:00:00Z",
        "tool": {"version": "0.1.0", "build": {"compiler": "GNU 12"}},
        "command": ["xferbench", "memcpy"],
        "environment": environment,
        "results": list(cases),
        "findings": [],
        **more,
    }


def first_of(*commands):
    return next((found for found in map(shutil.which, commands) if found), None)


BROWSER = first_of("chromium", "chromium-browser", "google-chrome")
DRIVER = first_of("chromedriver", "chromium.chromedriver")


def start_browser(dark=False, width=1360, height=1000, reach=""):
    """A headless browser that can reach only the host `reach`: other names do not resolve, and the proxy port is
    closed."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = BROWSER
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-gpu",
        f"--window-size={width},{height}",
        f"--host-resolver-rules=MAP * ~NOTFOUND{f', EXCLUDE {reach}' if reach else ''}",
        "--proxy-server=127.0.0.1:9",
        "--force-device-scale-factor=1",
        "--disable-background-networking",
        "--no-first-run",
        "--disable-extensions",
        *(["--force-dark-mode", "--blink-settings=preferredColorScheme=0"] if dark else []),
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(service=Service(executable_path=DRIVER), options=options)
    browser.set_script_timeout(120)
    browser.set_page_load_timeout(120)
    return browser


@functools.cache
def browser():
    """The browser shared by all tests of a program: starting one takes as long as one or two pages."""
    started = start_browser()
    unittest.addModuleCleanup(started.quit)
    return started


class BrowserTest(Folder):
    """A test of pages in a browser."""

    @classmethod
    def setUpClass(cls):
        cls.browser = browser()

    def open(self, page):
        """Loads a page and drops earlier log entries of the browser."""
        for kind in ("browser", "performance"):
            self.browser.get_log(kind)
        self.browser.get(pathlib.Path(page).as_uri())

    def emulate(self, width, height, dark=False):
        """Sets the window size and the colour scheme until the end of the test."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        self.addCleanup(self.browser.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})
        self.addCleanup(self.browser.execute_cdp_cmd, "Emulation.setEmulatedMedia", {"features": []})

    def press(self, *keys):
        """Sends keys to the focused element."""
        from selenium.webdriver.common.action_chains import ActionChains

        for key in keys:
            ActionChains(self.browser).send_keys(key).perform()

    def run_js(self, code, *arguments):
        return self.browser.execute_script(code, *arguments)

    def serious(self):
        """Findings of axe-core, except moderate and minor ones."""
        self.run_js(vendor.source(vendor.AXE))
        found = self.browser.execute_async_script(
            """const done = arguments[0];
               const said = (one) => ({id: one.id, impact: one.impact,
                                       at: one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))});
               axe.run(document, {resultTypes: ['violations']}).then((found) => done(found.violations.map(said)));"""
        )
        return [one for one in found if one["impact"] in ("serious", "critical")]

    def assert_quiet(self):
        """No error in the console, and no request except for the page itself."""
        worst = [line for line in self.browser.get_log("browser") if line["level"] in ("SEVERE", "WARNING")]
        self.assertEqual(worst, [])
        self.assertEqual(self.run_js("return performance.getEntriesByType('resource').map((one) => one.name);"), [])
        requested = []
        for line in self.browser.get_log("performance"):
            message = json.loads(line["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                requested.append(message["params"]["request"]["url"])
        outside = [url for url in requested if not url.startswith(("file://", "data:"))]
        self.assertEqual(outside, [])
        self.assertEqual(len([url for url in requested if url.startswith("file://")]), 1, requested)

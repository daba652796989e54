"""The documentation: links lead to existing targets, commands are valid, and the results it quotes exist, are
described, and meet the expectations for their machine."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import support
from support import RESULTS, ROOT

PROGRAM = os.environ.get("XFERBENCH_PROGRAM", "")
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
)
SOURCES = [
    path
    for folder in ("src", "scenarios", "kernels", "scripts", "tests", "cmake", "docs/examples", "examples")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".cpp", ".hpp", ".cu", ".cuh", ".py", ".yml", ".cmake", ".sh", "") and path.is_file()
]


def without_code(text):
    """The page without code blocks, in which brackets are not links and # is not a heading."""
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(page):
    """Anchors of the page, as GitHub derives them from headings."""
    found = re.findall(r"^#+ (.*)$", without_code(page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


class Links(unittest.TestCase):
    def test_lead_to_files_and_headings_that_exist(self):
        links = 0
        for page in PAGES:
            for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text(encoding="utf-8"))):
                if target.startswith("https://"):
                    continue
                links += 1
                path, _, anchor = target.partition("#")
                file = (page.parent / path).resolve() if path else page
                with self.subTest(page=str(page.relative_to(ROOT)), link=target):
                    self.assertTrue(file.exists(), "no such file")
                    if anchor:
                        self.assertIn(anchor, anchors(file))
        self.assertGreater(links, 200)

    def test_every_page_is_in_the_overview(self):
        overview = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
        for page in PAGES:
            path = os.path.relpath(page, ROOT / "docs")
            if path != "README.md":
                self.assertIn(f"]({path})", overview)

    def test_comments_name_pages_and_headings_that_exist(self):
        """A comment may wrap after the page's name, so comment marks at the beginning of lines are skipped."""
        named = re.compile(r'(docs/[\w/-]+\.(?:md|json(?:\.xz)?|yml))(?:, "([^"]+)")?')
        found = 0
        for source in SOURCES:
            text = re.sub(r"\s*\n\s*(?:///?|#)? ?", " ", source.read_text(encoding="utf-8"))
            for path, heading in named.findall(text):
                found += 1
                with self.subTest(source=str(source.relative_to(ROOT)), names=path, heading=heading):
                    self.assertTrue((ROOT / path).exists())
                    if heading:
                        self.assertIn(heading.lower().replace(" ", "-"), anchors(ROOT / path))
        self.assertGreater(found, 15)


@unittest.skipUnless(PROGRAM, "XFERBENCH_PROGRAM does not name the program")
class Commands(support.Folder):
    """Every line in a shell block that begins with xferbench is a valid command."""

    # Stand-ins for the programs that explain runs, and the file that calibrate reads instead of measuring.
    EXPLAINED, MEASURED = {"xferbench": "", "python3": ""}, " base.json"

    def test_are_understood(self):
        for name in ("base.json", "new.json", "results.json", "today.json", "a100.json", "h200.json", "quick.json", "c-1.json", "c-2.json",
                     "grid.json", "run.json", "smem.json"):
            shutil.copy(RESULTS / "h200-quick.json", self.folder / name)
        for name in ("main", "pr", "new", "baseline/new", "good"):
            (self.folder / name).parent.mkdir(exist_ok=True)
            for number in (1, 2, 3) if name == "good" else (1, 2):
                shutil.copy(RESULTS / "h200-quick.json", self.folder / f"{name}-{number}.json")
        (self.folder / "nightly").mkdir()
        for day in range(1, 6):
            night = json.loads((RESULTS / "h200-quick.json").read_text(encoding="utf-8"))
            night["started_at"] = f"2026-11-0{day}T03:00:00Z"
            self.write(f"nightly/{day}.json", night)
        shutil.copy(ROOT / "docs" / "timelines" / "h200-overlap.json", self.folder / "pipeline.json")
        shutil.copy(ROOT / "tests" / "unit" / "golden" / "explain" / "torch.json", self.folder / "explain.json")
        (self.folder / "my-suite.json").write_text(
            '{"schema": "xferbench-suite/1", "description": "One case", "runs": ["memcpy --dir h2d --size 4K"]}'
        )
        (self.folder / "bin").mkdir()
        for name, script in self.EXPLAINED.items():
            (self.folder / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
            (self.folder / "bin" / name).chmod(0o755)
        (self.folder / "my_app").write_text("#!/bin/sh\n")
        (self.folder / "my_app").chmod(0o755)
        (self.folder / "train.py").write_text("")
        (self.folder / "docs").symlink_to(ROOT / "docs")
        (self.folder / "examples").symlink_to(ROOT / "examples")
        shutil.copy(ROOT / "docs" / "examples" / "h200-spread.json", self.folder / "spread.json")
        commands = {}
        for page in PAGES:
            for line in "".join(text for language, text in support.blocks(page) if language == "sh").splitlines():
                command = line.split(" #")[0].strip()
                if not re.match(r"xferbench($| (?!\[|SCENARIO|tune\||explain \[))", command) or "--resume" in command:
                    continue  # a synopsis; --resume would measure
                commands.setdefault(command, str(page.relative_to(ROOT)))
        self.assertGreater(len(commands), 60)
        for command, page in commands.items():
            with self.subTest(page=page, command=command):
                self.assert_understood(command)

    def assert_understood(self, command):
        """Runs the command with --dry-run and without the flags that need a real run; commands that only read run
        unchanged."""
        word = (command.split() + [""])[1]
        runs = word not in ("list", "info", "compare", "report", "check", "expect", "calibrate", "validate", "explain", "completion", "man", "help", "version")
        if runs:
            command = re.sub(r" --(json|csv|markdown|html|timeline|openmetrics|format|repeat|spread)[ =]\S+", "", command) + " --dry-run"
        if word == "calibrate" and not re.search(r"calibrate \S+\.json", command):
            command += self.MEASURED
        command = command.replace("/tmp/", f"{self.folder}/")
        shell = f'xferbench() {{ "$XFERBENCH_PROGRAM" "$@"; }}; {command}'
        outcome = subprocess.run(
            ["bash", "-c", shell],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env=os.environ | {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"},
        )
        nothing_to_explain = 5  # programs of the documentation use no GPU here
        self.assertIn(outcome.returncode, (0, nothing_to_explain) if word == "explain" else (0,), outcome.stderr)


@unittest.skipUnless(PROGRAM, "XFERBENCH_PROGRAM does not name the program")
class CommandsLong(support.Folder):
    """explain and calibrate really run and measure."""

    EXPLAINED, MEASURED = {"xferbench": f'exec {PROGRAM} "$@"'}, " --simulate"
    test_are_understood, assert_understood = Commands.test_are_understood, Commands.assert_understood


@unittest.skipUnless(PROGRAM, "XFERBENCH_PROGRAM does not name the program")
class Sample(unittest.TestCase):
    def test_is_what_the_first_command_prints_without_a_gpu(self):
        page = ROOT / "README.md"
        blocks = support.blocks(page)
        first = next(text for language, text in blocks if language == "sh").splitlines()[0]
        self.assertTrue(first.startswith("scripts/xferbench "), first)
        outcome = support.run(*first.split()[1:], "--simulate", "h200", "--quiet", "--color", "never")
        self.assertEqual((outcome.returncode, outcome.stderr), (0, ""))
        self.assertEqual(next(text for language, text in blocks if not language), outcome.stdout)


class Findings(unittest.TestCase):
    def test_of_every_kind_are_explained_and_named_in_the_schema(self):
        made = set()
        for path in [*ROOT.glob("src/run/**/*.cpp"), *ROOT.glob("scenarios/**/*.cpp")]:
            text = path.read_text(encoding="utf-8")
            made |= set(re.findall(r'\.kind = (?:crosses \? )?"([a-z-]+)"', text))
            made |= set(re.findall(r'= finding\("([a-z-]+)"\);', text))
        schema = json.loads((ROOT / "docs/results-schema.json").read_text(encoding="utf-8"))
        finding = schema["properties"]["findings"]["items"]["properties"]
        named = re.search(r"kinds of today: (.*?)\.", finding["kind"]["description"])[1].split(", ")
        table = (ROOT / "docs/findings.md").read_text(encoding="utf-8").split("## Decided or not")[0]
        explained = [kind for row in re.findall(r"^\| (`.*?`) \|", table, re.MULTILINE) for kind in re.findall(r"`(.*?)`", row)]
        self.assertEqual(sorted(made), named)
        self.assertEqual(sorted(explained), named)


class Results(unittest.TestCase):
    def test_each_is_described_and_no_other(self):
        described = re.findall(r"^\| \[.*?\]\(\.\./results/(h[12]00-\S+)\)", (ROOT / "docs/lab/results.md").read_text(), re.MULTILINE)
        there = [path.name for path in (ROOT / "docs" / "results").iterdir() if path.name != "README.md"]
        self.assertEqual(sorted(described), sorted(there))

    def test_are_not_too_many_for_a_repository(self):
        size = sum(path.stat().st_size for path in (ROOT / "docs" / "results").iterdir())
        self.assertLess(size, 5_600_000)

    def test_have_one_measurement_on_a_line(self):
        for path in RESULTS.glob("*.json"):
            text = path.read_text(encoding="utf-8")
            of_measurements = [line for line in text.splitlines() if '"samples":' in line and '"clock":' in line]
            parsed = [one for case in json.loads(text)["results"] for one in case["measurements"]]
            with self.subTest(file=path.name):
                self.assertEqual([json.loads(line.rstrip(",")) for line in of_measurements], parsed)


@unittest.skipUnless(PROGRAM, "XFERBENCH_PROGRAM does not name the program")
class Expectations(support.Folder):
    def verdicts(self, path):
        outcome = support.run("check", path, "--expect", "h200", "--json", "-")
        self.assertIn(outcome.returncode, (0, 1), outcome.stderr)
        return {row["name"]: row["verdict"] for row in json.loads(outcome.stdout)["checks"]}

    def test_hold_for_every_result_and_fail_for_a_slower_machine(self):
        """Each expectation for an H200 is met by some stored results, and violated if they are made 20 % slower."""
        expected = json.loads((ROOT / "scenarios/expectations/h200.json").read_text(encoding="utf-8"))["expect"]
        met = set()
        for name in ("quick", "memcpy", "memcpy-inside", "overlap", "smem", "latency", "staging", "callback"):
            path = pathlib.Path(RESULTS / f"h200-{name}.json")
            now = self.verdicts(path)
            then = self.verdicts(self.write("slower.json", support.slower(path, 1.2)))
            with self.subTest(results=name):
                self.assertNotIn("fails", now.values())
                holding = {one for one, verdict in now.items() if verdict == "holds"}
                self.assertEqual({then[one] for one in holding}, {"fails"})
                met |= holding
        self.assertEqual(met, {one["name"] for one in expected})


if __name__ == "__main__":
    support.main()

"""Packages as users get them: test_packages.py FOLDER CACHE [TEST]...

FOLDER has the output of scripts/release; CACHE keeps the Debian base system that debootstrap makes once. Files and
Release check the content of packages. Debian, Archive and Wheel install and use them in that system, and are skipped
where it cannot be made. XFERBENCH_BARE_SUITE names another release than Debian 12.
"""

import contextlib
import fnmatch
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

import bare
import elf

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES, CACHE = map(pathlib.Path, sys.argv[1:3])
SUITE = os.environ.get("XFERBENCH_BARE_SUITE", "bookworm")
SKIPPED = 77  # CTest counts this exit code as skipped
MOST_MB = 25
OLDEST_GLIBC = (2, 36)  # of Debian 12
LONGEST_START = 60  # seconds from apt-get update to the first result
MAIN_JOB = "--simulate --streams 8 --size 256M"


def debs():
    return sorted(PACKAGES.glob("*.deb"))


def named(name):
    """The package of this name; None if this build lacks it, for want of CUPTI's headers or MPI."""
    found = [path for path in debs() if path.name.partition("_")[0] == name]
    return found[0] if found else None


def archive():
    (found,) = PACKAGES.glob("xferbench-*-linux-*.tar.gz")
    return found


def unpacked(package, folder):
    if package.suffix == ".deb":
        subprocess.run(["dpkg-deb", "-x", package, folder], check=True, timeout=60)
    else:
        with tarfile.open(package) as opened:
            opened.extractall(folder)


class Files(unittest.TestCase):
    """The content of packages."""

    def each(self):
        """Yields each package and the folder where it is unpacked."""
        for package in (*debs(), archive()):
            with tempfile.TemporaryDirectory(prefix="xferbench-package-") as folder, self.subTest(package.name):
                unpacked(package, folder)
                yield package, pathlib.Path(folder)

    def test_sizes(self):
        for package in (*debs(), archive()):
            megabytes = package.stat().st_size / 1e6
            print(f"{package.name}: {megabytes:.2f} MB, asked: under {MOST_MB}")
            self.assertLess(megabytes, MOST_MB, package.name)

    def test_programs_need_glibc_of_debian_12_and_nothing_else(self):
        for package, folder in self.each():
            found = [path for path in folder.rglob("*") if elf.is_elf(path)]
            self.assertTrue(found, "a package without a program or library")
            for path in found:
                needs = elf.read(path)
                allowed = elf.libraries_allowed(path)
                newest = ".".join(map(str, needs.newest("GLIBC")))
                print(f"{package.name}: {path.name} needs glibc {newest}, {', '.join(sorted(needs.libraries))}")
                self.assertLessEqual(needs.libraries, allowed, path.name)
                self.assertLessEqual(needs.newest("GLIBC"), OLDEST_GLIBC, path.name)
                self.assertEqual(needs.search_paths, (), path.name)
                self.assertTrue(needs.stripped, f"{path.name} has symbols that nobody needs")

    def test_what_the_commands_read_is_there(self):
        for package, folder in self.each():
            if package.name.startswith(("xferbench-mpi", "xferbench-inject")):
                continue
            (data,) = folder.rglob("share/xferbench")
            for wanted in ("schemas/results-schema.json", "scripts/report", "suites/ci.json"):
                self.assertTrue((data / wanted).is_file(), wanted)
            self.assertEqual([], list(folder.rglob("__pycache__")))

    def test_pages_link_to_what_is_there(self):
        for package, folder in self.each():
            for page in folder.rglob("*.md"):
                for target in re.findall(r"\]\(([^()\s#]+)", page.read_text(encoding="utf-8")):
                    if not re.match(r"[a-z]+:", target):
                        self.assertTrue((page.parent / target).exists(), f"{package.name}: {page.name} links to {target}")

    def test_has_the_runs_that_pages_tell_of(self):
        for package in (named("xferbench"), archive()):
            with tempfile.TemporaryDirectory(prefix="xferbench-package-") as folder:
                unpacked(package, folder)
                (results,) = pathlib.Path(folder).rglob("doc/xferbench/docs/results")
                there = {path.name for path in (ROOT / "docs/results").iterdir()}
                self.assertEqual({path.name for path in results.iterdir()}, there, package.name)

    def test_lintian_finds_no_error(self):
        if shutil.which("lintian") is None:
            self.skipTest("lintian is not installed")
        command = ["lintian", "--allow-root", "--fail-on", "error", *debs()]
        outcome = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        print(outcome.stdout)
        self.assertEqual(outcome.returncode, 0, outcome.stdout + outcome.stderr)


class Release(unittest.TestCase):
    """All files of a release, and what they say of one another."""

    def test_has_what_its_page_lists(self):
        page = (ROOT / "packaging/README.md").read_text(encoding="utf-8")
        listed = {name.replace("VERSION", "*").replace("GLIBC", "*") for name in re.findall(r"^\| `(\S+)` \|", page, re.MULTILINE)}
        found = {path.name for path in PACKAGES.iterdir()}
        for pattern in listed:
            self.assertTrue(list(PACKAGES.glob(pattern)), pattern)
        self.assertEqual([name for name in found if not any(fnmatch.fnmatch(name, one) for one in listed)], [])

    def test_sums_are_those_of_the_files(self):
        subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=PACKAGES, check=True)
        summed = {line.split("  ")[1] for line in (PACKAGES / "SHA256SUMS").read_text(encoding="utf-8").splitlines()}
        self.assertEqual(summed | {"SHA256SUMS"}, {path.name for path in PACKAGES.iterdir()})

    def test_parts_are_those_of_the_packed_programs(self):
        (path,) = PACKAGES.glob("*.cdx.json")
        made = json.loads(path.read_text(encoding="utf-8"))
        named = {one["name"]: one["hashes"][0]["content"] for one in made["components"] if one["type"] == "file"}
        with tempfile.TemporaryDirectory(prefix="xferbench-package-") as folder:
            unpacked(archive(), folder)
            (top,) = pathlib.Path(folder).iterdir()
            there = {one.relative_to(top).as_posix(): hashlib.sha256(one.read_bytes()).hexdigest()
                     for one in top.rglob("*") if elf.is_elf(one)}
        self.assertEqual(named, there)

    def test_easybuild_names_the_source(self):
        (path,) = PACKAGES.glob("*.eb")
        config = {"SYSTEM": "system"}
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), config)
        (source,), (checksum,) = config["sources"], config["checksums"]
        content = (PACKAGES / source.replace("%(version)s", config["version"])).read_bytes()
        self.assertEqual(hashlib.sha256(content).hexdigest(), checksum)
        toolchain, (cuda,) = config["toolchain"], [one[1] for one in config["dependencies"] if one[0] == "CUDA"]
        wanted = f"xferbench-{config['version']}-{toolchain['name']}-{toolchain['version']}-CUDA-{cuda}.eb"
        self.assertEqual(path.name, wanted)


class InBare(unittest.TestCase):
    """Tests in a fresh system."""

    def setUp(self):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        try:
            self.system = stack.enter_context(bare.system(CACHE, SUITE))
        except bare.Unavailable as reason:
            self.skipTest(str(reason))

    def said(self, command):
        """Runs a command that must succeed. Returns its standard output."""
        outcome = self.system.run(command)
        self.assertEqual(outcome.returncode, 0, f"{command}\n{outcome.stdout[-2000:]}{outcome.stderr[-2000:]}")
        return outcome.stdout

    def require_network(self):
        updated = self.system.run("apt-get update -qq -o APT::Update::Error-Mode=any")
        if updated.returncode != 0:
            self.skipTest(f"apt-get reaches no mirror: {' '.join(updated.stderr.split())[-300:]}")

    def install(self, *packages):
        """Installs downloaded package files with apt-get."""
        for package in packages:
            shutil.copy(package, self.system.inside("/root"))
        self.said(f"apt-get install -qq -y {' '.join(f'./{package.name}' for package in packages)}")

    def answers(self, program):
        """Runs a simulated pipeline with this program, and checks the file that it writes."""
        self.assertIn("SIMULATED", self.said(f"{program} {MAIN_JOB} --json run.json"))
        record = json.loads(self.system.inside("/root/run.json").read_text(encoding="utf-8"))
        (result,) = record["results"]
        self.assertEqual(result["scenario"], "overlap")

    def reports(self, program):
        page = self.system.inside("/root/page.html")
        self.said(f"{program} run.json -o page.html")
        text = page.read_text(encoding="utf-8")
        self.assertIn("<svg", text)
        page.unlink()


class Debian(InBare):
    """The packages are installed by apt, used and removed."""

    def test_installed_used_and_removed(self):
        self.installs_and_answers_soon()
        self.system.hurry()
        steps = (self.has_data, self.has_manual, self.completes, self.makes_reports, self.runs_ranks, self.explains)
        absent = {self.runs_ranks: "xferbench-mpi", self.explains: "xferbench-inject"}
        for step in steps:
            if step in absent and named(absent[step]) is None:
                print(f"not shown, as this build has no {absent[step]}: {step.__name__}")
                continue
            with self.subTest(step.__name__):
                step()
        self.leaves_nothing()

    def installs_and_answers_soon(self):
        ends = [time.monotonic()]
        for step in (self.require_network, lambda: self.install(named("xferbench")), lambda: self.answers("xferbench")):
            step()
            ends.append(time.monotonic())
        update, install, answer = (end - begin for begin, end in zip(ends, ends[1:]))
        seconds = update + install + answer
        print(f"{SUITE}: {update:.1f} s for apt-get update, {install:.1f} s to install with what is recommended, "
              f"{answer:.1f} s for a simulated answer: {seconds:.1f} s, asked: under {LONGEST_START}")
        self.assertLess(seconds, LONGEST_START)

    def has_data(self):
        self.said("xferbench --simulate --suite quick")
        self.said("apt-get install -qq -y --no-install-recommends python3-jsonschema")  # suggested only
        self.said("xferbench-validate-results run.json")

    def has_manual(self):
        self.said("apt-get install -qq -y --no-install-recommends man-db")
        for page in ("xferbench", "xferbench-report", "xferbench-validate-results"):
            self.assertRegex(self.said(f"man {page}"), rf"(?m)^NAME\n\s+{page} ")

    def completes(self):
        self.said("apt-get install -qq -y --no-install-recommends bash-completion")
        completed = self.said(
            "source /usr/share/bash-completion/bash_completion; _completion_loader xferbench\n"
            "COMP_WORDS=(xferbench memc) COMP_CWORD=1 COMP_LINE='xferbench memc' COMP_POINT=14\n"
            'function=$(complete -p xferbench | sed "s/.*-F \\([^ ]*\\).*/\\1/")\n'
            '"$function" xferbench memc xferbench; echo "${COMPREPLY[@]}"'
        )
        self.assertEqual(completed.split(), ["memcpy"])
        for path in ("zsh/vendor-completions/_xferbench", "fish/vendor_completions.d/xferbench.fish"):
            self.assertTrue(self.system.inside(f"/usr/share/{path}").is_file(), path)

    def makes_reports(self):
        self.reports("xferbench-report")

    def runs_ranks(self):
        self.said("apt-get install -qq -y --no-install-recommends openmpi-bin")
        self.install(named("xferbench-mpi"))
        ranks = self.said(
            "OMPI_MCA_plm=^slurm OMPI_MCA_btl=self,vader OMPI_MCA_pml=ob1"
            " mpirun --allow-run-as-root --oversubscribe -n 2 xferbench memcpy --simulate --size 1M"
        )
        self.assertIn("2 ranks", ranks)

    def explains(self):
        missing = "the library that profiles CUDA programs is missing"
        self.assertIn(missing, self.system.run("xferbench explain -- /bin/true").stderr)
        self.install(named("xferbench-inject"))
        self.assertNotIn(missing, self.system.run("xferbench explain -- /bin/true").stderr)

    def leaves_nothing(self):
        """Compares files before an installation and after its removal. Both times other packages from earlier tests
        are installed."""
        names = " ".join(package.name.partition("_")[0] for package in debs())
        self.said(f"apt-get purge -qq -y {names}")
        before = self.system.files()
        self.assertEqual([], sorted(path for path in before if "xferbench" in path))
        self.install(*debs())
        self.answers("xferbench")
        self.reports("xferbench-report")
        self.said(f"apt-get purge -qq -y {names}")
        self.assertEqual(before, self.system.files())


class Archive(InBare):
    """The archive is unpacked without installation, in a folder with a blank in its name, and used."""

    def test_unpacked_and_used(self):
        place = self.system.inside("/opt/some where")
        place.mkdir()
        unpacked(archive(), place)
        program = f"'/opt/some where/{archive().name.removesuffix('.tar.gz')}/bin/xferbench'"
        self.answers(program)
        self.said(f"{program} --simulate --suite quick")
        self.reports(f"{program.removesuffix(chr(39))}-report'")
        self.require_network()
        self.system.hurry()
        self.said("apt-get install -qq -y --no-install-recommends man-db")
        manual = program.replace("bin/xferbench", "share/man/man1/xferbench.1")
        self.assertRegex(self.said(f"man -l {manual}"), r"(?m)^NAME\n\s+xferbench ")


class Wheel(InBare):
    """The wheel is installed into an empty environment by pip, without a network."""

    def test_installed_and_used(self):
        self.require_network()
        self.system.hurry()
        self.said("apt-get install -qq -y --no-install-recommends python3-venv")  # Python is there before the wheel
        (wheel,) = PACKAGES.glob("*.whl")
        shutil.copy(wheel, self.system.inside("/root"))
        begin = time.monotonic()
        self.said(f"python3 -m venv env && env/bin/pip install --no-index --quiet {wheel.name}")
        installed = time.monotonic()
        self.answers("env/bin/xferbench")
        end = time.monotonic()
        print(f"{SUITE}: {installed - begin:.1f} s for venv and pip, {end - installed:.1f} s for a simulated answer: "
              f"{end - begin:.1f} s, asked: under {LONGEST_START}")
        self.assertLess(end - begin, LONGEST_START)
        script = "import xferbench; print(len(xferbench.run('memcpy', size='4M', simulate=True).rows()))"
        self.assertGreater(int(self.said(f'env/bin/python -c "{script}"')), 0)
        self.said("env/bin/xferbench --simulate --suite quick")


def main():
    program = unittest.main(argv=sys.argv[:1] + sys.argv[3:], exit=False)
    outcome = program.result
    if outcome.wasSuccessful() and outcome.testsRun == len(outcome.skipped):
        sys.exit(SKIPPED)
    sys.exit(not outcome.wasSuccessful())


if __name__ == "__main__":
    main()

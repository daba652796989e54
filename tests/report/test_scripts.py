"""scripts/xferbench, build and setup with stand-ins for cmake, apt-get and the program; nothing is built."""

import os
import shutil
import subprocess
import unittest

import support

# Folder names that must work, and those that CMake cannot handle and scripts refuse.
GOOD = [
    *("a b", "a'b", "a&b", "a(b)", "a$b", "a$HOME", "a*b", "a?b", "a`b", "a!b", "a~b", "a%b", "a{b}", "a,b", "a=b"),
    *("a@b", "a^b", "a+b", "a\tb", "aéb"),
]
BAD = {";": "a;b", "#": "a#b", '"': 'a"b', "\\": "a\\b", "[": "a[b", "]": "a]b", "|": "a|b", "<": "a<b", ">": "a>b",
       "a line break": "a\nb"}
# Scripts that must refuse such a folder.
COMMANDS = (("build", "simulator"), ("setup", "--tests"), ("xferbench", "version"), ("test",))

# A cmake that only logs its calls.
CMAKE = """#!/bin/sh
case $1 in
  --version) echo "cmake version 3.25.1" ;;
  --preset) echo "configured $4" >> "$LOG" && mkdir -p "$4/build/$2" && : > "$4/build/$2/build.ninja" ;;
  --build) echo "built $2" >> "$LOG" ;;
esac
"""
# A program that finds no GPU and prints its arguments.
PROGRAM = """#!/bin/sh
if [ "$*" = "info --gpu 0" ]; then echo "xferbench: no usable GPU: none; simulate" >&2; exit 3; fi
case "$*" in
  *--json*--dry-run* | *--dry-run*--json*) echo "a dry run has no results to write" >&2; exit 2 ;;
  *--nosuch*) echo "xferbench: unknown flag --nosuch" >&2; exit 2 ;;
esac
for word; do printf '<%s>' "$word"; done
echo
"""
# An apt-get or sudo that prints its arguments.
INSTALLER = """#!/bin/sh
echo "done: ${0##*/} $*" >&2
case ${0##*/} in sudo) exec "$@" ;; esac
"""
NOTHING_INSTALLED = {"dpkg-query": "#!/bin/sh\n"}


class Scripts(support.Folder):
    """Runs copies of the scripts, in folders of any name."""

    def setUp(self):
        super().setUp()
        self.tools = self.folder / "tools"
        self.tools.mkdir()
        self.log = self.folder / "log"
        support.put_script(self.tools / "cmake", CMAKE)
        support.put_script(self.tools / "dpkg-query", "#!/bin/sh\nprintf 'installed %s\\n' \"$@\"\n")

    def checkout(self, name):
        """A copy of what the scripts need of a checkout, with a program that counts as built."""
        root = self.folder / name
        shutil.copytree(support.SCRIPTS, root / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(support.ROOT / "CMakePresets.json", root)
        support.put_script(root / "build/simulator/xferbench", PROGRAM)
        return root

    def built_checkout(self):
        """A checkout whose build script does nothing."""
        root = self.checkout("repo")
        support.put_script(root / "scripts/build", "#!/bin/sh\n")
        return root

    def run_in(self, folder, *command, **environment):
        path = f"{self.tools}:{os.environ['PATH']}"
        return subprocess.run(
            list(map(str, command)), cwd=folder, env={**os.environ, "PATH": path, "LOG": str(self.log), **environment},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60,
        )

    def logged(self):
        return self.log.read_text(encoding="utf-8") if self.log.exists() else ""


class Program(Scripts):
    @classmethod
    def setUpClass(cls):
        if os.path.exists("/dev/nvidiactl") or os.path.exists("/dev/dxg"):
            raise unittest.SkipTest("this machine has a GPU, and scripts/xferbench builds for that")

    def arguments_for(self, *given):
        outcome = self.run_in(self.root, "scripts/xferbench", *given)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        return outcome.stdout.strip(), outcome.stderr

    def test_what_measures_nothing_or_says_on_what_is_passed_on_as_it_is(self):
        self.root = self.built_checkout()
        for line in (
            *("--resume r.json", "--resume=r.json", "--suite quick --resume r.json", "help", "help memcpy", "version"),
            *("-V", "--version", "-h", "--help", "tune --help", "memcpy -h", "man", "completion bash", "list", "info"),
            *("list memcpy", "compare a.json b.json", "check a.json --expect h200", "memcpy --dry-run", "--gpu 1"),
            *("memcpy --gpu=1", "--simulate", "--simulate=h200 memcpy", "--numa 0", "__complete 1 xferbench"),
        ):
            with self.subTest(arguments=line):
                passed, _ = self.arguments_for(*line.split())
                self.assertEqual(passed, "".join(f"<{word}>" for word in line.split()))

    def test_what_would_measure_is_simulated_and_says_so(self):
        self.root = self.built_checkout()
        for line in ("", "memcpy", "run --size 4K", "tune overlap", "--suite quick", "--size 4K --json helper.json"):
            with self.subTest(arguments=line):
                passed, said = self.arguments_for(*line.split())
                self.assertEqual(passed, "".join(f"<{word}>" for word in ["--simulate", "h200", *line.split()]))
                self.assertIn("simulating an H200", said)
        self.assertNotIn("simulating", self.arguments_for("--quiet")[1])
        self.assertNotIn("simulating", self.arguments_for("expect", "good.json")[1])

    def test_what_is_refused_is_not_said_to_be_simulated(self):
        self.root = self.built_checkout()
        for line in ("--nosuch", "memcpy --json r.json --nosuch", "memcpy --nosuch --repeat=3 --json=r.json"):
            with self.subTest(arguments=line):
                outcome = self.run_in(self.root, "scripts/xferbench", *line.split())
                self.assertEqual(outcome.returncode, 2)
                self.assertTrue(outcome.stderr.endswith("xferbench: unknown flag --nosuch\n"), outcome.stderr)
                self.assertNotIn("simulating", outcome.stderr)

    def test_what_it_has_to_say_is_no_reason_to_stop_where_nobody_reads_it(self):
        self.root = self.checkout("repo")
        for nobody in ("2> /dev/full", "2>&-", "2> >(exec true)"):
            with self.subTest(standard_error=nobody):
                outcome = self.run_in(self.root, "bash", "-c", f"sleep 0.05; exec scripts/xferbench memcpy {nobody}")
                self.assertEqual((outcome.returncode, outcome.stdout.strip()), (0, "<--simulate><h200><memcpy>"))

    def called_in(self, root):
        return [(root, "scripts/xferbench")]

    def test_what_people_export_for_their_own_shells_changes_nothing(self):
        root = self.checkout("repo")
        support.put_script(self.folder / "first.sh", "shopt -s nullglob extglob; alias ls='ls --color'; PS4='> '")
        for name, value in (
            ("CDPATH", f"{self.folder}:/"),
            ("GREP_OPTIONS", "--color=always -v"),
            ("GREP_COLORS", "mt=1"),
            ("IFS", "/"),
            ("GLOBIGNORE", "*"),
            ("POSIXLY_CORRECT", "1"),
            ("COLUMNS", "x"),
            ("COLUMNS", "3"),
            ("NINJA_STATUS", "%"),
            ("CLICOLOR_FORCE", "1"),
            ("LC_ALL", "C"),
            ("BASH_ENV", str(self.folder / "first.sh")),
            ("SHELLOPTS", "noclobber:noglob"),
            ("BASH_FUNC_cd%%", '() { builtin cd "$@"; echo elsewhere; }'),
            ("TERM", "dumb"),
        ):
            for folder, script in self.called_in(root):
                with self.subTest(exported=name, value=value, called=script):
                    outcome = self.run_in(folder, script, "version", **{name: value})
                    self.assertEqual((outcome.returncode, outcome.stdout), (0, "<version>\n"), outcome.stderr)


class ProgramLong(Scripts):
    setUpClass = Program.setUpClass

    def called_in(self, root):
        return [(root, "scripts/xferbench"), (root / "scripts", "./xferbench")]

    test_what_people_export = Program.test_what_people_export_for_their_own_shells_changes_nothing


class Folders(Scripts):
    GOOD = ["a b", "".join(GOOD)]
    REFUSED = {character: [COMMANDS[number % len(COMMANDS)]] for number, character in enumerate(BAD)}

    def test_with_usual_and_unusual_names_are_configured_and_built(self):
        for name in self.GOOD:
            with self.subTest(folder=name):
                root = self.checkout(name)
                outcome = self.run_in(root, "scripts/build", "--program", "clang")
                self.assertEqual((outcome.returncode, outcome.stdout), (0, ""), outcome.stderr)
                self.assertEqual(self.logged(), f"configured {root}\nbuilt {root}/build/clang\n")
                self.log.unlink()

    def test_that_cmake_cannot_have_are_refused_before_anything_is_done(self):
        for character, name in BAD.items():
            root = self.checkout(name)
            for command in self.REFUSED[character]:
                with self.subTest(character=character, command=command):
                    before = sorted(root.rglob("*"))
                    outcome = self.run_in(root, f"scripts/{command[0]}", *command[1:])
                    self.assertEqual((outcome.returncode, outcome.stdout), (1, ""), outcome.stderr)
                    self.assertEqual(len(outcome.stderr.splitlines()), 1, outcome.stderr)
                    self.assertIn(f"whose name contains {character}", outcome.stderr)
                    self.assertIn("clone into a folder without it", outcome.stderr)
                    self.assertEqual((self.logged(), sorted(root.rglob("*"))), ("", before))

    def test_that_cmake_cannot_have_are_refused_by_cmake_itself(self):
        """CMakeLists.txt prints our message before it looks for a compiler."""
        cmake = shutil.which("cmake")
        for number, (character, name) in enumerate(BAD.items()):
            if character in ("\\", "a line break"):
                continue  # cmake itself misreads these
            with self.subTest(character=character):
                root = self.folder / name
                root.mkdir()
                shutil.copy(support.ROOT / "CMakeLists.txt", root)
                outcome = self.run_in(root, cmake, "-S", root, "-B", self.folder / f"build-{number}")
                self.assertEqual(outcome.returncode, 1)
                self.assertIn(f"CMake cannot build in a folder whose name contains {character}", outcome.stderr)
                self.assertNotIn("compiler", outcome.stdout + outcome.stderr)


class FoldersLong(Scripts):
    """Every name, with every script."""

    GOOD, REFUSED = GOOD, dict.fromkeys(BAD, COMMANDS)
    test_with_usual_and_unusual_names = Folders.test_with_usual_and_unusual_names_are_configured_and_built
    test_that_cmake_cannot_have = Folders.test_that_cmake_cannot_have_are_refused_before_anything_is_done


class Setup(Scripts):
    def set_up(self, *flags, **tools):
        """Runs scripts/setup in a copy, with these tools in place of the real ones; apt-get and sudo print their
        arguments."""
        root = self.checkout("repo")
        for name, text in {"apt-get": INSTALLER, "sudo": INSTALLER, **tools}.items():
            support.put_script(self.tools / name, text)
        return self.run_in(root, shutil.which("bash"), "scripts/setup", *flags)

    def test_says_what_it_installs_and_by_which_commands_before_it_does(self):
        """The announced commands are exactly those that run."""
        outcome = self.set_up("--build-tests", **NOTHING_INSTALLED)
        self.assertEqual((outcome.returncode, outcome.stdout), (0, ""), outcome.stderr)
        lines = outcome.stderr.splitlines()
        announced = next(line for line in lines if "installing them by: " in line)
        missing = next(line for line in lines if "packages are missing: " in line).split(": ")[-1].split()
        self.assertIn("libgtest-dev", missing)
        commands = announced.split("installing them by: ")[1].split(" && ")
        self.assertTrue(commands[1].endswith(" ".join(missing)))
        done = [line.removeprefix("done: ") for line in lines if line.startswith("done: ")]
        as_root = [line for line in done if line.startswith("sudo ")]  # empty for root
        by_apt = [line for line in done if line.startswith("apt-get ")]
        self.assertEqual(by_apt, [command[command.index("apt-get") :] for command in commands])
        self.assertIn(as_root, ([], commands))
        self.assertLess(lines.index(announced), min(lines.index(line) for line in lines if line.startswith("done: ")))

    def test_does_nothing_where_nothing_is_missing(self):
        outcome = self.set_up("--build-tests")
        self.assertEqual((outcome.returncode, outcome.stdout), (0, ""), outcome.stderr)
        self.assertNotIn("done:", outcome.stderr)

    def test_of_the_site_installs_what_makes_it(self):
        outcome = self.set_up("--docs", **NOTHING_INSTALLED)
        self.assertEqual((outcome.returncode, outcome.stdout), (0, ""), outcome.stderr)
        missing = next(line for line in outcome.stderr.splitlines() if "packages are missing: " in line)
        self.assertTrue({"python3-sphinx", "python3-myst-parser"} <= set(missing.split()))
        self.assertFalse({"libgtest-dev", "npm", "chromium"} & set(missing.split()))

    def test_that_fails_says_so(self):
        outcome = self.set_up(**NOTHING_INSTALLED, **{"apt-get": "#!/bin/sh\nexit 100\n"})
        self.assertEqual(outcome.returncode, 1)
        self.assertIn("apt-get update failed", outcome.stderr)


if __name__ == "__main__":
    support.main()

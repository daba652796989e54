"""Safe replacement of files: readers always find a valid file, there is one writer at a time, and files of others
are never touched."""

import itertools
import json
import os
import stat
import threading

from . import commands
from .support import UNUSABLE, Figure, Tally, end_group, how, is_results, read_json, wait_for

TITLE = "files are replaced safely"

QUICK = ("memcpy", "--size", "4K", *commands.SMALL, "--quiet")
ENDLESS = (*commands.ENDLESS, "--quiet")
MINE = b"what somebody else keeps here\n"


# --- Two writers ----------------------------------------------------------------------------------------------------


def second_writer_is_refused(setting, tally):
    """The second writer is refused before it measures and leaves nothing; the first is not disturbed."""
    with setting.scratch() as folder:
        file = folder / "r.json"
        first = setting.start(*ENDLESS, "--json", file)
        wait_for(lambda: is_results(read_json(file)) and read_json(file)["results"])
        second = setting.run(*commands.LONGER, "--json", file, "--csv", folder / "second.csv", "--progress", "plain")
        told = b"another xferbench is writing it" in second.err
        tally.expect(second.code == UNUSABLE and told, lambda: f"a second writer is not refused: {how(second)}")
        unmeasured = second.out == b"" and b"samples" not in second.err
        tally.expect(unmeasured, "a second writer measured before it was refused")
        resumed = setting.run("--resume", file)
        tally.expect(resumed.code == UNUSABLE, lambda: f"--resume of a file that is written: {how(resumed)}")
        tally.expect(first.poll() is None and is_results(read_json(file)), "the first writer was disturbed")
        end_group(first)
        first.wait()
        after = setting.run(*QUICK, "--json", file)
        tally.expect(after.code == 0, lambda: f"a writer after one that was killed: {how(after)}")


def many_writers_at_once(setting, tally, count):
    """The first writer wins; in the end the file is complete and has the results of one run."""
    with setting.scratch() as folder:
        file = folder / "r.json"
        sizes = [f"{setting.number(1024, 1024, 64) << number}K" for number in range(count)]
        flags = ("--simulate", "--quiet", "--streams", "1:4:+1", "--chunks", "4:32", *commands.IN_TURNS[3:])
        writers = [setting.start(*flags, "--size", size, "--json", file) for size in sizes]
        codes = [writer.wait(timeout=120) for writer in writers]
        found = read_json(file)
        allowed = set(codes) <= {0, UNUSABLE} and 0 in codes
        tally.expect(allowed, f"{count} writers at once ended with {codes}")
        sizes = {case["params"]["size"] for case in found["results"]} if is_results(found) else set()
        tally.expect(len(sizes) == 1 and found["complete"], f"{count} writers at once left a file of several, or none")


# --- Readers ----------------------------------------------------------------------------------------------------------


class Reader:
    """Reads the file repeatedly; unchanged content is not parsed again."""

    def __init__(self, path, reads):
        self._path, self._reads = str(path), reads
        self.done = self.invalid = self.versions = 0
        self.example = ""

    def __call__(self):
        known = None
        for _ in range(self._reads):
            self.done += 1
            try:
                with open(self._path, "rb", buffering=0) as file:
                    data = file.read()
                if data == known:
                    continue
                if not is_results(json.loads(data)):
                    raise ValueError("no results file")
                known = data
                self.versions += 1
            except (OSError, ValueError) as error:
                self.invalid += 1
                self.example = f"{type(error).__name__}: {error}"


def concurrent_reads(setting, reads):
    """Reads while runs, resumed runs and runs onto an existing file follow each other."""
    with setting.scratch() as folder:
        file = folder / "r.json"
        setting.run(*QUICK, "--json", file)
        stop = threading.Event()
        failures = []

        def write():
            kinds = [
                (*QUICK, "--json", file),
                ("latency", *commands.SMALL, "--quiet", "--json", file),
                ("memcpy", "--size", "4K", *commands.IN_TURNS, "--quiet", "--json", file),
            ]
            for arguments in itertools.cycle(kinds):
                if stop.is_set():
                    return
                outcome = setting.run(*arguments)
                if outcome.code != 0:
                    failures.append(how(outcome))

        writer = threading.Thread(target=write)
        writer.start()
        share = [Reader(file, reads // 2), Reader(file, reads - reads // 2)]
        threads = [threading.Thread(target=one) for one in share]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        stop.set()
        writer.join()
        for one in share:
            if one.invalid:
                setting.say(f"  does not hold: {one.invalid} invalid reads, the last: {one.example}")
        for text in failures[:3]:
            setting.say(f"  does not hold: a writer among readers: {text}")
        done, invalid = sum(one.done for one in share), sum(one.invalid for one in share)
        versions = sum(one.versions for one in share)
        return Figure(
            f"0 invalid of {reads:,} concurrent reads",
            f"{invalid} of {done:,}; {versions:,} times a new state",
            invalid == 0 and done == reads and versions > reads // 100_000 and not failures,
        )


# --- Files of others ---

TEMPORARY_LOOKING = (
    *("r.json.partial", "r.json.tmp", "r.json.new", "r.json.lock", "r.json.bak", "r.json.swp", "r.json.0", "r.json.1"),
    *(".r.json", ".r.json.tmp", ".r.json.swp", ".r.json.lock", "r.json~1", "r.tmp", "tmp"),
)
PLANTS = {
    "a file": lambda path, _: path.write_bytes(MINE),
    "a link to a file": lambda path, victim: path.symlink_to(victim),
    "a link to nothing": lambda path, victim: path.symlink_to(victim.with_name("absent")),
    "a hard link": lambda path, victim: os.link(victim, path),
    "a folder": lambda path, _: path.mkdir(),
    "a pipe": lambda path, _: os.mkfifo(path),
}


def look(path):
    """Type, mode and content of a path, without following links; None if it does not exist."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    kind = stat.S_IFMT(status.st_mode)
    content = path.read_bytes() if kind == stat.S_IFREG else os.readlink(path) if kind == stat.S_IFLNK else b""
    return status.st_mode, status.st_ino, content


def foreign_files_are_untouched(setting, tally):
    """Files with any name that looks like a temporary one survive a run, a second run onto its file, and a killed
    run."""
    for what, plant in PLANTS.items():
        with setting.scratch() as folder, setting.scratch() as elsewhere:
            victim = elsewhere / "victim"
            victim.write_bytes(MINE)
            victim.chmod(0o640)
            planted = [folder / name for name in TEMPORARY_LOOKING]
            for path in planted:
                plant(path, victim)
            before = [look(path) for path in [*planted, victim]]
            for arguments in (QUICK, QUICK, ("latency", *commands.SMALL)):
                outcome = setting.run(*arguments, "--json", folder / "r.json")
                tally.expect(outcome.code == 0, lambda: f"beside {what} under temporary names: {how(outcome)}")
            killed = setting.start(*ENDLESS, "--json", folder / "r.json")
            wait_for(lambda: len((read_json(folder / "r.json") or {"results": []})["results"]) > 1, 20)
            end_group(killed)
            killed.wait()
            for path, state in zip([*planted, victim], before):
                tally.expect(look(path) == state, f"{what}, {path.name}: changed or gone")
            tally.expect(not (elsewhere / "absent").exists(), f"{what}: what it names was made")


def what_stands_under_the_old_ones_name(setting, tally):
    """FILE~ may already be anything, such as a link: its target must not be touched."""
    for what in ("a link to a file", "a link to nothing", "a folder", "a pipe"):
        with setting.scratch() as folder, setting.scratch() as elsewhere:
            victim = elsewhere / "victim"
            victim.write_bytes(MINE)
            setting.run(*QUICK, "--json", folder / "r.json")
            PLANTS[what](folder / "r.json~", victim)
            outcome = setting.run(*QUICK, "--json", folder / "r.json")
            tally.expect(outcome.code in (0, UNUSABLE), lambda: f"FILE~ is {what}: {how(outcome)}")
            tally.expect(is_results(read_json(folder / "r.json")), f"FILE~ is {what}: no results are left")
            unharmed = victim.read_bytes() == MINE and os.listdir(elsewhere) == ["victim"]
            tally.expect(unharmed, f"FILE~ is {what}: followed")


# --- Links and modes --------------------------------------------------------------------------------------------------


def modes_stay(setting, tally):
    with setting.scratch() as folder:
        file = folder / "r.json"
        setting.run(*QUICK, "--json", file)
        for mode in (0o600, 0o640, 0o644, 0o666, 0o4755, 0o2755, 0o6777):
            file.chmod(mode)
            setting.run(*QUICK, "--json", file)
            found = stat.S_IMODE(file.stat().st_mode)
            tally.expect(found == mode & 0o777, f"mode {mode:o} became {found:o}")
            tally.expect(not stat.S_IMODE(file.stat().st_mode) & 0o7000, f"mode {mode:o}: a setuid bit was copied")


def links_are_followed(setting, tally):
    with setting.scratch() as folder:
        (folder / "there").mkdir()
        for name, there in (("link", True), ("dangling", False)):
            target = folder / "there" / f"{name}.json"
            link = folder / f"{name}.json"
            if there:
                target.write_bytes(MINE)
            link.symlink_to(f"there/{name}.json")
            outcome = setting.run(*QUICK, "--json", link)
            tally.expect(outcome.code == 0, lambda: f"--json {name}: {how(outcome)}")
            tally.expect(link.is_symlink(), f"--json {name}: the link was replaced")
            tally.expect(is_results(read_json(target)), f"--json {name}: what it names has no results")
        first, second = folder / "first.json", folder / "second.json"
        first.write_bytes(MINE)
        os.link(first, second)
        outcome = setting.run(*QUICK, "--json", second)
        tally.expect(outcome.code == UNUSABLE, lambda: f"--json onto one of two hard links: {how(outcome)}")
        same = first.samefile(second) and first.read_bytes() == MINE
        tally.expect(same, "a hard link was taken apart")


def old_file_is_kept(setting, tally):
    """The old file is kept as FILE~. It is replaced only when there is a first result."""
    with setting.scratch() as folder:
        file = folder / "r.json"
        setting.run(*QUICK, "--json", file)
        before = file.read_bytes()
        outcome = setting.run("latency", *commands.SMALL, "--json", file)
        kept = folder / "r.json~"
        found = kept.read_bytes() if kept.exists() else None
        tally.expect(outcome.code == 0 and found == before, "the old file is not in FILE~")
        before = file.read_bytes()
        slow = setting.start(
            *("--simulate", "--size", "64M", "--min-samples", "1000000", "--max-samples", "1000000", "--quiet"),
            *("--json", file),
        )
        emptied = wait_for(lambda: file.read_bytes() != before, 0.5)
        tally.expect(not emptied and slow.poll() is None, "the old file was emptied before there were new results")
        end_group(slow)
        slow.wait()
        tally.expect(file.read_bytes() == before, "the old file is gone after a kill in the first case")


def files_are_replaced_safely(setting):
    writers, foreign, kept = Tally(setting), Tally(setting), Tally(setting)
    for _ in range(setting.number(50, 2, 1)):
        second_writer_is_refused(setting, writers)
        many_writers_at_once(setting, writers, 4)
    foreign_files_are_untouched(setting, foreign)
    what_stands_under_the_old_ones_name(setting, foreign)
    modes_stay(setting, kept)
    links_are_followed(setting, kept)
    old_file_is_kept(setting, kept)
    return [
        concurrent_reads(setting, setting.number(1_000_000, 20_000, 5_000)),
        Figure(
            "a second writer gets exit 2 before it measures",
            f"{writers.bad} of {writers.tried} checks failed",
            writers.bad == 0,
        ),
        Figure("0 foreign files touched", f"{foreign.bad} of {foreign.tried} checks failed", foreign.bad == 0),
        Figure("links, modes, the old file as FILE~", f"{kept.bad} of {kept.tried} checks failed", kept.bad == 0),
    ]

"""Resuming: whenever a run is killed, its file is valid, and no measured sample is lost."""

import os
import random
import re
import subprocess
import threading
import time

from . import commands
from .support import ROOT, UNUSABLE, Figure, Tally, build, count_of_samples, end_group, how, is_results, read_json
from .support import read_with_journal, statuses, visible_files, wait_for

TITLE = "resume keeps its word"

_CASES = (
    *("overlap", "--simulate", "--size", "1M", "--streams", "1:6:+1", "--chunks", "2:32", "--ci", "0.001", "--quiet"),
)
RUNS = {
    "one turn": (*_CASES, "--min-samples", "40", "--max-samples", "40"),
    "three turns": (*_CASES, "--min-samples", "60", "--max-samples", "60", "--turns", "3"),
    "several scenarios": (
        *("latency", "memcpy", "--size", "4K,64K,1M", "callback", "--size", "1M"),
        *("--simulate", "--turns", "2", "--min-samples", "100", "--max-samples", "100", "--quiet"),
    ),
    # A megabyte, most of it in the journal.
    "many cases": (
        *("memcpy", "--size", "64K:2M:+8K", "--host", "pinned", "--simulate", "--no-verify", "--quiet"),
        *("--min-samples", "40", "--max-samples", "40"),
    ),
}
# Runs of the same kinds, of half a second each.
_FEW = ("overlap", "--simulate", "--size", "64K", "--chunks", "2,4", "--ci", "0.001", "--quiet", "--streams")
QUICK_RUNS = {
    "one turn": (*_FEW, "1,2,3", "--min-samples", "10", "--max-samples", "10"),
    "three turns": (*_FEW, "1,2", "--min-samples", "12", "--max-samples", "12", "--turns", "3"),
    "several scenarios": (
        *("latency", "--op", "launch,wait", "memcpy", "--size", "4K,64K", "--dir", "h2d"),
        *("--simulate", "--turns", "2", "--min-samples", "40", "--max-samples", "40", "--quiet"),
    ),
    "many cases": (
        *("memcpy", "--size", "1K:160K:+1K", "--dir", "h2d", "--host", "pinned", "--simulate", "--no-verify"),
        *("--min-samples", "20", "--max-samples", "20", "--quiet"),
    ),
}
FUZZED = re.compile(r"(\d+) damaged files")


def runs(setting):
    return setting.number(RUNS, RUNS, QUICK_RUNS)


class Round:
    """A run that is killed and resumed until it is complete."""

    def __init__(self, setting, tally, name, folder, chance):
        self._setting, self._tally, self._name, self._chance = setting, tally, name, chance
        self._run = runs(setting)[name]
        self._file = folder / "r.json"
        self._samples = {}
        self._existed = False
        self.kills = 0

    def whole(self):
        """The results of the run without any kill."""
        outcome = self._setting.run(*self._run, "--json", self._file)
        found = read_json(self._file)
        self._tally.expect(outcome.code == 0 and is_results(found), lambda: f"undisturbed: {how(outcome)}")
        self._file.unlink()
        return found

    def command(self):
        return ("--resume", self._file, "--quiet") if self._existed else (*self._run, "--json", self._file)

    def kill(self, at_a_state):
        """Kills the run when its file has just been replaced, or at a random moment. Returns whether it was still
        running."""
        before = self._stamp()
        process = self._setting.start(*self.command())
        if at_a_state:
            for _ in range(self._chance.randint(1, 3)):
                wait_for(lambda: self._stamp() != before or process.poll() is not None, 10)
                before = self._stamp()
        else:
            time.sleep(self._chance.uniform(0, 0.25))
        alive = process.poll() is None
        end_group(process)
        process.wait()
        self.kills += alive
        return alive

    def _stamp(self):
        try:
            status = os.stat(self._file)
            return status.st_ino, status.st_mtime_ns, status.st_size
        except OSError:
            return None

    def check(self):
        """Checks that the file is valid and has lost no samples."""
        if not self._file.exists():
            self._tally.expect(not self._existed, f"{self._name}: the file is gone")
            return
        found = read_json(self._file)
        if not self._tally.expect(is_results(found), f"{self._name}: the file is not valid after a kill"):
            return
        self._existed = True
        now = count_of_samples(read_with_journal(self._file))
        fewer = [key for key, samples in self._samples.items() if now.get(key, 0) < samples]
        self._tally.expect(not fewer, lambda: f"{self._name}: fewer samples of {fewer[0]}: {now.get(fewer[0], 0)} "
                           f"instead of {self._samples[fewer[0]]}")
        self._samples = now

    def validate(self):
        """Checks the file against its schema; a run that was killed early has no file."""
        if not self._file.exists():
            return
        command = [str(ROOT / "scripts/validate-results"), str(self._file)]
        valid = subprocess.run(command, capture_output=True, text=True, check=False)
        self._tally.expect(valid.returncode == 0, lambda: f"{self._name}: {valid.stdout}{valid.stderr}")

    def finish(self, whole):
        """Resumes without a kill and checks that the results are complete."""
        outcome = self._setting.run(*self.command())
        self._tally.expect(outcome.code == 0, lambda: f"{self._name}, the last resume: {how(outcome)}")
        self.check()
        found = read_json(self._file)
        self._tally.expect(is_results(found) and found["complete"], f"{self._name}: not complete in the end")
        self.validate()
        self._tally.expect(statuses(found) == statuses(whole), f"{self._name}: other cases than an undisturbed run has")
        least = count_of_samples(whole)
        fewer = [key for key, samples in count_of_samples(found).items() if samples < least.get(key, 0)]
        self._tally.expect(not fewer, f"{self._name}: fewer samples than an undisturbed run has")
        left = [name for name in visible_files(self._file.parent) if name != self._file.name]
        self._tally.expect(not [name for name in left if not name.startswith(".xferbench-")],
                           f"{self._name}: beside the file is left {left}")


def kills_of_each(setting, tally):
    """Kills each kind of run twice: once when its file has just been replaced, once at a random moment."""

    def worker(name):
        with setting.scratch() as folder:
            one = Round(setting, tally, name, folder, random.Random(name))
            whole = one.whole()
            for at_a_state in (True, False):
                one.kill(at_a_state)
                one.check()
                one.validate()
            one.finish(whole)
            return one.kills

    killed = setting.side_by_side(worker, QUICK_RUNS)
    tally.expect(sum(killed) >= len(killed), f"most runs had ended before they were killed: {killed}")
    return {"kills": sum(killed), "rounds": len(killed)}


def kills(setting, tally, wanted):
    """`wanted` kills over as many rounds as needed, on all cores."""
    done = {"kills": 0, "rounds": 0}
    lock = threading.Lock()

    def worker(number):
        chance = random.Random(number)
        wholes = {}
        while True:
            name = list(RUNS)[chance.randrange(len(RUNS))]
            with setting.scratch() as folder:
                one = Round(setting, tally, name, folder, chance)
                if name not in wholes:
                    wholes[name] = one.whole()
                while one.kill(chance.random() >= 0.5):
                    one.check()
                    with lock:
                        done["kills"] += 1
                        if done["kills"] >= wanted:
                            break
                one.check()
                one.finish(wholes[name])
            with lock:
                done["rounds"] += 1
                if done["rounds"] % 10 == 0:
                    setting.say(f"  {done['kills']} kills")
                if done["kills"] >= wanted:
                    return

    setting.side_by_side(worker, range(setting.workers))
    return done


def killed_with_a_journal(setting, tally, folder):
    """Kills a run of many cases. Returns its file and its journal; None if it was not killed in time."""
    file, journal = folder / "r.json", folder / "r.json.journal"
    process = setting.start(*runs(setting)["many cases"], "--json", file)
    enough = setting.number(500_000, 500_000, 60_000)
    wait_for(lambda: (journal.stat().st_size if journal.exists() else 0) > enough or process.poll() is not None)
    end_group(process)
    process.wait()
    return (file, journal) if tally.expect(journal.exists(), "a killed run has left no journal") else None


def damaged_journals(setting, tally):
    """Damages the journal of a killed run at any place. --resume must complete the run with all cases of the file,
    keep the unreadable journal under another name, and report it; compare must report it too."""
    with setting.scratch() as folder:
        left = killed_with_a_journal(setting, tally, folder)
        if left is None:
            return 0
        file, journal = left
        kept = folder / "r.json.journal.damaged"
        state, whole = file.read_bytes(), journal.read_bytes()
        known = count_of_samples(read_json(file))
        places = [random.Random(2).randrange(60, len(whole) - 20_000) for _ in range(setting.number(50, 3, 1))]
        for at in places:
            damaged = whole[:at] + b"\x01" + whole[at + 1:]
            file.write_bytes(state)
            journal.write_bytes(damaged)
            compared = setting.run("compare", file, file, "--allow-simulated")
            tally.expect(b"r.json.journal" in compared.err and not compared.by_signal and compared.code != UNUSABLE,
                         lambda: f"compare, a journal damaged at {at}: {how(compared)}")
            outcome = setting.run("--resume", file, "--quiet")
            tally.expect(outcome.code == 0 and b"r.json.journal.damaged" in outcome.err,
                         lambda: f"a journal damaged at {at}: {how(outcome)}")
            found = read_json(file)
            now = count_of_samples(found)
            tally.expect(found["complete"] and all(now.get(key, 0) >= samples for key, samples in known.items()),
                         f"a journal damaged at {at}: samples of the file are lost")
            tally.expect(not journal.exists() and kept.exists() and kept.read_bytes() == damaged,
                         f"a journal damaged at {at}: it is not kept as it was")
            kept.unlink(missing_ok=True)
        return len(places)


def torn_journals(setting, tally):
    """Cuts off the journal of a killed run at every byte of its last results. --resume must complete the run and
    keep all complete results."""
    with setting.scratch() as folder:
        left = killed_with_a_journal(setting, tally, folder)
        if left is None:
            return 0
        file, journal = left
        state, whole = file.read_bytes(), journal.read_bytes()
        cuts = [random.Random(1).randrange(1, 20_000) for _ in range(setting.number(100, 4, 2))]
        for cut in cuts:
            file.write_bytes(state)
            journal.write_bytes(whole[:-cut])
            known = count_of_samples(read_with_journal(file))
            outcome = setting.run("--resume", file, "--quiet")
            tally.expect(outcome.code == 0, lambda: f"a journal less {cut} bytes: {how(outcome)}")
            now = count_of_samples(read_json(file))
            tally.expect(all(now.get(key, 0) >= samples for key, samples in known.items()),
                         f"a journal less {cut} bytes: samples are lost")
            tally.expect(not journal.exists(), f"a journal less {cut} bytes: it is still there")
        return len(cuts)


def skipped_cases_run_again(setting, tally):
    """Whatever call the device is lost at, --resume measures the skipped cases."""
    resumed = 0
    for call in ("copy", "launch", "record", "synchronize-stream"):
        for nth in setting.number((1, 3, 10, 30, 100, 300), (10,)):
            with setting.scratch() as folder:
                file = folder / "r.json"
                fault = {"XFERBENCH_INJECT": f"lose:{call}:{nth}"}
                lost = setting.run(*runs(setting)["one turn"], "--json", file, environment=fault)
                tally.expect(not lost.by_signal and not lost.hung, lambda: f"lost at {call} {nth}: {how(lost)}")
                before = statuses(read_json(file))
                if "skipped" not in before.values():
                    continue
                resumed += 1
                again = setting.run("--resume", file)
                after = statuses(read_json(file))
                tally.expect(again.code in (0, 1), lambda: f"resumed after a loss at {call} {nth}: {how(again)}")
                left = [key for key, status in after.items() if status == "skipped"]
                tally.expect(not left, lambda: f"lost at {call} {nth}: still skipped after --resume: {left[0]}")
                kept = all(after.get(key) == status for key, status in before.items() if status != "skipped")
                tally.expect(kept, f"lost at {call} {nth}: what was measured before has changed")
    return resumed


def mutated_files(setting, wanted):
    """reader_fuzz: everything that reads files, including --resume; under AddressSanitizer if that build exists."""
    fuzz = fuzz_program(setting)
    asked = f"0 crashes in {wanted:,} mutated files that are resumed"
    if fuzz is None:
        return Figure(asked, "no reader_fuzz beside the program", False)
    command = [str(fuzz), "--reader", "resume", "--iterations", str(wanted), "--seed", "7"]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False, cwd=setting.folder)
    found = FUZZED.search(outcome.stdout)
    if outcome.returncode != 0:
        setting.say(f"  does not hold: {outcome.stderr[-1500:]}")
    done = int(found[1]) if found else 0
    shown = f"{outcome.returncode and 1} in {done:,}" if found else f"exit code {outcome.returncode}"
    return Figure(asked, shown, outcome.returncode == 0 and done >= wanted)


def fuzz_program(setting):
    if setting.short:
        return setting.beside("reader_fuzz")
    return build("asan", "reader_fuzz") / "tests" / "reader_fuzz"


def resume_keeps_its_word(setting):
    tally, skipped = Tally(setting), Tally(setting)
    wanted = setting.number(1000, 10, 2 * len(QUICK_RUNS))
    done = kills_of_each(setting, tally) if setting.quick else kills(setting, tally, wanted)
    resumed = skipped_cases_run_again(setting, skipped)
    torn = Tally(setting)
    cuts = torn_journals(setting, torn)
    damaged = Tally(setting)
    places = damaged_journals(setting, damaged)
    found = [
        Figure(
            f"samples never fewer over {wanted} kills, turns included",
            f"{tally.bad} of {tally.tried} checks failed over {done['kills']} kills of {done['rounds']} runs",
            tally.bad == 0,
        ),
        Figure("skipped cases run again", f"{skipped.bad} of {skipped.tried} checks failed over {resumed} lost devices",
               skipped.bad == 0 and resumed > 0),
        Figure("journals cut off anywhere", f"{torn.bad} of {torn.tried} checks failed over {cuts} journals",
               torn.bad == 0 and cuts > 0),
        Figure("journals damaged anywhere", f"{damaged.bad} of {damaged.tried} checks failed over {places} journals",
               damaged.bad == 0 and places > 0),
    ]
    if not setting.quick:  # the test fuzz.reader covers some
        found.append(mutated_files(setting, setting.number(100_000, 300)))
    return found

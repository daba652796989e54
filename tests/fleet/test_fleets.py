"""Simulated fleets under mpirun on virtual hosts: test_fleets.py [CLASS...]

XFERBENCH_PROGRAM names the program; XFERBENCH_FLEETS is the number of fleets per fault [20].
"""

import collections
import contextlib
import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

import hosts
import profiles

PROGRAM = pathlib.Path(os.environ["XFERBENCH_PROGRAM"]).resolve()
FLEETS = int(os.environ.get("XFERBENCH_FLEETS", "20"))
RANKS = 8
# A short run that can still tell a slow link from a slow GPU.
CASES = ["memcpy", "--dir", "h2d,d2h,d2d", "--size", "64M", "--host", "pinned", "--no-verify", "--quiet"]
LOUD = [word for word in CASES if word != "--quiet"]
TIMEOUT = 8  # seconds that a rank waits for another one
LONG = hosts.LONG


class Fleets(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory(prefix="xferbench-fleet-")
        self.addCleanup(self._folder.cleanup)
        self.folder = pathlib.Path(self._folder.name)
        self.results = self.folder / "results.json"

    @classmethod
    def setUpClass(cls):
        hosts.require_mpirun()

    def simulate(self, seed, fault="none", **how):
        """Writes the profiles. Returns the flags that select them, and the Fault."""
        each, truth = profiles.fleet(seed, ranks=RANKS, fault=fault, **how)
        profiles.write(self.folder, each)
        return ["--simulate", self.folder / "rank-%r.json"], truth

    def run_fleet(self, fleet, flags, ranks=RANKS, cases=CASES, **how):
        """Runs mpirun to its end. Returns the Outcome and the content of the results file."""
        outcome = hosts.mpirun(
            ranks, fleet, [PROGRAM, *cases, "--timeout", TIMEOUT, "--json", self.results, *flags], **how
        )
        self.assertFalse(outcome.hung, outcome.err)
        return outcome, self.report()

    def report(self):
        """The content of the results file so far; None without a file."""
        text = self.results.read_text("utf-8") if self.results.exists() else ""
        return json.loads(text) if text else None

    def measured(self):
        report = self.report()
        return len(report["results"]) if report else 0


def flags_of(report):
    """{(kind of fault, ranks)} flagged in the results."""
    return {(one["what"], tuple(sorted(one["ranks"]))) for one in report["fleet"].get("flagged", [])}


class Faults(Fleets):
    """Each fault is flagged as what it is, and nothing else is flagged. One fleet per fault, with few samples."""

    SEEDS = range(1)
    CASES = [*CASES, "--max-samples", "8", "--budget", "0.05"]

    def all_are_named(self, fault):
        with hosts.network(2) as fleet:
            for seed in self.SEEDS:
                flags, truth = self.simulate(seed, fault)
                outcome, report = self.run_fleet(fleet, flags, cases=self.CASES)
                with self.subTest(fault=fault, seed=seed):
                    expected = {(fault, truth.ranks)} if fault != "none" else set()
                    self.assertEqual(flags_of(report), expected, outcome.out + outcome.err)
                    self.assertEqual(outcome.code, 1 if expected else 0, outcome.err)
                    self.assertTrue(report["complete"])
                    self.assertEqual(len(report["fleet"]["ranks"]), RANKS)
                    self.assertEqual({rank["host"] for rank in report["fleet"]["ranks"]}, {"node0", "node1"})
                    self.assertIn("SIMULATED", outcome.out)

    def test_none(self):
        self.all_are_named("none")

    def test_link(self):
        self.all_are_named("link")

    def test_gpu(self):
        self.all_are_named("gpu")

    def test_host(self):
        self.all_are_named("host")


class FaultsLong(Faults):
    """Many fleets per fault, with a user's default number of samples."""

    SEEDS = range(FLEETS)
    CASES = CASES


class Exchanged(Fleets):
    """Transfers between ranks: a slow rank is distinguished from its partners."""

    RANKS = 4
    HOSTS = 2
    SLOW = 2
    SHORT = ["--budget", "0.05"]

    def test_a_slow_link(self):
        each, _ = profiles.fleet(7, ranks=self.RANKS, hosts=self.HOSTS)
        each[self.SLOW]["scale"]["link"] = 0.2
        profiles.write(self.folder, each)
        flags = ["--simulate", self.folder / "rank-%r.json"]
        cases = ["exchange", "--pairs", "all", "--method", "pipeline", "--chunk", "1M", "--depth", "4",
                 "--size", "16M", "--max-samples", "4", "--no-verify", "--quiet", *self.SHORT]  # fmt: skip
        outcome, report = self.run_fleet(None, flags, ranks=self.RANKS, cases=cases, seconds=150)
        self.assertEqual(outcome.code, 1, outcome.out + outcome.err)
        self.assertEqual(flags_of(report), {("host", (self.SLOW,))}, outcome.out)
        self.assertIn("its link", report["fleet"]["flagged"][0]["text"])


class KeysWithBlanks(Fleets):
    """A suspicious rank is measured again, even if the key of its case contains blanks."""

    RANKS = 4
    SLOW = 2

    def test_options_of_a_kernel(self):
        each, _ = profiles.fleet(7, ranks=self.RANKS)
        each[self.SLOW]["scale"]["link"] = 0.2
        profiles.write(self.folder, each)
        kernel = self.folder / "my kernel.cu"
        kernel.write_text('extern "C" __global__ void mine(const float* in, float* out, size_t n) {}\n', "utf-8")
        cases = ["overlap", "--size", "16M", "--strategy", "engines", "--kernel-file", kernel, "--kernel-name", "mine",
                 "--kernel-option=-DA=1 -DB=2", "--max-samples", "4", "--no-verify", "--quiet"]  # fmt: skip
        outcome, report = self.run_fleet(None, ["--simulate", self.folder / "rank-%r.json"], ranks=self.RANKS, cases=cases)
        self.assertEqual(outcome.code, 1, outcome.out + outcome.err)
        self.assertEqual(flags_of(report), {("link", (self.SLOW,))}, outcome.out)
        again = {result["key"] for result in report["results"] if result["fleet"]["round"] == 2}
        self.assertEqual(len(again), 1, outcome.err)
        self.assertIn("-DA=1 -DB=2", again.pop())


class ExchangedLong(Exchanged):
    """More ranks on more hosts, with the default budget."""

    RANKS = 6
    HOSTS = 3
    SLOW = 4
    SHORT = []


class Kills(Fleets):
    """kill -9 of a rank: all ranks end, and finished results stay in the file."""

    RANKS = RANKS
    CASES = ["memcpy", "--size", "1M:64M:x2", "--dir", "h2d,d2h,d2d", "--host", "pinned", "--min-samples", "60", "--no-verify"]
    PATIENT = 20  # seconds for --timeout: longer than a busy machine needs to end the others
    MPI_LOST_ITSELF = "PMIX ERROR"

    def setUp(self):
        super().setUp()
        flags, _ = self.simulate(1)
        self.command = [PROGRAM, *self.CASES, "--timeout", self.PATIENT, "--json", self.results, *flags]

    def one_is_killed(self, fleet, victim, wait):
        """Runs the fleet and kills the rank after `wait`. Returns the outcome in a few words."""
        self.results.unlink(missing_ok=True)
        with hosts.start(self.RANKS, fleet, self.command) as run:
            wait(run)
            pid = run.ranks().get(victim)
            killed = pid is not None and run.process.poll() is None
            if killed:
                os.kill(pid, signal.SIGKILL)
            begin = time.monotonic()
            outcome = run.finish(LONG)
            took = time.monotonic() - begin
        report = self.report()
        # When a rank dies while mpirun connects its hosts, Open MPI's own servers may wait for ever.
        if killed and not report and outcome.hung and self.MPI_LOST_ITSELF in outcome.err:
            return "MPI lost itself"
        self.assertFalse(outcome.hung, outcome.err)
        self.assertLess(took, self.PATIENT / 2 if killed else LONG, outcome.err)
        if not killed:
            return "through before"
        self.assertNotEqual(outcome.code, 0)
        if not report:
            return "before the first file"
        if report["complete"]:
            return "through by then"
        for result in report["results"]:
            self.assertIn(result["status"], ("ok", "failed", "skipped"))
        if not report["fleet"].get("missing"):
            return "not named" if victim else "rank 0"
        if victim != 0:
            self.assertEqual(report["fleet"]["missing"], [victim])
            self.assertIn(f"rank {victim} ", outcome.err)
        return "named"


class Killed(Kills):
    """One kill in each phase of a run."""

    RANKS = 4

    def kill_when(self, fleet, victim, begun):
        """Kills the rank as soon as begun(run) is true. Returns the outcome in a few words."""

        def wait(run):
            while run.process.poll() is None and not begun(run):
                time.sleep(0.02)

        return self.one_is_killed(fleet, victim, wait)

    def has_measured(self, _):
        return self.measured() > self.RANKS

    def test_a_rank_that_starts(self):
        # Open MPI's servers may lose a rank that dies while they start, so try three times.
        outcomes = (self.kill_when(None, 1, lambda run: 1 in run.ranks()) for _ in range(3))
        self.assertIn("before the first file", outcomes)

    def test_a_rank_that_measures(self):
        with hosts.network(2) as fleet:
            # mpirun ends all ranks when one dies, sometimes before rank 0 can name it.
            outcomes = (self.kill_when(fleet, 2, self.has_measured) for _ in range(3))
            self.assertIn("named", outcomes)

    def test_rank_0(self):
        with hosts.network(2) as fleet:
            self.assertEqual(self.kill_when(fleet, 0, self.has_measured), "rank 0")


class KilledLong(Kills):
    """Kills at random moments of a run."""

    MOMENTS = 20

    def test_killed_ranks(self):
        chance = random.Random(17)
        outcomes = collections.Counter()
        with hosts.network(2) as fleet:
            undisturbed = hosts.mpirun(RANKS, fleet, self.command)
            self.assertEqual(undisturbed.code, 0, undisturbed.err)
            for trial in range(self.MOMENTS):
                victim, moment = chance.randrange(RANKS), chance.uniform(0.03, 0.9) * undisturbed.seconds
                with self.subTest(trial=trial, victim=victim, moment=moment):
                    outcomes[self.one_is_killed(fleet, victim, lambda _, moment=moment: time.sleep(moment))] += 1
        print(dict(outcomes), file=sys.stderr)
        # A rank killed during the start, and rank 0, cannot be named; nor can others if mpirun is too quick on a busy
        # machine.
        self.assertGreater(outcomes["named"], self.MOMENTS // 4)
        self.assertLessEqual(outcomes["not named"], self.MOMENTS // 10)
        self.assertLessEqual(outcomes["MPI lost itself"], self.MOMENTS // 10)


class Ended(Fleets):
    """A run that ends early, or whose ranks wait in vain, says so and blames no healthy rank."""

    MANY = ["memcpy", "--size", "1M:64M:x1.1", "--host", "pinned", "--min-samples", "60", "--no-verify"]

    @contextlib.contextmanager
    def under_way(self, ranks, *flags, cases=MANY, timeout=TIMEOUT, environment=None):
        """A run that has already written results of some cases."""
        profiles_of, _ = self.simulate(1)
        self.results.unlink(missing_ok=True)  # results of an earlier try must not count
        command = [PROGRAM, *cases, *profiles_of, "--timeout", timeout, "--json", self.results, *flags]
        with hosts.start(ranks, None, command, environment=environment) as run:
            end = time.monotonic() + 30
            while time.monotonic() < end and run.process.poll() is None and self.measured() < ranks:
                time.sleep(0.05)
            self.assertIsNone(run.process.poll(), "it had ended by then")
            self.assertGreaterEqual(self.measured(), ranks, "no result in 30 s")
            yield run

    def end_of(self, run, seconds=20):
        """Waits for the end. `took` is the time until all ranks have ended; mpirun itself may take seconds more."""
        begin = time.monotonic()
        while time.monotonic() < begin + seconds and run.ranks():
            time.sleep(0.01)
        self.took = time.monotonic() - begin
        outcome = run.finish(seconds)
        self.assertFalse(outcome.hung, outcome.err)
        report = self.report()
        self.assertFalse(report["complete"])
        self.assertGreater(len(report["results"]), 0)
        return outcome, report

    def expect_nobody_accused(self, report, outcome):
        self.assertEqual(report["fleet"]["missing"], [], outcome.err)
        self.assertEqual(flags_of(report), set(), outcome.err)
        self.assertNotIn("does not answer", outcome.err)
        self.assertNotIn("--timeout", outcome.err)

    def test_ctrl_c(self):
        """None of the remaining cases, hundreds of them, is begun."""
        with self.under_way(4, "--pace", "all,node,one") as run:
            ranks = run.ranks()
            for pid in ranks.values():
                os.kill(pid, signal.SIGINT)
            outcome, report = self.end_of(run)
        self.assertEqual(outcome.code, 130, outcome.err)
        self.assertLess(self.took, 3, outcome.err)
        self.expect_nobody_accused(report, outcome)
        self.assertIn("SIMULATED", outcome.out, "the table of what was measured")
        skipped = {(r["key"], r["fleet"]["pace"]) for r in report["results"] if r["status"] != "ok"}
        self.assertLessEqual(len(skipped), 1, "the case that had no sample yet, if there was one")

    def test_ctrl_c_at_mpirun(self):
        with self.under_way(4) as run:
            os.kill(run.process.pid, signal.SIGINT)
            outcome, report = self.end_of(run)
        self.assertNotEqual(outcome.code, 0)
        self.expect_nobody_accused(report, outcome)

    def test_a_signal_to_one_rank_ends_all(self):
        with self.under_way(3) as run:
            os.kill(run.ranks()[2], signal.SIGTERM)
            outcome, report = self.end_of(run)
        self.assertEqual(outcome.code, 143, outcome.err)
        self.expect_nobody_accused(report, outcome)

    def test_ctrl_c_while_a_rank_is_busy(self):
        with self.under_way(3) as run:
            ranks = run.ranks()
            os.kill(ranks[2], signal.SIGSTOP)
            time.sleep(0.1)
            for pid in ranks.values():
                os.kill(pid, signal.SIGINT)
            outcome, report = self.end_of(run)
        self.assertEqual(outcome.code, 130, outcome.err)
        self.expect_nobody_accused(report, outcome)
        self.assertIn("interrupted", outcome.err)

    def test_a_death_is_noticed_at_once(self):
        with self.under_way(4, timeout=60) as run:
            os.kill(run.ranks()[2], signal.SIGKILL)
            outcome, report = self.end_of(run)
        self.assertLess(self.took, 5)
        self.assertEqual(report["fleet"]["missing"], [2], outcome.err)

    def test_the_death_of_a_partner_is_noticed_at_once(self):
        cases = ["exchange", "--size", "1M:64M:x1.1", "--min-samples", "60", "--no-verify"]
        with self.under_way(2, cases=cases, timeout=60) as run:
            os.kill(run.ranks()[1], signal.SIGKILL)
            outcome, report = self.end_of(run)
        self.assertLess(self.took, 5)
        self.assertEqual(report["fleet"]["missing"], [1], outcome.err)

    def test_a_rank_that_was_stopped_is_named(self):
        with self.under_way(3, timeout=3) as run:
            os.kill(run.ranks()[2], signal.SIGSTOP)
            outcome, report = self.end_of(run)
        self.assertLess(self.took, 3 + 5)
        self.assertEqual(outcome.code, 1, outcome.err)
        self.assertEqual(report["fleet"]["missing"], [2], outcome.err)
        self.assertIn("rank 2 ", outcome.err)

    def test_rank_0_that_was_stopped(self):
        """The others name rank 0 as silent. Rank 0 continues when mpirun ends it, and must not blame ranks that have
        left."""
        for _ in range(3):  # mpirun ends all ranks when one ends, and may lose its last message
            with self.under_way(3, timeout=3) as run:
                os.kill(run.ranks()[0], signal.SIGSTOP)
                outcome, report = self.end_of(run, 60)
            if "rank 0 does not answer" in outcome.err:
                break
        self.assertNotEqual(outcome.code, 0)
        self.assertIn("rank 0 does not answer", outcome.err)
        self.assertEqual(report["fleet"]["missing"], [], outcome.err)
        self.assertNotRegex(outcome.err, r"rank 1 \(.*\) does not answer")

    def test_a_failure_keeps_what_earlier_turns_measured(self):
        cases = ["memcpy", "--size", "16M,64M", "--host", "pinned", "--no-verify", "--turns", "100"]
        for seconds in (1, 4, 16):  # a busy machine needs longer for three turns
            with self.under_way(3, cases=cases) as run:
                time.sleep(seconds)
                os.kill(run.ranks()[1], signal.SIGKILL)
                outcome, report = self.end_of(run)
            kept = [result for result in report["results"] if result["status"] == "ok"]
            if kept and min(len(result["measurements"][0]["samples"]) for result in kept) > 12:
                break
        self.assertEqual(report["fleet"]["missing"], [1], outcome.err)
        self.assertGreaterEqual(len(kept), 2 * 2 * 3 - 3, "of all cases but the one that was being measured")
        for result in kept:
            samples = len(result["measurements"][0]["samples"])
            self.assertGreater(samples, 12, "more than two turns have")
            self.assertEqual(len(result["fleet"]["begins"]), samples, "the moments are of all turns, as the samples")
            self.assertGreaterEqual(result["fleet"]["passes"], samples)

    def test_a_full_disk_ends_all_in_order(self):
        """All ranks end by themselves with rank 0's exit code, and are not killed by mpirun."""
        flags, _ = self.simulate(1)
        each = ["sh", "-c", '"$@"; echo "ended with $?" >&2', "sh", PROGRAM]
        outcome = hosts.mpirun(3, None, [*each, *CASES, *flags, "--json", "/dev/full"])
        self.assertFalse(outcome.hung)
        self.assertEqual(outcome.err.count("ended with 2\n"), 3, outcome.err)
        self.assertEqual(outcome.err.count("No space left on device"), 1, outcome.err)
        self.assertIn("SIMULATED", outcome.out)


class Wrong(Fleets):
    """An error on one rank concerns this rank only: the others continue."""

    def with_rank(self, rank, change, **how):
        each, _ = profiles.fleet(3, ranks=4)
        each[rank].update(change)
        profiles.write(self.folder, each)
        return self.run_fleet(None, ["--simulate", self.folder / "rank-%r.json"], ranks=4, **how)

    def test_a_rank_with_another_gpu(self):
        """Rank 0 reports the difference at the start, and it is in the table and the file."""
        outcome, report = self.with_rank(2, {"gpu": "NVIDIA H100"}, cases=LOUD)
        differences = report["fleet"]["differences"]
        self.assertEqual(len([text for text in differences if "in their GPU" in text]), 1, differences)
        self.assertIn("rank 2", differences[0])
        self.assertEqual(outcome.err.count(f"xferbench: {differences[0]}"), 1, outcome.err)
        self.assertIn("ranks differ in their GPU", outcome.out)

    def statuses(self, report):
        by_rank = {}
        for result in report["results"]:
            by_rank.setdefault(result["fleet"]["rank"], []).append(result["status"])
        return by_rank

    def test_a_rank_that_fails_a_case(self):
        outcome, report = self.with_rank(2, {"inject": "fail:copy:3"})
        self.assertEqual(outcome.code, 1)
        statuses = self.statuses(report)
        for rank in (0, 1, 3):
            self.assertEqual(set(statuses[rank]), {"ok"}, outcome.err)

    def test_a_rank_that_loses_its_gpu(self):
        outcome, report = self.with_rank(1, {"inject": "lose:copy:40"})
        self.assertEqual(outcome.code, 1)
        statuses = self.statuses(report)
        self.assertIn("failed", statuses[1], outcome.err)
        for rank in (0, 2, 3):
            self.assertEqual(set(statuses[rank]), {"ok"}, outcome.err)

    def test_a_rank_that_dies(self):
        outcome, report = self.with_rank(3, {"inject": "die:copy:60"})
        self.assertNotEqual(outcome.code, 0)
        self.assertFalse(report["complete"])
        self.assertEqual(report["fleet"]["missing"], [3], outcome.err)
        self.assertIn("rank 3 ", outcome.err)
        self.assertLess(outcome.seconds, TIMEOUT, "long before it is missed")

    def test_a_rank_that_hangs(self):
        outcome, report = self.with_rank(3, {"inject": "hang:copy:60"})
        self.assertNotEqual(outcome.code, 0)
        self.assertFalse(report["complete"])
        self.assertEqual(report["fleet"]["missing"], [3], outcome.err)
        self.assertIn("rank 3 ", outcome.err)

    def test_a_first_rank_that_hangs(self):
        outcome, report = self.with_rank(0, {"inject": "hang:copy:60"})
        self.assertNotEqual(outcome.code, 0)
        self.assertFalse(report["complete"])
        self.assertIn("rank 0 does not answer", outcome.err)

    def test_a_rank_that_is_late(self):
        """Its late passes are repeated and counted; the result is as good."""
        outcome, report = self.with_rank(1, {"late": {"probability": 0.2, "seconds": 0.01}})
        self.assertEqual(outcome.code, 0, outcome.out + outcome.err)
        void = [result["fleet"].get("void_passes", 0) for result in report["results"]]
        late = collections.Counter()
        for result in report["results"]:
            late[result["fleet"]["rank"]] += result["fleet"]["late_passes"]
        self.assertGreater(max(void), 0)
        self.assertGreater(late[1], 0)
        self.assertEqual({late[rank] for rank in (0, 2, 3)}, {0})

    def test_nobody_is_late_where_all_are_quiet(self):
        """No pass is late, not even the first one, whose preparation time is not known yet."""
        flags, _ = self.simulate(1)
        _, report = self.run_fleet(None, flags, ranks=2, cases=["overlap", "--no-verify", "--quiet"])
        for result in report["results"]:
            self.assertEqual(result["fleet"]["void_passes"], 0, result["key"])
            self.assertGreater(result["fleet"]["passes"], len(result["fleet"]["begins"]))


class Starts(Fleets):
    RANKS = 2
    TRIES = 3

    def test_as_soon_as_one_process(self):
        """The first sample is taken on all ranks at most 2 s later than in a single process."""
        flags, _ = self.simulate(1)
        one = [PROGRAM, "memcpy", "--dir", "h2d", "--size", "1M", "--max-samples", "1", "--no-verify"]

        def seconds(run):
            return statistics.median(run() for _ in range(self.TRIES))

        def alone():
            begin = time.monotonic()
            subprocess.run([*one, "--simulate"], check=True, capture_output=True)
            return time.monotonic() - begin

        single = seconds(alone)
        together = seconds(lambda: hosts.mpirun(self.RANKS, None, [*one, *flags]).seconds)
        print(f"1 process: {single:.2f} s, mpirun -n {self.RANKS}: {together:.2f} s", file=sys.stderr)
        self.assertLess(together - single, 2)


class StartingLong(Starts):
    RANKS = RANKS
    TRIES = 5


class Starting(Starts):
    def error(self, ranks, *arguments, environment=None):
        outcome = hosts.mpirun(ranks, None, [PROGRAM, *arguments], environment=environment)
        self.assertFalse(outcome.hung)
        self.assertEqual(outcome.out, "")
        said = [line for line in outcome.err.splitlines() if line.startswith("xferbench: ")]
        self.assertEqual(len(said), 1, outcome.err)
        return outcome.code, said[0]

    def test_more_ranks_than_gpus(self):
        code, said = self.error(3, "memcpy", "--simulate", "h200-x2")
        self.assertEqual(code, 3)
        self.assertIn("--share-gpus", said)
        self.assertIn("rank 2", said)

    def test_shared_gpus(self):
        """Also that no colours reach a file: mpirun gives each rank a terminal of its own."""
        command = [PROGRAM, *CASES, "--simulate", "h200-x2", "--share-gpus"]
        outcome = hosts.mpirun(3, None, command, environment={"TERM": "xterm-256color"})
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertNotIn("\x1b[", outcome.out)
        coloured = hosts.mpirun(3, None, [*command, "--color", "always"])
        self.assertIn("\x1b[", coloured.out)

    def test_two_ranks_on_one_gpu(self):
        each, _ = profiles.fleet(3, ranks=2)
        each[1]["uuid"] = each[0]["uuid"]
        each[1]["host"] = each[0]["host"]
        profiles.write(self.folder, each)
        code, said = self.error(2, "memcpy", "--simulate", self.folder / "rank-%r.json")
        self.assertEqual(code, 3)
        self.assertIn("--share-gpus", said)

    def test_a_launcher_without_mpi(self):
        """Like plain srun without PMIx: each process is alone."""
        environment = {"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "4", "SLURM_LOCALID": "0", "SLURM_STEP_ID": "0",
                       "SLURM_JOB_ID": "1"}
        for name in [name for name in os.environ if name.startswith(("OMPI_", "PMIX_"))]:
            environment[name] = ""
        found = subprocess.run(
            [PROGRAM, "memcpy", "--simulate"], capture_output=True, text=True, timeout=60,
            env={**os.environ, **hosts.SETTINGS, **environment},
        )
        self.assertEqual(found.returncode, 2, found.stderr)
        self.assertIn("--mpi=pmix", found.stderr)

    def by_rank(self, *each):
        """Runs one command per rank, separated by ':' as mpirun takes them."""
        words = []
        for number, arguments in enumerate(each):
            words += [*([":", "-n", 1] if number else []), PROGRAM, *arguments]
        outcome = hosts.mpirun(1, None, words)
        self.assertFalse(outcome.hung)
        return outcome, [line for line in outcome.err.splitlines() if line.startswith("xferbench: ")]

    def test_a_file_of_one_rank_only(self):
        """Only the rank that lacks the file reports it, with its host."""
        suite = self.folder / "suite.json"
        outcome, said = self.by_rank([*CASES, "--simulate"], ["--suite", suite, "--simulate"])
        self.assertEqual(outcome.code, 2, outcome.err)
        self.assertEqual(len(said), 1, outcome.err)
        self.assertIn("rank 1 on host ", said[0])
        self.assertIn(str(suite), said[0])

    def test_output_that_cannot_be_written(self):
        code, said = self.error(3, *CASES, "--simulate", "--json", self.folder / "none" / "results.json")
        self.assertEqual(code, 2)
        self.assertIn("none/results.json", said)

    def test_a_gpu_that_hangs_while_it_is_opened(self):
        """Rank 1 opens a pipe that nobody ever writes to."""
        self.simulate(1)
        (self.folder / "rank-1.json").unlink()
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        self.addCleanup(os.close, writer)
        os.symlink(f"/proc/{os.getpid()}/fd/{reader}", self.folder / "rank-1.json")
        outcome = hosts.mpirun(3, None, [PROGRAM, *CASES, "--timeout", 2, "--simulate", self.folder / "rank-%r.json"])
        self.assertFalse(outcome.hung, outcome.err)
        self.assertEqual(outcome.code, 1, outcome.err)
        self.assertIn("rank 1 on host ", outcome.err)
        self.assertIn("opening the GPU did not end within 2 s", outcome.err)

    def test_an_only_rank_is_rank_0(self):
        flags, _ = self.simulate(1)
        outcome = hosts.mpirun(1, None, [PROGRAM, *CASES, *flags])
        self.assertEqual(outcome.code, 0, outcome.err)

    def test_flags_for_one_process(self):
        for flag in (["--gpu", "1"], ["--repeat", "2", "--json", "x.json"], ["--timeline", "x.json"]):
            code, said = self.error(2, "overlap", "--simulate", *flag)
            self.assertEqual(code, 2)
            self.assertIn(flag[0], said)

    def test_tune_where_only_mpi_knows_how_many_ranks_there_are(self):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "SLURM_"))}
        found = subprocess.run(
            [PROGRAM, "tune", "--simulate", "--dry-run"], capture_output=True, text=True, timeout=60,
            env={**environment, "PMIX_RANK": "0", "PMIX_NAMESPACE": "prterun-node0-12@1"},
        )
        self.assertEqual((found.returncode, found.stdout), (2, ""), found.stderr)
        self.assertIn("tune is for a single process", found.stderr)

    def test_paces(self):
        flags, _ = self.simulate(1)
        outcome, report = self.run_fleet(None, [*flags, "--pace", "all,node,one"], ranks=4)
        self.assertEqual(outcome.code, 0, outcome.out + outcome.err)
        seen = {(result["fleet"]["pace"], result["fleet"]["rank"]) for result in report["results"]}
        self.assertEqual(seen, {(pace, rank) for pace in ("all", "node", "one") for rank in range(4)})
        self.assertEqual(report["fleet"]["differences"], [])

    def test_help_needs_no_mpi(self):
        found = subprocess.run(
            [PROGRAM, "--help"], capture_output=True, text=True, timeout=30,
            env={**os.environ, "XFERBENCH_MPI": "/nowhere", "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "4"},
        )
        self.assertEqual(found.returncode, 0, found.stderr)


if __name__ == "__main__":
    try:
        hosts.require_mpirun()
        with hosts.network(1):
            pass
    except hosts.Unavailable as reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    unittest.main()

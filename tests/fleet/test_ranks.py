"""src/ranks under mpirun, on this machine and across virtual hosts: test_ranks.py RANKS_CHECK HOST_RATES"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import hosts

SKIPPED = 77
RANKS_CHECK, HOST_RATES = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
PROGRAM = pathlib.Path(os.environ["XFERBENCH_PROGRAM"])
PLUGIN = PROGRAM.parent / "libxferbench-mpi.so"
WITH_PLUGIN = {"XFERBENCH_MPI": PLUGIN}


def lines_of(outcome):
    return [json.loads(line) for line in outcome.out.splitlines()]


class Ranks(unittest.TestCase):
    def check(self, ranks, fleet, *arguments, seconds=hosts.LONG):
        """Runs ranks_check, again after a crash of Open MPI 4.1: it sometimes crashes at its end in a thread whose
        code is already unloaded. Our code has no threads there, so an error of ours would repeat."""
        for _ in range(3):
            outcome = hosts.mpirun(ranks, fleet, [RANKS_CHECK, *arguments], environment=WITH_PLUGIN, seconds=seconds)
            if outcome.code != 128 + signal.SIGSEGV or "Failing at address" not in outcome.err:
                break
        return outcome

    def ends_well(self, outcome):
        self.assertEqual((outcome.code, outcome.hung), (0, False), outcome.err)
        return outcome

    def places(self, ranks, fleet):
        found = lines_of(self.ends_well(self.check(ranks, fleet, "places")))
        self.assertEqual(sorted(place["rank"] for place in found), list(range(ranks)))
        for place in found:
            self.assertEqual(place["size"], ranks)
            self.assertRegex(place["library"], r"^[A-Z][\w ]+ \d+\.\d+")
            self.assertEqual(place["launcher"], "Open MPI")
            self.assertEqual(place["launched"], [place["rank"], ranks, place["local_rank"]])
        return found

    def everybody_is_right(self, ranks, fleet):
        said = self.ends_well(self.check(ranks, fleet, "talk")).out.splitlines()
        self.assertEqual(sorted(said), [f"rank {rank}: right" for rank in range(ranks)])


class OnOneHost(Ranks):
    def test_places(self):
        found = self.places(4, None)
        self.assertEqual({place["local_rank"] for place in found}, set(range(4)))
        self.assertEqual({place["local_size"] for place in found}, {4})

    def test_talk(self):
        self.everybody_is_right(4, None)

    def test_one_alone(self):
        self.everybody_is_right(1, None)

    def test_somebody_who_never_answers(self):
        outcome = self.check(3, None, "silent", "1")
        self.assertNotEqual(outcome.code, 0)
        self.assertFalse(outcome.hung)
        waited = {line["rank"]: line["waited"] for line in lines_of(outcome)}
        self.assertEqual(set(waited), {0, 2}, outcome.err)
        for seconds in waited.values():
            self.assertGreaterEqual(seconds, 1)
            self.assertLess(seconds, 5)
        self.assertLess(outcome.seconds, 30)

    def test_ctrl_c_shortens_patience(self):
        with hosts.start(3, None, [RANKS_CHECK, "silent", "50"], environment=WITH_PLUGIN) as run:
            end = time.monotonic() + 20
            while len(run.ranks()) < 3 and time.monotonic() < end:
                time.sleep(0.05)
            time.sleep(2)  # now all ranks are waiting
            begin = time.monotonic()
            os.kill(run.ranks()[0], signal.SIGINT)
            outcome = run.finish(20)
        self.assertLess(time.monotonic() - begin, 10)
        self.assertIn("interrupted", next(line["said"] for line in lines_of(outcome) if line["rank"] == 0))

    def test_nothing_is_left_of_one_that_hangs(self):
        with hosts.start(2, None, [RANKS_CHECK, "silent", "50"], environment=WITH_PLUGIN) as run:
            outcome = run.finish(3)
            self.assertTrue(outcome.hung)
            self.assertEqual(run.ranks(), {})

    def test_start_and_end(self):
        outcome = self.ends_well(self.check(8, None, "start"))
        print(f"8 ranks, from mpirun to its end: {outcome.seconds:.2f} s", file=sys.stderr)

    def test_host_rates_beside_plain_calls(self):
        outcome = self.ends_well(hosts.mpirun(2, None, [HOST_RATES, 1, 65536], environment=WITH_PLUGIN))
        found = lines_of(outcome)
        self.assertEqual([line["bytes"] for line in found], [8, 4096, 65536])
        for line in found:
            for name in ("GB/s", "us"):
                self.assertGreater(min(line[name]["plain"], line[name]["exchange"]), 0)


class ThePlugin(unittest.TestCase):
    def load(self, program, **environment):
        clean = {name: value for name, value in os.environ.items() if name != "XFERBENCH_MPI"}
        return subprocess.run([program, "load"], env={**hosts.SANITIZERS, **clean, **hosts.SETTINGS, **environment},
                              capture_output=True, text=True, timeout=hosts.LONG, check=False)

    def test_is_found_beside_the_program_and_where_it_is_installed(self):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            (root / "bin").mkdir()
            program = shutil.copy(RANKS_CHECK, root / "bin" / RANKS_CHECK.name)
            missing = self.load(program)
            self.assertEqual(missing.returncode, 2, missing.stderr)
            self.assertIn("XFERBENCH_MPI", missing.stderr)
            self.assertEqual(len(missing.stderr.splitlines()), 1)
            shutil.copy(PLUGIN, root / "bin")
            self.assertEqual(self.load(program).returncode, 0)
            (root / "bin" / PLUGIN.name).unlink()
            command = ["cmake", "--install", PROGRAM.parent, "--component", "mpi", "--prefix", root]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            installed = self.load(program)
            self.assertEqual(installed.returncode, 0, installed.stderr)

    def test_one_that_is_named_and_missing(self):
        missing = self.load(RANKS_CHECK, XFERBENCH_MPI="/nowhere/libxferbench-mpi.so")
        self.assertEqual(missing.returncode, 2)
        self.assertIn("/nowhere/libxferbench-mpi.so", missing.stderr)

    def test_the_program_is_not_linked_with_mpi(self):
        linked = subprocess.run(["ldd", PROGRAM], capture_output=True, text=True, check=True).stdout
        self.assertNotRegex(linked, "libmpi|xferbench-mpi")
        linked = subprocess.run(["ldd", PLUGIN], capture_output=True, text=True, check=True).stdout
        self.assertIn("libmpi", linked)
        self.assertNotIn("libmpi_cxx", linked)
        self.assertNotIn("cuda", linked)

    def test_what_does_not_measure_never_loads_it(self):
        launched = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "0"}
        with tempfile.TemporaryDirectory() as name:
            for arguments in (["--help"], ["list"], ["version"], ["compare", "--help"]):
                traced = pathlib.Path(name) / "libraries"
                environment = {**os.environ, **launched, "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(traced)}
                subprocess.run([PROGRAM, *arguments], env=environment, check=True, stdout=subprocess.DEVNULL)
                said = "".join(file.read_text("utf-8") for file in pathlib.Path(name).iterdir())
                self.assertIn("libc.so", said)
                self.assertNotRegex(said, "libmpi|xferbench-mpi")


class AcrossHosts(Ranks):
    @classmethod
    def setUpClass(cls):
        try:
            cls.fleet = cls.enterClassContext(hosts.network(2))
        except hosts.Unavailable as reason:
            raise unittest.SkipTest(str(reason)) from None

    def test_places(self):
        found = self.places(6, self.fleet)
        self.assertEqual({place["local_size"] for place in found}, {3})
        for place in found:
            self.assertEqual((place["host"], place["local_rank"]), (f"node{place['rank'] // 3}", place["rank"] % 3))

    def test_talk(self):
        before = self.traffic()
        self.everybody_is_right(6, self.fleet)
        self.assertGreater(self.traffic() - before, 2_000_000)  # the two largest messages that cross hosts

    def test_somebody_who_never_answers(self):
        outcome = self.check(6, self.fleet, "silent", "1")
        self.assertNotEqual(outcome.code, 0)
        self.assertFalse(outcome.hung)
        self.assertEqual({line["rank"] for line in lines_of(outcome)}, {0, 2, 3, 4, 5}, outcome.err)

    def traffic(self):
        """Bytes that node0 has received and sent over its network."""
        command = self.fleet.inside("node0", ["cat", "/proc/net/dev"])
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        fields = next(line for line in found.splitlines() if "eth0:" in line).split(":")[1].split()
        return int(fields[0]) + int(fields[8])


class Hosts(unittest.TestCase):
    def test_nothing_is_left(self):
        try:
            with hosts.network(3) as fleet:
                names = [subprocess.run(fleet.inside(name, ["hostname"]), capture_output=True, text=True, check=True).stdout
                         for name in fleet.names]
                holder = fleet.holder.pid
                self.assertEqual(names, ["node0\n", "node1\n", "node2\n"])
                raise KeyboardInterrupt
        except hosts.Unavailable as reason:
            self.skipTest(str(reason))
        except KeyboardInterrupt:
            pass
        self.assertFalse(pathlib.Path(f"/proc/{holder}").exists())


if __name__ == "__main__":
    try:
        hosts.require_mpirun()
    except hosts.Unavailable as missing:
        print(f"skipped: {missing}", file=sys.stderr)
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])

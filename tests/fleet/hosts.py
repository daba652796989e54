"""Hosts within this machine, and mpirun across them.

    with hosts.network(2) as fleet:
        outcome = hosts.mpirun(6, fleet, [program, "--simulate"], seconds=30)

Each host is a network namespace with a host name (node0, node1, ...) and shared memory of its own; veth pairs and a
bridge join them, so that MPI really crosses a network. All processes in there live in one namespace of processes, whose
first one ends when this one ends, however that happens: nothing is left. With None in place of a fleet, mpirun starts
its ranks on this machine as it is.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
NAMESPACES = ("--net", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child")
NEEDED = ("unshare", "nsenter", "ip", "mount", "bash")
MARK = "XFERBENCH_TEST_RUN"  # in the environment of every process of a run, which tells them from others
LONG = 60  # seconds: a run that takes longer hangs

# Open MPI 4: what it would ask or say about this machine, and what two runs at once would share.
SETTINGS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "self,vader,tcp",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_plm": "^slurm",
}
ACROSS = {
    "OMPI_MCA_plm_rsh_agent": str(HERE / "agent"),
    "OMPI_MCA_btl_tcp_if_include": "eth0",
    "OMPI_MCA_oob_tcp_if_include": "eth0",
    "OMPI_MCA_orte_tmpdir_base": "/dev/shm",
}
# MPI's libraries are not built for sanitizers, and keep what they allocate.
SANITIZERS = {"ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": "ignore_noninstrumented_modules=1"}


class Unavailable(Exception):
    """What a test needs is not there, or not permitted; the text says why."""


class Outcome(NamedTuple):
    code: int  # of mpirun; negative: the signal that ended it
    out: str
    err: str
    seconds: float
    hung: bool = False


class Network:
    """Hosts that can be reached from each other; made by network()."""

    def __init__(self, count):
        self.names = [f"node{number}" for number in range(count)]
        as_root = os.geteuid() == 0
        self._user = [] if as_root else ["--user", "--preserve-credentials"]
        self.holder = subprocess.Popen(
            ["unshare", *([] if as_root else ["--user", "--map-root-user"]), *NAMESPACES, "bash", HERE / "hosts.sh",
             *self.names],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )
        self._said = ""
        ready = self.holder.stdout.readline().split()
        if ready[:1] != ["ready"]:
            self.close()
            raise Unavailable(f"no network namespaces here: {self._said}")
        self._first, self.processes = ready[1], dict(entry.split("=") for entry in ready[2:])

    def close(self):
        try:
            self._said = self.holder.communicate(timeout=2)[1].strip()  # closes its standard input, which ends it
        except subprocess.TimeoutExpired:
            self.holder.kill()  # and with it its child
            self._said = self.holder.communicate()[1].strip()

    def inside(self, host, command):
        """The command line that runs a command on a host, in the folder of this process."""
        into_all = ["nsenter", "--target", self._first, *self._user, "--mount", "--pid", "--net", "--ipc", "--uts", "--"]
        into_one = ["nsenter", "--target", self.processes[host], "--net", "--mount", "--uts", "--ipc", "--"]
        there = ["sh", "-c", 'cd "$0" && exec "$@"', os.getcwd()]
        return [*into_all, *into_one, *there, *map(str, command)]


@contextlib.contextmanager
def network(count=2):
    """So many hosts; raises Unavailable where that is not permitted."""
    for tool in NEEDED:
        if shutil.which(tool) is None:
            raise Unavailable(f"no network namespaces here: {tool} is not installed")
    fleet = Network(count)
    try:
        yield fleet
    finally:
        fleet.close()


def require_mpirun():
    if shutil.which("mpirun") is None:
        raise Unavailable("mpirun is not installed (Debian, Ubuntu: openmpi-bin)")
    said = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False).stdout.splitlines()
    if not said or "(Open MPI) 4." not in said[0]:
        raise Unavailable(f"mpirun is not that of Open MPI 4, whose settings these tests know: {said[:1]}")


class Run:
    """mpirun with its ranks, started by start(). Ends all of them when it is left."""

    def __init__(self, command, environment):
        self._mark = uuid.uuid4().hex
        self._folder = tempfile.TemporaryDirectory(prefix="xferbench-mpi-")  # of sessions on this machine
        self._begin = time.monotonic()
        self.process = subprocess.Popen(
            [str(word) for word in command],
            env={"OMPI_MCA_orte_tmpdir_base": self._folder.name, **SANITIZERS, **os.environ, **SETTINGS, **environment,
                 MARK: self._mark},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()
        self._folder.cleanup()

    def finish(self, seconds=LONG):
        """Waits for its end; ends it by force where that takes longer."""
        hung = False
        try:
            out, err = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            hung = True
            self.end()
            out, err = self.process.communicate()
        return Outcome(self.process.returncode, out, err, time.monotonic() - self._begin, hung)

    def end(self):
        """Kills every process of the run, on all hosts."""
        while found := self._processes():
            for pid in found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)
        self.process.wait()

    def ranks(self):
        """The process of each rank, as it is seen from here: the first one of it, not those that it has started."""
        numbers = {}
        for pid, variables in self._processes().items():
            if "OMPI_COMM_WORLD_RANK" in variables:
                numbers[pid] = int(variables["OMPI_COMM_WORLD_RANK"])
        return {number: pid for pid, number in numbers.items() if parent_of(pid) not in numbers}

    def _processes(self):
        """Those of the run, with their environments."""
        found = {}
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has ended, or belongs to somebody else
                entries = (folder / "environ").read_bytes().decode("utf-8", "replace").split("\0")
                variables = dict(entry.split("=", 1) for entry in entries if "=" in entry)
                if variables.get(MARK) == self._mark:
                    found[int(folder.name)] = variables
        return found


def parent_of(pid):
    """None where the process has ended."""
    with contextlib.suppress(OSError):
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[1])
    return None


def start(ranks, fleet, command, *, environment=None, options=()):
    """mpirun with so many ranks, evenly over the hosts of a network, the first ones on node0; a Run."""
    require_mpirun()
    environment = {name: str(value) for name, value in (environment or {}).items()}
    if fleet is None:
        return Run(["mpirun", "-n", ranks, *options, *command], environment)
    each = -(-ranks // len(fleet.names))
    places = ",".join(f"{name}:{each}" for name in fleet.names)
    line = fleet.inside(fleet.names[0], ["mpirun", "-n", ranks, "--host", places, *options, *command])
    known = " ".join(f"{name}={pid}" for name, pid in fleet.processes.items())
    return Run(line, {**ACROSS, "XFERBENCH_TEST_HOSTS": known, **environment})


def mpirun(ranks, fleet, command, *, seconds=LONG, environment=None, options=()):
    """As start(), to its end; everything that it has started is gone afterwards, and after so many seconds at last."""
    with start(ranks, fleet, command, environment=environment, options=options) as run:
        return run.finish(seconds)

"""Virtual hosts on this machine, and mpirun across them.

    with hosts.network(2) as fleet:
        outcome = hosts.mpirun(6, fleet, [program, "--simulate"], seconds=30)

Each host is a network namespace with its own host name (node0, node1, ...) and shared memory. Veth pairs and a
bridge connect the hosts, so MPI uses a real network. All their processes are in one PID namespace, whose first
process ends with this one in any case, so nothing is left behind. With None in place of a fleet, mpirun starts its
ranks on this machine.
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
MARK = "XFERBENCH_TEST_RUN"  # an environment variable that marks the processes of a run
LONG = 60  # seconds; a run that takes longer hangs

# Settings of Open MPI 4: no questions or warnings about this machine, and nothing shared between two runs.
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
# MPI libraries are not instrumented for sanitizers, and never free some memory.
SANITIZERS = {"ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": "ignore_noninstrumented_modules=1"}


class Unavailable(Exception):
    """A requirement of the test is missing or not permitted; the text names it."""


class Outcome(NamedTuple):
    code: int  # exit code of mpirun; negative: the signal that ended it
    out: str
    err: str
    seconds: float
    hung: bool = False


class Network:
    """Connected virtual hosts; made by network()."""

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
            self.holder.kill()  # ends its child too
            self._said = self.holder.communicate()[1].strip()

    def inside(self, host, command):
        """The command line that runs a command on a host, in the current folder of this process."""
        into_all = ["nsenter", "--target", self._first, *self._user, "--mount", "--pid", "--net", "--ipc", "--uts", "--"]
        into_one = ["nsenter", "--target", self.processes[host], "--net", "--mount", "--uts", "--ipc", "--"]
        there = ["sh", "-c", 'cd "$0" && exec "$@"', os.getcwd()]
        return [*into_all, *into_one, *there, *map(str, command)]


@contextlib.contextmanager
def network(count=2):
    """A Network of `count` hosts; raises Unavailable where namespaces are not permitted."""
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
    """A running mpirun, made by start(). Leaving the context kills all of its processes."""

    def __init__(self, command, environment):
        self._mark = uuid.uuid4().hex
        self._folder = tempfile.TemporaryDirectory(prefix="xferbench-mpi-")  # for Open MPI's session files
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
        """Waits for the end and returns the Outcome; kills the run after a timeout."""
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
        """{rank: process id as seen from here}. Only the rank's own process counts, not its children."""
        numbers = {}
        for pid, variables in self._processes().items():
            if "OMPI_COMM_WORLD_RANK" in variables:
                numbers[pid] = int(variables["OMPI_COMM_WORLD_RANK"])
        return {number: pid for pid, number in numbers.items() if parent_of(pid) not in numbers}

    def _processes(self):
        """{process id: environment} of all processes of the run."""
        found = {}
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # has ended, or belongs to another user
                entries = (folder / "environ").read_bytes().decode("utf-8", "replace").split("\0")
                variables = dict(entry.split("=", 1) for entry in entries if "=" in entry)
                if variables.get(MARK) == self._mark:
                    found[int(folder.name)] = variables
        return found


def parent_of(pid):
    """The parent's process id; None if the process has ended."""
    with contextlib.suppress(OSError):
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[1])
    return None


def start(ranks, fleet, command, *, environment=None, options=()):
    """Starts mpirun with so many ranks, spread evenly over the hosts in order, and returns a Run."""
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
    """Runs mpirun to its end or a timeout and returns the Outcome. All of its processes are gone afterwards."""
    with start(ranks, fleet, command, environment=environment, options=options) as run:
        return run.finish(seconds)

"""A minimal Debian in a folder, made by debootstrap.

    with bare.system(cache, "bookworm") as debian:
        debian.run("apt-get update")

The base system is made once and cached as an archive. Mounts and processes live in namespaces that end with the
command, so nothing needs to be unmounted.
"""

import contextlib
import os
import pathlib
import shutil
import subprocess

NEEDED = ("debootstrap", "unshare", "tar")
NAMESPACES = ("--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child", "--mount-proc")
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LC_ALL": "C.UTF-8",
    "DEBIAN_FRONTEND": "noninteractive",
}
LONG = 300  # seconds; a command that takes longer hangs


class Unavailable(Exception):
    """Such a system cannot be made here; the text says why."""


class System:
    """An unpacked system in .folder."""

    def __init__(self, folder):
        self.folder = folder

    def inside(self, path):
        """The path on this machine of a path inside the system."""
        return self.folder / path.lstrip("/")

    def run(self, command, seconds=LONG):
        """Runs a shell command inside. Returns the CompletedProcess."""
        inside = ["unshare", *NAMESPACES, f"--root={self.folder}", "/bin/bash", "-c", f"cd /root\n{command}"]
        return subprocess.run(
            inside, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            timeout=seconds,
        )

    def hurry(self):
        """Makes dpkg skip its disk syncs, as containers do."""
        self.inside("/etc/dpkg/dpkg.cfg.d/hurry").write_text("force-unsafe-io\n", encoding="utf-8")

    def files(self):
        """All paths that packages should own or have removed, without apt's caches and logs."""
        of_apt = ("var/cache", "var/lib/apt", "var/lib/dpkg", "var/log", "proc", "dev", "sys", "tmp", "root", "run")
        found = set()
        for folder, folders, files in os.walk(self.folder):
            inside = pathlib.Path(folder).relative_to(self.folder)
            folders[:] = [name for name in folders if str(inside / name) not in of_apt]
            found.update(str(inside / name) for name in (*folders, *files))
        return found


def require():
    if os.geteuid() != 0:
        raise Unavailable("debootstrap needs root")
    for tool in NEEDED:
        if shutil.which(tool) is None:
            raise Unavailable(f"{tool} is not installed")


def base(cache, suite):
    """The archive of the base system; made if it is not in the cache."""
    archive = cache / f"{suite}.tar"
    if archive.exists():
        return archive
    with folder_in(cache, f"{suite}-made") as root:
        made = subprocess.run(
            ["debootstrap", "--variant=minbase", suite, root], capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL, timeout=2 * LONG,
        )
        if made.returncode != 0:
            said = " ".join((made.stdout + made.stderr).split())[-300:]
            raise Unavailable(f"debootstrap could not make {suite} (is there a network?): {said}")
        for package in (root / "var/cache/apt/archives").glob("*.deb"):
            package.unlink()
        (root / "etc/resolv.conf").unlink(missing_ok=True)  # specific to this machine
        temporary = cache / f".{suite}.tar.{os.getpid()}"
        subprocess.run(["tar", "--numeric-owner", "-C", root, "-cf", temporary, "."], check=True, timeout=LONG)
        os.replace(temporary, archive)
    return archive


@contextlib.contextmanager
def folder_in(cache, name):
    """A temporary folder in the cache. Also removes folders left by killed processes."""
    cache.mkdir(parents=True, exist_ok=True)
    for old in cache.glob("*.of-*"):
        if not pathlib.Path("/proc", old.suffix.removeprefix(".of-")).exists():
            remove(old)
    folder = cache / f"{name}.of-{os.getpid()}"
    folder.mkdir()
    try:
        yield folder
    finally:
        remove(folder)


def remove(folder):
    """Removes a system. Refuses if anything is mounted in it: that would be deleted too."""
    mounts = pathlib.Path("/proc/self/mounts").read_text(encoding="utf-8")
    if f" {folder}/" in mounts:
        raise RuntimeError(f"something is mounted in {folder}; unmount it and remove the folder")
    shutil.rmtree(folder)


@contextlib.contextmanager
def system(cache, suite):
    """A fresh system, removed afterwards; raises Unavailable if it cannot be made or run."""
    require()
    archive = base(cache, suite)
    with folder_in(cache, suite) as folder:
        subprocess.run(["tar", "--numeric-owner", "-C", folder, "-xpf", archive], check=True, timeout=LONG)
        shutil.copy("/etc/resolv.conf", folder / "etc/resolv.conf")
        found = System(folder)
        tried = found.run("true")
        if tried.returncode != 0:
            raise Unavailable(f"nothing can be run in another root here: {tried.stderr.strip()}")
        yield found

"""Requirements of an ELF file on the system that runs it, read with binutils."""

import dataclasses
import re
import subprocess


@dataclasses.dataclass(frozen=True)
class Needs:
    libraries: frozenset  # such as "libc.so.6"
    versions: frozenset  # such as "GLIBC_2.34"
    search_paths: tuple
    stripped: bool

    def newest(self, name):
        """The newest required version of NAME as numbers, such as (2, 34); () if there is none."""
        found = [re.fullmatch(rf"{name}_([0-9.]+)", version) for version in self.versions]
        return max((tuple(map(int, one[1].split("."))) for one in found if one), default=())


def is_elf(path):
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as opened:
        return opened.read(4) == b"\x7fELF"


def read(path):
    """The needs of one ELF file."""
    headers, symbols = objdump("--private-headers", path), objdump("--dynamic-syms", path)
    # A symbol's version comes after its section and size, in brackets unless it is the default version.
    versions = re.findall(r"^\S+ .{7} \*UND\*\s+[0-9a-f]+\s+\(?([\w.]+)\)?\s+\S+$", symbols, re.MULTILINE)
    versions += re.findall(r"^\s+0x[0-9a-f]+ 0x[0-9a-f]+ \d+ (\S+)$", headers, re.MULTILINE)
    return Needs(
        libraries=frozenset(re.findall(r"^\s+NEEDED\s+(\S+)$", headers, re.MULTILINE)),
        versions=frozenset(version for version in versions if "_" in version),
        search_paths=tuple(re.findall(r"^\s+(?:RPATH|RUNPATH)\s+(\S+)$", headers, re.MULTILINE)),
        stripped="no symbols" in objdump("--syms", path),
    )


def libraries_allowed(path):
    """Libraries that a file of ours may need: those of glibc, and MPI's for the MPI plug-in."""
    of_glibc = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2"}
    return of_glibc | ({"libmpi.so.40"} if path.name == "libxferbench-mpi.so" else set())


def objdump(what, path):
    outcome = subprocess.run(["objdump", what, path], capture_output=True, text=True, check=True, timeout=60)
    return outcome.stdout + outcome.stderr

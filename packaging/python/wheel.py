#!/usr/bin/python3
"""Makes a wheel of an installation of xferbench: wheel.py PREFIX FOLDER

PREFIX is a folder that `cmake --install` has filled, or the unpacked archive. The wheel holds the program, its
libraries and data, and the module xferbench. pip puts them at PREFIX's places below the environment (bin, lib, share),
where the program finds them. The documentation, some MB, is left out. Prints the wheel's path.
"""

import base64
import hashlib
import os
import pathlib
import re
import sys
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MACHINES = {62: "x86_64", 183: "aarch64"}  # e_machine of ELF
LEFT_OUT = ("share/doc/", "share/xferbench/scripts/")


def version():
    (found,) = re.findall(r"^project\(xferbench VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text("utf-8"), re.MULTILINE)
    return found


def is_program(path):
    """Whether a file is an ELF program or library."""
    if not path.is_file():
        return False
    with path.open("rb") as opened:
        return opened.read(4) == b"\x7fELF"


def platform(files):
    """The platform tag: the machine, and the newest version of glibc that any of the programs needs (PEP 600)."""
    programs = [content for content in files.values() if content.startswith(b"\x7fELF")]
    (machine,) = {MACHINES[int.from_bytes(content[18:20], "little")] for content in programs}
    needed = [tuple(map(int, one)) for content in programs for one in re.findall(rb"\0GLIBC_(\d+)\.(\d+)(?=\0)", content)]
    major, minor = max(needed)
    return f"manylinux_{major}_{minor}_{machine}"


def packed(prefix):
    """The files of the installation by their places in the wheel."""
    data = f"xferbench-{version()}.data"
    files = {"xferbench.py": (HERE / "xferbench.py").read_bytes()}
    for path in sorted(prefix.rglob("*")):
        name = path.relative_to(prefix).as_posix()
        if path.is_symlink() or path.is_dir() or name.startswith(LEFT_OUT):
            continue
        place = f"{data}/scripts/{path.name}" if path.parent == prefix / "bin" else f"{data}/data/{name}"
        files[place] = path.read_bytes()
    return files


def described(tag):
    """The files of .dist-info, but for RECORD."""
    metadata = f"""Metadata-Version: 2.1
Name: xferbench
Version: {version()}
Summary: Measures how fast data moves between host and GPU, and what limits it
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: pandas
Requires-Dist: pandas; extra == "pandas"
Description-Content-Type: text/markdown

"""
    return {
        "METADATA": metadata.encode() + (HERE / "README.md").read_bytes(),
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: xferbench\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
        "LICENSE": (ROOT / "LICENSE").read_bytes(),
        "copyright": (ROOT / "packaging/copyright").read_bytes(),
    }


def record_of(files, own_name):
    lines = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    return "".join([*lines, f"{own_name},,\n"]).encode()


def main(prefix, folder):
    files = packed(prefix)
    tag = f"py3-none-{platform(files)}"
    info = f"xferbench-{version()}.dist-info"
    files |= {f"{info}/{name}": content for name, content in described(tag).items()}
    files[f"{info}/RECORD"] = record_of(files, f"{info}/RECORD")
    # The same files make the same wheel: all have the time of the commit, as in the other packages.
    moment = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))[:6]
    path = folder / f"xferbench-{version()}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, moment)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if content.startswith((b"\x7fELF", b"#!")) else 0o100644) << 16
            wheel.writestr(entry, content)
    print(path)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.partition("\n")[0])
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))

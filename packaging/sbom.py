#!/usr/bin/python3
"""Prints what a build is made of, as CycloneDX 1.5 in JSON: sbom.py BUILD PREFIX

BUILD is a build folder of Ninja, PREFIX an installation of it, such as the unpacked archive. For each program and
library in PREFIX it links once more with --trace, which names the libraries whose code was really taken, and asks Ninja
which headers were really read. dpkg names the package and version of each such file; what dpkg does not know must be of
the CUDA Toolkit. A package whose licence is not in LICENCES is an error: packaging/copyright wants a look, too.
"""

import datetime
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import uuid

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "python"))
import wheel  # noqa: E402  for the version

# By Debian's source package, without the version in its name.
LICENCES = {
    "cli11": "BSD-3-Clause",
    "fmtlib": "MIT",
    "gcc": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "glibc": "LGPL-2.1-or-later",
    "liburing": "MIT",
    "linux": "GPL-2.0-only WITH Linux-syscall-note",
    "llvm-toolchain": "Apache-2.0 WITH LLVM-exception",
    "nlohmann-json3": "MIT",
    "numactl": "LGPL-2.1-only",
    "openmpi": "BSD-3-Clause",
}


def said(command, folder=None, check=True):
    outcome = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if check and outcome.returncode != 0:
        sys.exit(f"sbom: {shlex.join(map(str, command))}: {(outcome.stderr or outcome.stdout).strip()[-500:]}")
    return outcome.stdout + outcome.stderr


def foreign(paths, build):
    """Those of the paths that are not of this project, in the folders by which dpkg knows them: /usr/lib for /lib."""
    own = (str(wheel.ROOT), str(build))
    whole = {f"{os.path.realpath(os.path.dirname(path))}/{os.path.basename(path)}" for path in paths if path.startswith("/")}
    return {path for path in whole if not path.startswith(own)}


def linked(build, target):
    """The static libraries and start files of which the linker took something."""
    command = said(["ninja", "-t", "commands", "-s", target], build).strip()
    again, found = re.subn(rf" -o {re.escape(target)} ", " -o /dev/null -Wl,--trace ", command)
    if found != 1:
        sys.exit(f"sbom: no single output in the link command of {target}")
    traced = said(["bash", "-c", again], build)
    return foreign(re.findall(r"^\(?(/[^\s()]+\.(?:a|o))\b", traced, re.MULTILINE), build)


def headers(build, target):
    """The headers that were read for the objects of a target."""
    objects = [name for name in said(["ninja", "-t", "inputs", target], build).split() if re.search(r"\.(o|gch|pch)$", name)]
    return foreign(re.findall(r"^    (\S+)$", said(["ninja", "-t", "deps", *objects], build), re.MULTILINE), build)


def toolkit(build):
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    found = re.search(r"^CMAKE_CUDA_COMPILER:\w+=(/.*)/bin/nvcc$", cache, re.MULTILINE)
    return os.path.realpath(found[1]) if found else None


def owners(paths, build):
    """The packages of the files: {path: component}."""
    found = {}
    listed = said(["dpkg-query", "-S", *sorted(paths)], check=False)  # fails if it does not know one of them
    for names, path in re.findall(r"^(\S[^:]*(?::\w+)?(?:, [^/]+)?): (/.*)$", listed, re.MULTILINE):
        found[path] = names.partition(",")[0]
    asked = "${source:Package}\t${Package}\t${Version}\t${Architecture}"
    details = {name: said(["dpkg-query", "-W", "-f", asked, name]).split("\t") for name in sorted(set(found.values()))}
    components = {path: of_debian(*details[name]) for path, name in found.items()}
    cuda = toolkit(build)
    for path in paths - found.keys():
        if cuda is None or not os.path.realpath(path).startswith(cuda):
            sys.exit(f"sbom: neither dpkg nor the CUDA Toolkit has {path}")
        components[path] = of_cuda(cuda)
    return components


def of_debian(source, package, version, architecture):
    system = re.search(r"^ID=(\w+)$", pathlib.Path("/etc/os-release").read_text(encoding="utf-8"), re.MULTILINE)[1]
    licence = LICENCES.get(re.sub(r"-[\d.]+$", "", source))
    if licence is None:
        sys.exit(f"sbom: the licence of {package} is unknown: it belongs into packaging/sbom.py and packaging/copyright")
    reference = f"pkg:deb/{system}/{package}@{version.replace('+', '%2B').replace(':', '%3A')}?arch={architecture}"
    return {
        "type": "library", "bom-ref": reference, "name": package, "version": version, "purl": reference,
        "licenses": [{"expression": licence}],
    }


def of_cuda(folder):
    header = pathlib.Path(folder, "include/cuda_runtime_api.h").read_text(encoding="utf-8", errors="replace")
    number = int(re.search(r"^#define CUDART_VERSION\s+(\d+)", header, re.MULTILINE)[1])
    version = f"{number // 1000}.{number % 1000 // 10}"
    return {
        "type": "library", "bom-ref": f"cuda-toolkit@{version}", "name": "cuda-toolkit", "version": version,
        "licenses": [{"license": {"name": "NVIDIA CUDA Toolkit End User License Agreement"}}],
    }


def packed(path, prefix):
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    name = path.relative_to(prefix).as_posix()
    return {"type": "file", "bom-ref": name, "name": name, "hashes": [{"alg": "SHA-256", "content": digest}]}


def main(build, prefix):
    whole = {
        "type": "application", "bom-ref": "xferbench", "name": "xferbench", "version": wheel.version(),
        "licenses": [{"license": {"id": "Apache-2.0"}}],
    }
    programs = [path for path in sorted(prefix.rglob("*")) if not path.is_symlink() and wheel.is_program(path)]
    used = {path: (linked(build, path.name), headers(build, path.name)) for path in programs}
    components = owners(set().union(*(one for both in used.values() for one in both)), build)
    edges = [{"ref": "xferbench", "dependsOn": [path.relative_to(prefix).as_posix() for path in programs]}]
    for path, (code, read) in used.items():
        parts = sorted({components[one]["bom-ref"] for one in code | read})
        edges.append({"ref": path.relative_to(prefix).as_posix(), "dependsOn": parts})
    statically = {components[one]["bom-ref"] for code, _ in used.values() for one in code}
    parts = {one["bom-ref"]: one for one in components.values()}
    for reference, part in parts.items():
        how = "linked statically" if reference in statically else "headers only"
        part["properties"] = [{"name": "xferbench:use", "value": how}]
    moment = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), datetime.timezone.utc)
    body = {
        "metadata": {"timestamp": moment.strftime("%Y-%m-%dT%H:%M:%SZ"), "component": whole},
        "components": [packed(path, prefix) for path in programs] + [parts[one] for one in sorted(parts)],
        "dependencies": edges,
    }
    serial = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(body))
    head = {"bomFormat": "CycloneDX", "specVersion": "1.5", "serialNumber": f"urn:uuid:{serial}", "version": 1}
    print(json.dumps(head | body, indent=1))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.partition("\n")[0])
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())

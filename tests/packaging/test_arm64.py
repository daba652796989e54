"""The program compiled for arm64 by Debian's cross compiler, without CUDA, and run by qemu-user: it models the same
times as the program of this build. Skipped without g++-aarch64-linux-gnu, qemu-user or Debian's mirror."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "arm64"
LIBRARIES = ("libnuma-dev", "liburing-dev")
NEEDED = {"aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu", "qemu-aarch64": "qemu-user", "apt-get": "apt", "ninja": "ninja-build"}
EMULATED = ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", BUILD / "xferbench")
RUNS = (("memcpy", "--size", "4K:4M:x32"), ("--streams", "4", "--chunks", "8", "--size", "4M"))


def said(*command, folder=None, seconds=900):
    outcome = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, check=False, timeout=seconds)
    if outcome.returncode != 0:
        raise AssertionError(f"{command} ended with {outcome.returncode}: {(outcome.stdout + outcome.stderr)[-3000:]}")
    return outcome.stdout


def fetch_libraries(folder):
    """Unpacks the libraries of arm64 in a folder, by an apt with lists of its own. False if there is no mirror."""
    if (folder / "usr/include/numa.h").exists():
        return True
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="xferbench-apt-") as temporary:
        for name in ("lists/partial", "archives/partial"):
            pathlib.Path(temporary, name).mkdir(parents=True)
        (pathlib.Path(temporary) / "status").touch()
        settings = {
            "APT::Architecture": "arm64", "APT::Architectures": "arm64", "APT::Sandbox::User": "root", "Dir::Cache": temporary,
            "Dir::State": temporary, "Dir::State::Status": f"{temporary}/status", "APT::Update::Error-Mode": "any",
        }
        apt = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in settings.items())]
        if subprocess.run([*apt, "update"], capture_output=True, check=False, timeout=300).returncode != 0:
            return False
        said(*apt, "download", *LIBRARIES, folder=temporary)
        for package in pathlib.Path(temporary).glob("*.deb"):
            said("dpkg-deb", "-x", package, folder)
    return True


class Arm64(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        missing = [package for tool, package in NEEDED.items() if shutil.which(tool) is None]
        if missing:
            raise unittest.SkipTest(f"not installed: {', '.join(missing)}")
        if not fetch_libraries(BUILD / "root"):
            raise unittest.SkipTest("apt reaches no mirror")
        said(
            "cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", "--toolchain", ROOT / "cmake/aarch64.cmake",
            f"-DXFERBENCH_ARM64_ROOT={BUILD / 'root'}", "-DXFERBENCH_CUDA=OFF", "-DXFERBENCH_MPI=OFF", "-DBUILD_TESTING=OFF",
            "-DXFERBENCH_PORTABLE=ON", "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O0", "-DCMAKE_UNITY_BUILD=ON",
            "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON",
        )
        said("cmake", "--build", BUILD, seconds=3000)  # also the manual and completions, which the program prints

    def test_answers_and_says_what_it_is(self):
        self.assertIn("aarch64", said("file", BUILD / "xferbench"))
        self.assertTrue(said(*EMULATED, "version").startswith("xferbench "))

    def test_models_the_same_times(self):
        for run in RUNS:
            records = []
            for program in ([os.environ["XFERBENCH_PROGRAM"]], EMULATED):
                with tempfile.TemporaryDirectory(prefix="xferbench-arm64-") as folder:
                    said(*program, *run, "--simulate", "h100", "--json", f"{folder}/run.json")
                    records.append(json.loads(pathlib.Path(folder, "run.json").read_text(encoding="utf-8")))
            native, emulated = records
            self.assertTrue(native["results"])
            for one, other in zip(native["results"], emulated["results"], strict=True):
                self.assertEqual((one["key"], one["status"]), (other["key"], other["status"]))
                for left, right in zip(one["measurements"], other["measurements"], strict=True):
                    self.assertEqual(left["name"], right["name"])
                    self.assertAlmostEqual(left["median"] / right["median"], 1, delta=1e-3, msg=f"{one['key']} {left['name']}")


if __name__ == "__main__":
    program = unittest.main(exit=False)
    skipped = program.result.wasSuccessful() and len(program.result.skipped) > 0
    sys.exit(77 if skipped else not program.result.wasSuccessful())

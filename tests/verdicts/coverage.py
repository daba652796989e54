"""Runs interval_coverage over all stored results, which it cannot unpack by itself: coverage.py INTERVAL_COVERAGE"""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "report"))

import support  # noqa: E402  importable only now

files = sorted(map(str, support.RESULTS.glob("*.json")))
sys.exit(subprocess.run([sys.argv[1], *files], check=False).returncode)

"""Where is what lies beside these modules: in a checkout, or where packages put it (cmake/packaging.cmake).

Installed, PREFIX/share/xferbench holds these scripts, schemas and vendored files, and nothing is looked for outside
PREFIX, so that it can be moved as a whole.
"""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A checkout has its schemas in its documentation, which installed systems may lack.
INSTALLED = (ROOT / "schemas").is_dir()
SCHEMAS = ROOT / "schemas" if INSTALLED else ROOT / "docs"
VENDORED = ROOT / "vendor" if INSTALLED else ROOT / "build" / "vendor"


def programs():
    """Where xferbench may be that belongs to these modules."""
    return [ROOT.parents[1] / "bin" / "xferbench"] if INSTALLED else ROOT.glob("build/*/xferbench")


def command(script):
    """What people type to call one of the scripts."""
    return f"xferbench-{script}" if INSTALLED else f"scripts/{script}"


def name(script):
    """How one of the scripts calls itself."""
    return command(script).rpartition("/")[2]

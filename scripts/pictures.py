"""What the scripts that draw pictures of docs/ share."""

import argparse
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PROGRAM = os.environ.get("XFERBENCH_PROGRAM") or str(ROOT / "scripts" / "xferbench")
FINE, REFUSED = 0, 2


class Refused(Exception):
    """Why there is no picture."""


def ended(script, draw):
    """Calls draw(). Returns the exit code of the script, and prints a message if there is no picture."""
    try:
        draw()
    except (Refused, OSError, subprocess.CalledProcessError) as error:
        print(f"{script}: {error}", file=sys.stderr)
        return REFUSED
    return FINE


def chosen(names, pictures):
    by_name = {pathlib.PurePath(one.name).name: one for one in pictures}
    unknown = [name for name in names if name not in by_name]
    if unknown:
        raise Refused(f"no picture {unknown[0]}; there are {', '.join(by_name)}")
    return [by_name[name] for name in names] or pictures


def draw_chosen(script, redraws, example, pictures, draw):
    """Reads the command line and calls draw(pictures, folder) with those that it names. Returns the exit code."""
    parser = argparse.ArgumentParser(prog=script, description=f"Redraws the pictures of {redraws}.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these pictures, such as {example}")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=DOCS, metavar="FOLDER",
                        help="folder of the pictures [docs]")
    options = parser.parse_args()
    return ended(script, lambda: draw(chosen(options.names, pictures), options.output))

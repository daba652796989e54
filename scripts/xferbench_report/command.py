"""The command line of scripts/report."""

import argparse
import os
import pathlib
import sys

from . import files, page, text

FINE, REFUSED = 0, 2


def arguments(given):
    parser = argparse.ArgumentParser(
        prog="report",
        description="Makes one self-contained HTML page of results files of xferbench --json, with charts, comparisons "
        "and everything that is doubtful. Files of xferbench --timeline become charts of what ran when.",
        epilog="Several results files are drawn together, and all others compared with the first. "
        "Exit codes: 0 the page is written, 2 usage, or a file that cannot be read, is not valid or cannot be written.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a results file or a timeline file")
    parser.add_argument("-o", "--output", default="report.html", metavar="OUT.html", help="the page [report.html]")
    parser.add_argument("--title", help="its title [scenarios and GPUs]")
    parser.add_argument("-q", "--quiet", action="store_true", help="do not say where the page is")
    return parser.parse_args(given)


def write(path, content):
    """Beside it first, then in its place: whoever reads it sees the old page or the new one, and never a part."""
    path = pathlib.Path(path)
    if path.is_dir():
        raise files.Refused(f"{path}: is a folder; -o names the page to write")
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(content.encode("utf-8", "replace"))
        os.replace(temporary, path)
    except (OSError, ValueError) as error:
        raise files.Refused(f"{path}: cannot be written: {getattr(error, 'strerror', error)}") from error
    finally:
        if temporary.exists():
            temporary.unlink()


def refuse_to_overwrite(inputs, output):
    for path in inputs:
        if os.path.exists(path) and os.path.exists(output) and os.path.samefile(path, output):
            raise files.Refused(f"{output}: is one of the files to read; choose another name for the page (-o)")


def main(given=None):
    options = arguments(given)
    try:
        refuse_to_overwrite(options.files, options.output)
        runs, timelines = files.load(options.files)
        write(options.output, page.render(runs, timelines, options.title))
    except files.Refused as error:
        print(f"report: {text.plain(error)}", file=sys.stderr)
        return REFUSED
    if not options.quiet:
        print(f"report: the page is {text.plain(options.output)}", file=sys.stderr)
    return FINE

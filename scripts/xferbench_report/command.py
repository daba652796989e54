"""The command line of scripts/report."""

import argparse
import os
import pathlib
import sys

from . import files, page, places, records, sides, text, trend, vendor

FINE, REFUSED = 0, 2
NAME = places.name("report")


def arguments(given):
    parser = argparse.ArgumentParser(
        prog=NAME,
        description="Makes one self-contained HTML page of results files of xferbench --json: the answer first, then "
        "charts, comparisons and everything that is doubtful. Files of xferbench --timeline become charts of what ran "
        "when; a file of xferbench explain --json becomes a page of what a program's transfers cost it.",
        epilog="Of several runs all are compared with the first; NAME-1.json, NAME-2.json ... of one command and "
        "machine, as --repeat writes them, are processes of one run. "
        "Exit codes: 0 the page is written, 2 usage, or a file that cannot be read, is not valid or cannot be written.",
    )
    parser.add_argument("files", nargs="*", metavar="FILE", help="a results file, a timeline file, or one of explain")
    several = {"nargs": "+", "metavar": "FILE", "default": []}
    parser.add_argument("--base", **several, help="the processes of the run before a change")
    after = "the processes of the run after it; once for each such run"
    parser.add_argument("--new", **several, action="append", help=after)
    over = "how numbers went over many files of one machine, and where they changed"
    parser.add_argument("--trend", **several, help=over)
    parser.add_argument("-o", "--output", default="report.html", metavar="OUT.html", help="the page [report.html]")
    parser.add_argument("--title", help="its title [scenarios and GPUs]")
    parser.add_argument("-q", "--quiet", action="store_true", help="do not say where the page is")
    options = parser.parse_args(given)
    if bool(options.base) != bool(options.new):
        parser.error("--base and --new belong together: the processes before a change, and those after it")
    if options.trend and (options.files or options.base):
        parser.error("--trend takes all its files itself: --trend FILE...")
    if not (options.files or options.base or options.trend):
        parser.error("expected a results file of xferbench --json, --base and --new, or --trend")
    return options


def rendered(options):
    """The page of these options."""
    if options.trend:
        return page.render_trend(in_order_of_time(options.trend), options.title)
    if len(options.files) == 1 and not options.base and (explained := files.explained(options.files[0])):
        return page.render_explanation(explained, options.title)
    runs, timelines = files.load(options.files)
    if not options.base:
        return page.render(sides.recognised(runs), timelines, options.title)
    if runs:
        raise files.Refused(f"{runs[0].path}: beside --base and --new only timelines can be shown")
    groups = []
    for paths in (options.base, *options.new):
        members, beside = files.load(paths)
        files.refuse_fleets(members)
        if not members:
            raise files.Refused("--base and --new each need a results file of xferbench --json")
        groups.append(members)
        timelines += beside
    records.name_apart([run for members in groups for run in members])
    return page.render([sides.side(members) for members in groups], timelines, options.title)


def in_order_of_time(paths):
    """The runs of one machine, each once for all its processes."""
    runs, timelines = files.load(paths)
    if timelines:
        raise files.Refused(f"{timelines[0].path}: is a timeline; --trend takes results files of xferbench --json")
    files.refuse_fleets(runs)
    files.one_machine(runs)
    found = sorted(sides.recognised(runs), key=lambda side: side.run.record["started_at"])
    if len(found) < trend.FEWEST:
        raise files.Refused(f"a trend needs {trend.FEWEST} runs at least, and these are {len(found)}")
    return found


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
        refuse_to_overwrite([*options.files, *options.base, *sum(options.new, []), *options.trend], options.output)
        write(options.output, rendered(options))
    except (files.Refused, vendor.Missing) as error:
        print(f"{NAME}: {text.plain(error)}", file=sys.stderr)
        return REFUSED
    if not options.quiet:
        print(f"{NAME}: the page is {text.plain(options.output)}", file=sys.stderr)
    return FINE

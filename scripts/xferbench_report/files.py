"""Reads what the report is made of, and refuses what it cannot be made of."""

import lzma
import pathlib
import sys

from . import explanation, journal, places, records, text, validation
from .charts import catalogue

TIMELINE = pathlib.Path(__file__).resolve().parent / "timeline-schema.json"
XZ = b"\xfd7zXZ\x00"
MOST_UNPACKED = 1 << 30  # bytes: a small file can stand for a huge one
EXPLANATION = validation.SCHEMA.parent / "explain-schema.json"


class Refused(Exception):
    """A file or an argument that no report can be made of; one line that says what to do."""


def read_json(path):
    try:
        data = pathlib.Path(path).read_bytes()
    except OSError as error:
        raise Refused(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:  # a name with a zero byte in it
        raise Refused(f"{path!r}: cannot be read: {error}") from error
    if data.startswith(XZ):
        data = unpacked(path, data)
    try:
        return validation.parse(data)
    except (ValueError, RecursionError) as error:
        raise Refused(f"{path}: not JSON ({error}); expected a results file of xferbench --json") from error


def unpacked(path, data):
    """What was compressed by xz."""
    unpacking = lzma.LZMADecompressor(format=lzma.FORMAT_XZ)
    try:
        whole = unpacking.decompress(data, MOST_UNPACKED + 1)
    except (lzma.LZMAError, MemoryError) as error:
        raise Refused(f"{path}: is compressed by xz, and cannot be unpacked: {error or 'out of memory'}") from error
    if len(whole) > MOST_UNPACKED:
        raise Refused(f"{path}: is compressed, and of more than {MOST_UNPACKED >> 20} MiB; unpack it with xz -dk first")
    if not unpacking.eof:
        raise Refused(f"{path}: is compressed by xz, and cut off")
    return whole


def in_one_line(path, found, kind):
    lister = places.command("validate-results")
    more = f" (and {len(found) - 1} more: {lister} lists them)" if len(found) > 1 else ""
    return f"{path}: not a valid {kind}: {' '.join(found[0].split())}{more}"


def is_timeline(value):
    return isinstance(value, dict) and "traceEvents" in value


def is_explanation(value):
    return isinstance(value, dict) and str(value.get("schema", "")).startswith(explanation.SCHEMA)


def explained(path):
    """The explanation that this file is; None where it is of another kind."""
    value = read_json(path)
    if not is_explanation(value):
        return None
    found = validation.violations(value, validation.make_validator(EXPLANATION))
    if found:
        raise Refused(in_one_line(path, found, "file of xferbench explain --json"))
    return explanation.Explanation(path, value)


def load(paths):
    """The runs and the timelines of these files, in their order."""
    results, traces = validation.make_validator(), validation.make_validator(TIMELINE)
    runs, timelines = [], []
    for path in paths:
        beside = journal.text_beside(path)
        value = read_json(path)
        if is_explanation(value):
            raise Refused(f"{path}: is of xferbench explain; a page shows one such file by itself")
        found = validation.violations(value, traces if is_timeline(value) else results)
        if found:
            kind = "timeline file of xferbench --timeline" if is_timeline(value) else "results file of xferbench --json"
            raise Refused(in_one_line(path, found, kind))
        if is_timeline(value):
            timelines.append(records.Timeline(path, value))
        else:
            runs.append(records.Run(path, with_journal(path, value, beside, results), catalogue.ABOUT))
    records.name_apart(runs)
    if len(runs) > 1:
        refuse_fleets(runs)
    return runs, timelines


def with_journal(path, value, beside, validator):
    """The run with what its journal has, where it was killed; what is in there is checked as the file is. Without it
    where it is damaged."""
    try:
        whole = journal.taken_in(value, beside)
        found = validation.violations(whole, validator) if whole is not value else []
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        found = [str(error)]
    if not found:
        return whole
    said = (
        f"{journal.path_of(path)}: is damaged ({' '.join(found[0].split())}); what {path} itself does not have is lost "
        f"here: xferbench --resume {path} keeps what can be read of it, and measures the rest again"
    )
    print(f"{places.name('report')}: {text.plain(said)}", file=sys.stderr)
    return value


def refuse_fleets(runs):
    """A page shows the ranks of one run."""
    for run in runs:
        if run.ranks:
            raise Refused(
                f"{run.path}: is of {len(run.ranks)} ranks; a page shows one such file by itself, and xferbench compare "
                "compares two"
            )


def one_machine(runs):
    """Refuses files of several machines, whose numbers make no trend."""
    for run in runs:
        if run.machine != runs[0].machine:
            raise Refused(
                f"{run.path}: is not of the machine of {runs[0].path} ({described(run)}, not {described(runs[0])}); "
                "a trend is of one machine: give the files of each by themselves"
            )


def described(run):
    gpu = run.environment["gpu"]
    return " ".join(part for part in (*map(records.short_mark, run.marks), run.gpu, gpu.get("uuid")) if part)

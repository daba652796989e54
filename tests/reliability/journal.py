"""Reads FILE.journal (docs/results-file.md): results of a killed run that its results file does not have yet."""

import json
import os
import pathlib

END_OF_RESULT = b"\n  }"
END_OF_UNFINISHED = b"\n ]\n}\n"
BEGINS = b'{\n "schema": "xferbench/1",\n "complete": false,\n'


def path_of(file):
    return pathlib.Path(os.path.realpath(file) + ".journal")


def text_beside(file):
    """The current content of the file's journal. Read it before the file: a run removes its journal when the file
    has everything."""
    try:
        journal = path_of(file)
        return journal.read_bytes() if journal.is_file() and not journal.is_symlink() else b""
    except (OSError, ValueError):  # such as a name with a zero byte
        return b""


def contents_of(data):
    """The results of a journal up to the last complete one; None without any. Raises ValueError if it is damaged."""
    end = data.rfind(END_OF_RESULT)
    if not data.startswith(BEGINS) or b'\n "results": [' not in data[:max(end, 0)]:
        return None
    return json.loads(data[: end + len(END_OF_RESULT)] + END_OF_UNFINISHED)


def identity(run):
    """Properties of a run that --resume keeps."""
    gpu = run["environment"]["gpu"]
    return run["started_at"], run["command"], run["environment"]["backend"], gpu["name"], gpu.get("uuid", "")


def how_much(result):
    """A sort key for how much is known of a case: the journal repeats a case each time that more is known."""
    ended = result["status"] == "ok" and all(one["stop"] != "interrupted" for one in result["measurements"])
    return ended, sum(one["n"] for one in result["measurements"]), result["status"] == "failed"


def taken_in(run, data):
    """The run with the results of its journal merged in. Both must be valid."""
    if run["complete"] or "fleet" in run:
        return run
    more = contents_of(data)
    if more is None or identity(more) != identity(run):
        return run
    results = {result["key"]: result for result in run["results"]}
    for result in more["results"]:
        key = result["key"]
        if key not in results or how_much(result) >= how_much(results[key]):
            results[key] = result
    return {**run, "results": list(results.values())}

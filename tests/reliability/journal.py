"""What a run that was killed has measured and its results file does not say: FILE.journal (docs/results-file.md)."""

import json
import os
import pathlib

END_OF_RESULT = b"\n  }"
END_OF_UNFINISHED = b"\n ]\n}\n"
BEGINS = b'{\n "schema": "xferbench/1",\n "complete": false,\n'


def path_of(file):
    return pathlib.Path(os.path.realpath(file) + ".journal")


def text_beside(file):
    """What the journal of a results file has now. Whoever takes it before the file misses nothing: the journal of a run
    goes when its file has everything."""
    try:
        journal = path_of(file)
        return journal.read_bytes() if journal.is_file() and not journal.is_symlink() else b""
    except (OSError, ValueError):  # a name with a zero byte in it
        return b""


def contents_of(data):
    """A journal's text up to its last whole result; None where it is none. Raises ValueError where it is damaged."""
    end = data.rfind(END_OF_RESULT)
    if not data.startswith(BEGINS) or b'\n "results": [' not in data[:max(end, 0)]:
        return None
    return json.loads(data[: end + len(END_OF_RESULT)] + END_OF_UNFINISHED)


def identity(run):
    """What does not change when a run goes on later."""
    gpu = run["environment"]["gpu"]
    return run["started_at"], run["command"], run["environment"]["backend"], gpu["name"], gpu.get("uuid", "")


def how_much(result):
    """How much is known of a case: the journal has it once more each time that more is."""
    ended = result["status"] == "ok" and all(one["stop"] != "interrupted" for one in result["measurements"])
    return ended, sum(one["n"] for one in result["measurements"]), result["status"] == "failed"


def taken_in(run, data):
    """The run with what its journal's text has. `run` and its journal are valid results."""
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

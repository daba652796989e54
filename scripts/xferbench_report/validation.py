"""Whether a results file keeps the contract of docs/results-schema.json. Needs Python's jsonschema."""

import functools
import json
import math

import jsonschema

from . import places

SCHEMA = places.SCHEMAS / "results-schema.json"
LONGEST_MESSAGE = 200


def refuse_constant(name):
    raise ValueError(f"{name} is not a number that JSON has")


def finite(text):
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is too large for a double")
    return number


def without_duplicates(pairs):
    names = [name for name, _ in pairs]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"an object has {repeated[0]!r} more than once")
    return dict(pairs)


def parse(data):
    """Stricter than Python's json: no NaN, no infinity, no name twice."""
    return json.loads(
        data.decode("utf-8"),
        parse_constant=refuse_constant,
        parse_float=finite,
        object_pairs_hook=without_duplicates,
    )


def place(error):
    """results[0].metrics.bandwidth"""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
    return text.lstrip(".") or "the whole file"


def shortened(message):
    """Without the middle of a long one: it begins with the value, and what is wrong with it comes last."""
    half = LONGEST_MESSAGE // 2
    return message if len(message) <= LONGEST_MESSAGE else f"{message[:half]} ... {message[-half:]}"


def violations(value, validator):
    """One line for each place where a parsed file breaks the schema."""
    errors = sorted(validator.iter_errors(value), key=lambda error: [str(step) for step in error.absolute_path])
    return [f"{place(error)}: {shortened(error.message)}" for error in errors]


def problems(data, validator):
    """The same for a file's bytes, which may not even be JSON."""
    try:
        value = parse(data)
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError and JSONDecodeError are ValueErrors
        return [f"not JSON: {error}"]
    return violations(value, validator)


@functools.cache
def make_validator(path=SCHEMA):
    """Of a schema of ours, which is taken to be one: to check it takes longer than to check most files."""
    return jsonschema.Draft202012Validator(json.loads(path.read_text(encoding="utf-8")))

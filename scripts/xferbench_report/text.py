"""Numbers and names as text: units for people, and escaping for each place where a name from a file ends up.

Names come from files, and files come from anywhere. Text for HTML is escaped by the templates, text that Plotly draws
goes through label(), data for a script through script_json(). Nothing else may put a name into a page.
"""

import json
import math
import re

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_LARGEST = 1e300  # what JSON can hold and a double cannot becomes this; it is nonsense in any chart
_TIMES = ((1, "s"), (1e3, "ms"), (1e6, "us"), (1e9, "ns"))
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_SIZE_IN_KEY = re.compile(r"^([0-9.]+)([KMGTPE]?i?B)$")


def plain(text):
    """A name as one line that any encoding can write: JSON may hold halves of characters and control codes."""
    return _SURROGATE.sub("\ufffd", _CONTROL.sub(" ", str(text)))


def label(text):
    """For what Plotly draws: it takes <b>, <a href> and entities for markup."""
    return plain(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def script_json(value):
    """JSON that can stand inside <script>: in ASCII, and without what could end the element or open a comment."""
    text = json.dumps(finite(value), ensure_ascii=True, allow_nan=False, separators=(",", ":"), sort_keys=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def finite(value):
    """The same in ten digits, more than anybody sees, with null, which charts leave out, for numbers that a factor has
    made too large."""
    if isinstance(value, dict):
        return {name: finite(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.10g}") if math.isfinite(value) else None
    return value


def number(value):
    """A float that every later step can take, whatever integer a file holds."""
    try:
        return max(-_LARGEST, min(_LARGEST, float(value)))
    except OverflowError:
        return _LARGEST if value > 0 else -_LARGEST


def digits(value):
    """Four significant digits, without an exponent where that can be read."""
    value = number(value)
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e4:
        decimals = max(0, 3 - math.floor(math.log10(abs(value))))
        text = f"{value:.{decimals}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.3e}"


def time_scale(value):
    """Factor and unit in which so many seconds read well: 1e6, us."""
    return next((scale for scale in _TIMES if abs(value) * scale[0] >= 1), _TIMES[-1])


def seconds(value):
    value = number(value)
    factor, unit = time_scale(value)
    return f"{digits(value / (1 / factor))} {unit}" if value else "0 s"


def size(value):
    """Bytes in powers of 1024, as the program writes them: 256 MiB."""
    value, power = number(value), 0
    while value >= 1024 and power + 1 < len(_BINARY):
        value /= 1024
        power += 1
    return f"{digits(value)} {_BINARY[power]}"


def quantity(value, unit):
    if unit == "s":
        return seconds(value)
    if unit == "B":
        return size(value)
    return digits(value) if unit == "1" else f"{digits(value)} {unit}"


def percent(value):
    return f"{digits(100 * value)} %"


def change(ratio):
    """What a ratio says, with digits that tell it from no change: +1.25 %."""
    ratio = number(ratio)
    return f"{100 * (ratio - 1):+.2f} %" if 0.1 < ratio < 10 else f"x {digits(ratio)}"


def value_in_key(text):
    """256MiB, as keys have it, as 256 MiB."""
    found = _SIZE_IN_KEY.match(text)
    return f"{found[1]} {found[2]}" if found else text


def plural(count, noun):
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def unique(names):
    """The same names, each at most once: a repeated one gets a number."""
    seen = set()
    result = []
    for name in names:
        candidate, number = name, 1
        while candidate in seen:
            number += 1
            candidate = f"{name} ({number})"
        seen.add(candidate)
        result.append(candidate)
    return result

"""Maps of numbers over two lists of names, with the numbers in their cells."""

from .. import text
from . import figure

DARK, LIGHT = "#111111", "#ffffff"  # numbers in cells; each is read on its half of the colours


def chart(title, shown, rows, columns, cells, axes, scale, note="", marked=(), narrow=True):
    """`cells` holds for each (row, column) a number and what pointing at it shows; `axes` names rows and columns, and
    `scale` the numbers. What differs little looks alike: the darkest colour is half of the most."""
    rows_up = list(reversed(rows))  # the first row is on top
    numbers = [value for value, _ in cells.values()]
    highest = max(numbers)
    lowest = min([highest / 2, *numbers])

    def table(of_cell, missing):
        return [[of_cell(cells[r, c]) if (r, c) in cells else missing for c in columns] for r in rows_up]

    trace = {
        "type": "heatmap",
        "z": table(lambda cell: cell[0], None),
        "zmin": lowest,
        "zmax": highest,
        "hovertext": table(lambda cell: cell[1], "nothing was measured here"),
        "hoverinfo": "text",
        "colorscale": "Cividis",
        "colorbar": {"title": {"text": text.label(scale), "side": "right"}, "thickness": 14},
        "xgap": 1,
        "ygap": 1,
    }
    middle = (lowest + highest) / 2
    annotations = [
        {
            "x": columns.index(column),
            "y": rows_up.index(row),
            "text": in_cell(value) + ("*" if (row, column) in marked else ""),
            "showarrow": False,
            "font": {"size": 11, "color": DARK if value > middle or lowest == highest else LIGHT},
        }
        for (row, column), (value, _) in cells.items()
    ]
    down, across = axes
    return figure.Chart(
        title,
        [trace],
        shown,
        names_axis(columns, across),
        names_axis(rows_up, down),
        note=note,
        height=150 + 42 * max(3, len(rows)),
        narrow=narrow,
        annotations=annotations,
    )


def in_cell(value):
    """Three digits, which fit into cells of narrow windows; pointing at a cell shows more."""
    if abs(value) >= 999.5:
        return f"{value:.0f}"
    decimals = 0 if abs(value) >= 99.95 else 1 if abs(value) >= 9.995 else 2
    return f"{value:.{decimals}f}"


def names_axis(names, title):
    """A place for each name, all alike wide."""
    return {
        "title": {"text": text.label(title)},
        "tickmode": "array",
        "tickvals": list(range(len(names))),
        "ticktext": [text.label(name) for name in names],
        "showgrid": False,
    }

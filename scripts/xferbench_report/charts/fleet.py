"""Heat maps of a fleet: for each test a row for each node and a column for each of its ranks."""

import math

from .. import text
from . import figure, matrix

_MOST_NUMBERS = 256  # cells with their number in them; more could not be read
_TALLEST = 2400  # pixels of a map, however many nodes there are
_NARROWEST = 0.95, 1.02  # the colours reach so far at least, so that what differs little looks alike
_MOST_NAMES = 60  # nodes with their name beside them


def charts(fleet):
    return [chart(fleet, test) for test in fleet.tests if test.values]


def chart(fleet, test):
    hosts, shares = fleet.hosts(), fleet.shares(test)
    nodes = sorted(hosts)
    columns = sorted({one["local_rank"] for one in fleet.ranks.values()})
    places = {(one["node"], one["local_rank"]): rank for rank, one in fleet.ranks.items()}
    nodes_up = list(reversed(nodes))  # the first is on top
    every = shares.values()
    lowest, highest = min([_NARROWEST[0], *every]), max([_NARROWEST[1], *every])
    trace = {
        "type": "heatmap",
        "z": [[shares.get(places.get((node, column))) for column in columns] for node in nodes_up],
        "zmin": lowest,
        "zmax": highest,
        "hovertext": [[words(fleet, test, shares, places.get((node, column))) for column in columns] for node in nodes_up],
        "hoverinfo": "text",
        "colorscale": "Cividis",
        "colorbar": {"title": {"text": "of its group's median", "side": "right"}, "thickness": 14, "tickformat": ".0%"},
        "xgap": 1,
        "ygap": 1 if len(nodes) <= _MOST_NAMES else 0,
    }
    middle = (lowest + highest) / 2
    annotations = [
        note_in_cell(place, shown, shares.get(rank, lowest) > middle, nodes_up, columns)
        for place, rank in places.items()
        if (shown := in_cell(fleet, test, shares, rank))
    ]
    return figure.Chart(
        test.name,
        [trace],
        [fleet.run],
        matrix.names_axis([str(column) for column in columns], "rank of its host"),
        hosts_axis([hosts[node] for node in nodes_up]),
        note=note(fleet, test),
        height=height_for(len(nodes)),
        narrow=len(columns) <= 8,
        annotations=annotations,
    )


def height_for(nodes):
    return min(_TALLEST, 150 + (30 if nodes <= 16 else 14) * max(3, nodes))


def hosts_axis(hosts):
    """Where there are too many for a name each, some have theirs."""
    axis = matrix.names_axis(hosts, "host")
    axis["title"]["standoff"] = 8  # from the names, which it would lie on in narrow charts
    every = math.ceil(len(hosts) / _MOST_NAMES)
    return {**axis, "tickvals": axis["tickvals"][::every], "ticktext": axis["ticktext"][::every]}


def in_cell(fleet, test, shares, rank):
    """The number where there is room for all of them, a star where this test shows what is flagged, and who is
    missing."""
    if rank not in shares:
        return "-" if len(fleet.ranks) <= _MOST_NUMBERS or rank in fleet.record["missing"] else ""
    star = "*" if fleet.is_flagged(test, rank) else ""
    return f"{100 * shares[rank]:.0f}{star}" if len(fleet.ranks) <= _MOST_NUMBERS else star


def note_in_cell(place, shown, bright, nodes_up, columns):
    node, column = place
    font = {"size": 11, "color": matrix.DARK if bright else matrix.LIGHT}
    return {"x": columns.index(column), "y": nodes_up.index(node), "text": shown, "showarrow": False, "font": font}


def words(fleet, test, shares, rank):
    if rank is None:
        return "no rank"
    if rank not in test.values:
        return text.label(f"{fleet.where(rank)}: nothing was measured")
    share = f", {text.percent(shares[rank])} of its group's median" if rank in shares else ""
    flagged = "; flagged" if fleet.is_flagged(test, rank) else ""
    pair = f" ({test.transfer(rank)})" if rank in test.pairs else ""
    return text.label(f"{fleet.where(rank)}{pair}: {text.quantity(test.values[rank], test.unit)}{share}{flagged}")


def note(fleet, test):
    suspects = [rank for rank in sorted(test.values) if fleet.is_flagged(test, rank)]
    said = "100 is the median of those with the same GPU and link."
    if test.pairs:
        said = (
            "A cell is of the rank that receives; 100 is the median of transfers between the same GPUs and links, "
            "apart within a host and between hosts."
        )
    if not suspects:
        return said
    few = ", ".join(test.transfer(rank) or fleet.where(rank) for rank in suspects[:4])
    more = f" and {len(suspects) - 4} more" if len(suspects) > 4 else ""
    return f"{said} A star marks what is flagged: {few}{more}."

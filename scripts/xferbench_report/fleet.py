"""What a page says of a fleet, the ranks of mpirun or srun: their tests, what is flagged, and who they are."""

import collections
import dataclasses
import re
import statistics

from . import tables, text

_RATE = "GB/s"
FLAGGED = {"gpu": "GPU", "link": "link", "host": "host", "pair": "pair", "rank": "rank"}


@dataclasses.dataclass
class Test:
    """One number of one case at one pace, of all ranks that have it."""

    key: str
    pace: str
    unit: str
    better: str
    values: dict  # by rank
    pairs: dict = dataclasses.field(default_factory=dict)  # by rank, of transfers between two: who sends, who receives
    passes: dict = dataclasses.field(default_factory=dict)  # by rank, where that is known
    name: str = ""  # as much of the key as differs within the scenario, and the pace

    @property
    def scenario(self):
        return self.key.partition("/")[0]

    @property
    def full_name(self):
        """memcpy/dir=h2d/size=1MiB pace=all: as what is flagged names it. Transfers are judged with all partners that
        ranks have, one in each round."""
        key = re.sub("/round=[^/]*", "", self.key, count=1) if self.pairs else self.key
        return f"{key} pace={self.pace}"

    def transfer(self, rank):
        """rank 3 to rank 5, of one between two; else empty."""
        return "rank {} to rank {}".format(*self.pairs[rank]) if rank in self.pairs else ""


@dataclasses.dataclass(frozen=True)
class Passes:
    """What one pass of a rank moved, in bytes, and when its passes began and ended by the common clock."""

    payload: float
    begins: list
    ends: list


class Fleet:
    """The ranks of a run, by their numbers."""

    def __init__(self, run):
        record = run.record["fleet"]
        self.run = run
        self.record = record
        self.ranks = {one["rank"]: one for one in record["ranks"]}
        self.flagged = record["flagged"]
        self.tests = tests_of(run)
        self.middles = self.middles_of_groups()

    def hosts(self):
        """The name of each node."""
        return {one["node"]: one["host"] for one in self.ranks.values()}

    def where(self, rank):
        """rank 3, GPU 1 of a."""
        place = self.ranks.get(rank)
        return f"rank {rank}" if place is None else f"rank {rank}, GPU {gpu_of(place)} of {place['host']}"

    def like(self, rank):
        """What ranks have in common that should be as fast as each other."""
        gpu = self.ranks[rank]["environment"]["gpu"] if rank in self.ranks else {}
        return (gpu.get("name"), tables.link_of(gpu.get("pcie")))

    def group(self, test, rank):
        """Of whose numbers the middle is what a rank's number is held against, as the program judges it: of transfers
        those between the same kinds of ends, apart within a node and beyond."""
        if rank not in test.pairs:
            return self.like(rank)
        ends = test.pairs[rank]
        nodes = {self.ranks[end]["node"] if end in self.ranks else None for end in ends}
        return (*map(self.like, ends), len(nodes) > 1)

    def middles_of_groups(self):
        """Of each group in what is judged as one test."""
        numbers = collections.defaultdict(lambda: collections.defaultdict(list))
        for test in self.tests:
            for rank, value in test.values.items():
                numbers[test.full_name, test.unit][self.group(test, rank)].append(value)
        return {name: {group: statistics.median(all) for group, all in of.items()} for name, of in numbers.items()}

    def is_flagged(self, test, rank):
        """Whether what the rank measured in this test shows what is flagged: the test is among those that do, and of
        transfers one end is slow, or it is the very transfer."""
        pair = test.pairs.get(rank)
        own = {rank} if pair is None else set(pair)

        def shows(one):
            of_it = tuple(one["ranks"]) == pair if one["what"] == "pair" else own & set(one["ranks"])
            return of_it and test.full_name in one["tests"]

        return any(map(shows, self.flagged))

    def shares(self, test):
        """Each rank's number over the middle of its group; more is better, whatever the number is."""
        middles = self.middles[test.full_name, test.unit]
        found = {}
        for rank, value in test.values.items():
            middle = middles[self.group(test, rank)]
            share = (middle, value) if test.better == "lower" else (value, middle)
            if share[1] > 0:
                found[rank] = share[0] / share[1]
        return found


def gpu_of(place):
    """The GPU's number on its host as the program says it: that before CUDA_VISIBLE_DEVICES hides some, and where that
    has no number its PCI address. The rank's number on its host is another: ranks may share a GPU."""
    environment = place["environment"]
    index = environment["gpu"].get("index")
    if index is None:
        return str(place["local_rank"])
    visible = environment["variables"].get("CUDA_VISIBLE_DEVICES", "").split(",")
    name = visible[index].strip() if index < len(visible) else ""
    if not name:
        return str(index)
    return name if re.fullmatch("[0-9]+", name) else environment["gpu"].get("pci_bus_id") or name


def tests_of(run):
    """Those of the first round, in the order of their first results."""
    found = {}
    for case in run.cases:
        if not case.ok or case.fleet is None or case.fleet["round"] != 1:
            continue
        number = number_of(run, case)
        if number is None:
            continue
        value, unit, better = number
        name = (case.record["key"], case.fleet["pace"], unit)
        test = found.setdefault(name, Test(*name, better, {}))
        rank = case.fleet["rank"]
        test.values[rank] = value
        if pair := pair_of(case):
            test.pairs[rank] = pair
        if (passes := passes_of(case, value, unit)) is not None:
            test.passes[rank] = passes
    name_tests(list(found.values()))
    return list(found.values())


def pair_of(case):
    """The rank that sends and the one that receives, as labels say; None of what is of one rank alone."""
    ends = [case.labels.get(name, "") for name in ("from", "to")]
    return tuple(map(int, ends)) if all(re.fullmatch("[0-9]{1,9}", end) for end in ends) else None


def passes_of(case, value, unit):
    """None where it is not known what they moved and when."""
    begins, ends = (list(map(text.number, case.fleet.get(name, []))) for name in ("begins", "ends"))
    timed = case.main()
    if unit != _RATE or timed is None or timed.unit != "s" or not begins or len(ends) != len(begins):
        return None
    payload = value * 1e9 * timed.value * text.number(case.headline().record["batch"])
    return Passes(payload, begins, ends) if payload > 0 else None


def together(test):
    """What all ranks moved, over the time that it took all of them, in the middle of the passes; None where that means
    nothing. Where their passes are not known, or not the same, the sum of the rates, as the program's table has it."""
    if test.unit != _RATE or test.pace != "all" or test.pairs:
        return None
    known = [test.passes.get(rank) for rank in test.values]
    if not all(known) or len({len(one.begins) for one in known}) > 1:
        return sum(test.values.values())
    begins, ends = zip(*(one.begins for one in known)), zip(*(one.ends for one in known))
    makespan = statistics.median(max(end) - min(begin) for begin, end in zip(begins, ends))
    payload = sum(one.payload for one in known)
    return payload / makespan / 1e9 if makespan > 0 else sum(test.values.values())


def number_of(run, case):
    """The first rate that the table has a column for; else what the case is about. None where there is neither."""
    for one in run.record.get("metrics_declared", {}).get(case.scenario, []):
        if one["kind"] == "metric" and one["heading"] and one.get("unit") == _RATE and one["better"] == "higher":
            value = case.metric(one["name"], _RATE)
            if value is not None:
                return value, _RATE, "higher"
    main = case.main()
    if main is None:
        return None
    declared = case.declared.get(case.headline().name, {})
    return main.value, main.unit, declared.get("better", "lower" if main.unit == "s" else "higher")


def name_tests(tests):
    """Each by what differs between the cases of its scenario."""
    for scenario in dict.fromkeys(test.scenario for test in tests):
        own = [test for test in tests if test.scenario == scenario]
        common = set.intersection(*(set(test.key.split("/")) for test in own))
        for test in own:
            rest = [part for part in test.key.split("/") if part not in common]
            test.name = ", ".join([scenario, *rest, f"pace {test.pace}"])


TESTS = ("test", "median", "lowest", "of", "highest", "of", "spread", "all together")


def tests_table(fleet):
    rows = [test_row(fleet, test) for test in fleet.tests]
    return tables.filled(TESTS, rows, numbers=(1, 2, 4, 6, 7))


def test_row(fleet, test):
    middle = statistics.median(test.values.values())
    lowest, highest = (choose(test.values, key=test.values.get) for choose in (min, max))

    def cell(value):
        return tables.Cell(text.quantity(value, test.unit), sort=value)

    def whose(rank):
        return test.transfer(rank) or fleet.where(rank)

    low, high = test.values[lowest], test.values[highest]
    spread = tables.Cell(text.percent((high - low) / middle), sort=(high - low) / middle) if middle > 0 else ""
    rate = together(test)
    total = "" if rate is None else cell(rate)
    return [test.name, cell(middle), cell(low), whose(lowest), cell(high), whose(highest), spread, total]


RANKS = ("rank", "host", "GPU", "model", "UUID", "PCI", "link", "NUMA node", "driver", "profile", "flagged")


def ranks_table(fleet):
    missing = set(fleet.record["missing"])
    rows = [rank_row(fleet, rank, missing) for rank in sorted({*fleet.ranks, *missing})]
    return tables.filled(RANKS, rows, numbers=(0, 2))


def rank_row(fleet, rank, missing):
    words = list(dict.fromkeys(FLAGGED[one["what"]] for one in fleet.flagged if rank in one["ranks"]))
    words += ["missing"] if rank in missing else []
    flagged = tables.Alarm(", ".join(words)) if words else ""
    number = tables.Cell(str(rank), sort=rank)
    if rank not in fleet.ranks:
        return [number, *[""] * (len(RANKS) - 2), flagged]
    place = fleet.ranks[rank]
    environment = place["environment"]
    gpu = environment["gpu"]
    known = [gpu["name"], gpu.get("uuid", ""), gpu.get("pci_bus_id", ""), tables.link_of(gpu.get("pcie")) or ""]
    known += [str(gpu.get("numa_node", "")), environment.get("driver", ""), environment.get("profile", "")]
    return [number, place["host"], gpu_of(place), *known, flagged]


@dataclasses.dataclass(frozen=True)
class Nothing:
    """What it means that nothing is flagged."""

    text: str
    sure: bool = True  # all is good: all could be judged, and nobody is suspected any more


def nothing_flagged(record):
    """As the terminal says it. Files of earlier versions do not tell how much could be judged."""
    judgement = record.get("judgement")
    if judgement is None:
        return Nothing("Nothing is flagged")
    judged, tests, unresolved = (judgement[name] for name in ("judged", "tests", "unresolved"))
    if judged == 0:
        return Nothing("Nothing could be judged", sure=False)
    words = "Nothing is flagged"
    if judged < tests:
        words += f" in {judged} of {tests} tests; the others could not be judged"
    if unresolved:
        suspicions = "a suspicion" if unresolved == 1 else f"{unresolved} suspicions"
        words += f"; {suspicions} could be neither confirmed nor removed"
    return Nothing(words, sure=judged >= tests and not unresolved)


def answer(fleet):
    """The first screen: what was asked, what is flagged, and what limits that."""
    run = fleet.run
    statuses = collections.Counter(case.status for case in run.cases)
    return {
        "asked": tables.asked(run),
        "machine": ", ".join([run.gpu, text.plural(len(fleet.ranks), "rank"), fleet.record["mpi"]]),
        "begun": run.record["started_at"].partition("T")[0],
        "complete": run.record["complete"],
        "flagged": [(FLAGGED[one["what"]], flagged_words(one)) for one in fleet.flagged],
        "nothing": nothing_flagged(fleet.record),
        "missing": [fleet.where(rank) for rank in fleet.record["missing"]],
        "notes": fleet.record.get("differences", []) + fleet.record["notes"],
        "counts": [statuses[status] for status in ("ok", "failed", "skipped")],
        "clock": text.seconds(fleet.record["clocks_off_by"]),
        "alarms": tables.alarms([run]),
        "environments": tables.environments([run], []),
    }


def flagged_words(one):
    return one["text"] if one["name"] in one["text"] else f"{one['name']}: {one['text']}"

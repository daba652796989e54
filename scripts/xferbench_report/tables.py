"""What the page says in words and tables: where the numbers are from, what is doubtful, and every case."""

import collections

from . import comparison, text
from . import trend as trend_rules
from .charts import grouping, trend

# The flags of docs/measurement.md in a few words; those that put the numbers in doubt come first.
FLAGS = {
    "throttled": "the GPU's clock was below 90 % of its highest: look at temperature and power limit",
    "xid": "the driver told of a critical error of the GPU: look for NVRM: Xid in the kernel's log",
    "ecc-errors": "the GPU's memory had errors: nvidia-smi -q -d ECC",
    "link-changed": "the link lost lanes or a generation while the case ran: look at slot and riser",
    "pcie-replays": "the link had to send packets again: look at slot and riser",
    "throttle-hw-slowdown": "the GPU had slowed itself down: look at cooling and power",
    "throttle-hw-thermal": "the GPU had slowed itself down because it was too hot",
    "throttle-sw-thermal": "the driver had lowered the clocks because the GPU was too hot",
    "throttle-power-brake": "the server had told the GPU to slow down: look at its power supplies",
    "hot": "the GPU was about to slow itself down because of heat: look at cooling",
    "throttle-power-cap": "the power limit had lowered the clocks",
    "drift": "the first and the last third of the samples differ: something changed during the measurement",
    "bimodal": "the samples form two clusters: other work on the machine, or memory of the wrong node",
    "gate-timeout": "the host was too slow to submit in time; samples were taken again",
    "slow-first": "the first sample was slower than all others: the warm-up was short",
    "not-warm": "the warm-up ended before it had settled; harmless without drift",
    "autocorrelated": "samples depend on those before them; the interval has been widened",
    "outliers": "at least one sample far from the others; the median hardly moves",
}


# What differs between any two files and says nothing of the machine.
_OF_EACH_FILE = ("started", "cases")
ALARMING = list(FLAGS)[: list(FLAGS).index("slow-first")]  # flags that put numbers in doubt
MOST_FINDINGS = 6
_MOST_KEYS = 3
_MOST_BESIDE = 8  # files whose differences fit beside each other


class Alarm(str):
    """A text that should worry its reader."""

    sort = opens = None


class Cell(str):
    """A text that sorts by a number, or that opens the samples of a case."""

    def __new__(cls, shown, sort=None, opens=None):
        found = super().__new__(cls, shown)
        found.sort, found.opens = None if sort is None else float(f"{text.number(sort):.8g}"), opens
        return found


def environments(runs, timelines):
    """What the files say of their machines: of each file its name and its facts, the names of all facts, and of those
    that differ between a few files."""
    files = [(run.short_label, facts_of(run)) for run in runs]
    files += [(one.label, facts_of_timeline(one)) for one in timelines]
    names = list(dict.fromkeys(name for _, facts in files for name in facts))
    differ = [name for name in names if len({facts.get(name) for _, facts in files}) > 1]
    openly = [name for name in differ if name not in _OF_EACH_FILE] if len(files) <= _MOST_BESIDE else []
    return {"names": names, "files": files, "differ": openly}


def facts_of(run):
    """What the file says of the machine; what it does not know it does not have."""
    environment, gpu, host = run.environment, run.environment["gpu"], run.environment["host"]
    statuses = collections.Counter(case.status for case in run.cases)
    counted = ", ".join(f"{statuses[status]} {status}" for status in ("ok", "failed", "skipped") if statuses[status])
    known = {
        "GPU": gpu["name"],
        "measured": Alarm(run.marks[0]) if run.simulated else "on a real GPU",
        "verified": {True: "yes", False: Alarm("NOT VERIFIED: --no-verify")}.get(run.record.get("verified")),
        "cases": counted or "none",
        "complete": "yes" if run.record["complete"] else Alarm("NO: the run was interrupted or still goes on"),
        "started": run.record["started_at"],
        "command": " ".join(run.record["command"]),
        "link": link_of(gpu.get("pcie")),
        "GPU memory": text.size(gpu["memory_bytes"]) if "memory_bytes" in gpu else None,
        "multiprocessors": gpu.get("multiprocessors"),
        "compute capability": gpu.get("compute_capability"),
        "copy engines": gpu.get("copy_engines"),
        "ECC": {True: "on", False: "off"}.get(gpu.get("ecc")),
        "UUID": gpu.get("uuid"),
        "driver": environment.get("driver"),
        "CUDA runtime": environment.get("runtime"),
        "CPU": host.get("cpu"),
        "logical CPUs": host.get("logical_cpus"),
        "host memory": text.size(host["memory_bytes"]) if "memory_bytes" in host else None,
        "kernel": host.get("kernel"),
        "NUMA": numa_of(host),
        "variables": ", ".join(f"{name}={value}" for name, value in environment["variables"].items()) or None,
        "program": program_of(run.record["tool"]),
    }
    known |= facts_of_gpus(environment) | facts_of_fleet(run)
    return {name: value for name, value in known.items() if value is not None}


def facts_of_fleet(run):
    """Of a fleet; the facts beside these are those of rank 0."""
    if not run.ranks:
        return {}
    fleet = run.record["fleet"]
    return {"ranks": run.gpu, "MPI": fleet["mpi"], "clocks agree within": text.seconds(fleet["clocks_off_by"])}


def facts_of_gpus(environment):
    """Of several GPUs each by its number, and what joins them: pairs that are joined in one way stand together."""
    known, joined = {}, {}
    for place, gpu in enumerate(environment.get("gpus", [])):
        parts = [gpu["name"], gpu.get("pci_bus_id"), link_of(gpu.get("pcie"))]
        parts += [f"NUMA node {gpu['numa_node']}"] if "numa_node" in gpu else []
        parts += [text.plural(gpu["nvlinks"], "NVLink")] if gpu.get("nvlinks") else []
        parts += ["MIG"] if gpu.get("mig") else []
        known[f"GPU {gpu.get('index', place)}"] = ", ".join(part for part in [*parts, gpu.get("uuid")] if part)
    for link in environment.get("links", []):
        joined.setdefault(joint_of(link), []).append(f"{link['from']} to {link['to']}")
    every = len(joined) == 1
    ways = [f"{how}: {'all pairs' if every else ', '.join(pairs)}" for how, pairs in joined.items()]
    return known | ({"between GPUs": "; ".join(ways)} if ways else {})


def joint_of(link):
    """How one GPU reaches another, in words."""
    links = text.plural(link["nvlinks"], "NVLink") if link.get("nvlinks") else "no NVLink"
    rate = [f"{text.digits(text.number(link['nvlink_bandwidth']) / 1e9)} GB/s"] if link.get("nvlink_bandwidth") else []
    access = "peer access" if link.get("access") else "no peer access"
    return ", ".join([links, *rate, access, *(["atomics"] if link.get("atomics") else [])])


def facts_of_timeline(one):
    known = {
        "GPU": one.other.get("gpu"),
        "measured": one.marks[0] if one.simulated else "on a real GPU",
        "times from": one.other.get("source"),
        "program": one.other.get("tool"),
    }
    return {name: value for name, value in known.items() if value is not None}


def link_of(pcie):
    if pcie is None:
        return None
    words = f"PCIe generation {pcie['generation']}, {pcie['width']} lanes"
    if (pcie.get("max_generation", 0), pcie.get("max_width", 0)) > (pcie["generation"], pcie["width"]):
        words += f" (the GPU can do generation {pcie.get('max_generation')}, {pcie.get('max_width')} lanes)"
    return words + ("" if pcie.get("under_load", True) else ", not seen under load")


def numa_of(host):
    parts = [f"process on node {host['numa_node']}"] if "numa_node" in host else []
    parts += [f"GPU on node {host['gpu_numa_node']}"] if "gpu_numa_node" in host else []
    parts += [host["numa_note"]] if "numa_note" in host else []
    return ", ".join(parts) or None


def program_of(tool):
    built = tool["build"]
    parts = [tool["version"], tool.get("git"), built["compiler"], f"CUDA {built['cuda']}" if "cuda" in built else None]
    return ", ".join(part for part in [*parts, built.get("type")] if part)


def findings(scenario, runs):
    """The sentences of the program, for each run that has some: the most telling ones, and the rest. Findings without a
    sentence are numbers for programs."""
    found = []
    for run in runs:
        said = [one for one in run.findings if one["scenario"] == scenario and "text" in one]
        chosen = telling(said)
        shown, rest = ([one["text"] for one in said if (one in chosen) is wanted] for wanted in (True, False))
        found += [(run.label if len(runs) > 1 else "", shown, rest)] if said else []
    return found


def telling(said, most=MOST_FINDINGS):
    """So many at most: the first of each kind, then the second of each, so that no kind hides behind another."""
    kinds, order = collections.Counter(), []
    for place, one in enumerate(said):
        order.append((kinds[one["kind"]], place, one))
        kinds[one["kind"]] += 1
    return [one for _, _, one in sorted(order, key=lambda entry: entry[:2])[:most]]


def not_measured(runs):
    """What failed, each by itself; what was skipped, a line for each file and reason."""
    failed = [[run.short_label, case.key, case.reason] for run in runs for case in run.cases if case.status == "failed"]
    skipped = {}
    for run in runs:
        for case in run.cases:
            if case.status == "skipped":
                skipped.setdefault((run.short_label, case.scenario, case.reason), []).append(case.key)
    rows = [[file, scenario, len(keys), reason, keys] for (file, scenario, reason), keys in skipped.items()]
    return {"failed": failed, "skipped": rows, "count": sum(len(row[4]) for row in rows)}


def flags(runs):
    """How many measurements of each run have which flag, the alarming ones first."""
    counts = [
        collections.Counter(flag for c in run.cases for one in c.measurements for flag in one.flags) for run in runs
    ]
    names = [flag for flag in FLAGS if any(flag in count for count in counts)]
    names += sorted({flag for count in counts for flag in count} - set(FLAGS))
    return names, counts


def warnings(runs):
    """How often each flag was raised in each file, and every warning."""
    names, counts = flags(runs)
    said = [[run.short_label, c.key, warning] for run in runs for c in run.cases for warning in c.record["warnings"]]
    return {
        "files": [run.short_label for run in runs],
        "flags": [[flag, *(count[flag] or "" for count in counts), FLAGS.get(flag, "")] for flag in names],
        "said": said,
    }


def alarms(runs):
    """What must be read before any number: files that were cut off, failed cases, flags that put numbers in doubt."""
    cut_off = [run for run in runs if not run.record["complete"]]
    found = [("incomplete", f"{run.short_label} was interrupted or still goes on") for run in cut_off]
    failed = [case for run in runs for case in run.cases if case.status == "failed"]
    found += [("failed", f"{case.key}: {case.reason}") for case in failed[:_MOST_KEYS]]
    found += [(f"{len(failed) - _MOST_KEYS} more failed", "")] if len(failed) > _MOST_KEYS else []
    names, counts = flags(runs)
    every = sum(len(case.measurements) for run in runs for case in run.cases)
    for flag in names:
        if flag in ALARMING or flag not in FLAGS:
            counted = f"{sum(count[flag] for count in counts)} of {text.plural(every, 'measurement')}"
            found.append((flag, f"{counted}: {FLAGS.get(flag, 'unknown to this page')}"))
    return [(Alarm(what), words) for what, words in found]


def asked(run):
    """The command that was run."""
    return " ".join(run.record["command"])


def machine_of(one):
    """A run's machine in a few words, or a timeline's GPU."""
    if not hasattr(one, "environment"):
        return one.other.get("gpu", "")
    environment, pcie = one.environment, one.environment["gpu"].get("pcie")
    link = [f"PCIe {pcie['generation']} x{pcie['width']}"] if pcie else []
    driver = [f"driver {environment['driver']}"] if "driver" in environment else []
    return ", ".join([one.gpu, *link, *driver])


def trend_answer(series, runs):
    """What a trend's first screen says."""
    rows = changes(series)
    return {
        "runs": runs,
        "series": len(series),
        "rows": rows,
        "head": CHANGES,
        "worse": sum(isinstance(row[0], Alarm) for row in rows),
        "fewest": trend_rules.fewest(len(series), max(trend_rules.FEWEST, len(runs) - 3)) if series else None,
        "rules": trend_rules,
        "machine": machine_of(runs[-1]),
    }


def headlines(found, sides):
    """Of each headline number of the first side: its value in all sides, and what limits it."""
    return [
        {
            "scenario": one.case.scenario,
            "what": one.what,
            "values": [value_of(one, side.run) for side in sides],
            "share": one.share(),
            "of_what": one.of_what(),
            "name": one.name + (f"; {text.plural(one.others, 'other')} cannot be told apart" if one.others else ""),
        }
        for one in found
    ]


def value_of(headline, run):
    """The number of the same case in this run, with its interval."""
    case = run.case(headline.case.key)
    found = headline.estimate(case) if case is not None and case.ok and case.main() is not None else None
    if found is None:
        return ("", "")
    ends = [] if found.low is None else [text.quantity(found.low, found.unit), text.quantity(found.high, found.unit)]
    return (text.quantity(found.value, found.unit), " to ".join(ends))


CASES = ("case", "measured", "median", "95 % interval", "half width", "samples", "rate", "flags")


def cases(scenario, runs):
    """Every measured case of a scenario, by as much of its key as differs; of several files a column names each."""
    every = [(run, case) for run in runs for case in run.cases if case.scenario == scenario]
    known = [(run, case) for run, case in every if case.status != "skipped"]
    shown = grouping.varying([case for _, case in known])
    texts = known[0][1].texts if known else {}
    common = [f"{name}={value}" for name, value in texts.items() if name not in shown]
    rows = [case_row(case, shown) + ([run.short_label] if len(runs) > 1 else []) for run, case in known]
    head, headings = [*CASES, "file"][: len(rows[0]) if rows else 0], {row[1] for row in rows if row[1] != ""}
    if len(headings) == 1:  # then it heads the column of its medians
        head[2] = headings.pop()
        rows = [[row[0], "", *row[2:]] for row in rows]
    return {**filled(head, rows, numbers=range(2, 7)), "common": ", ".join(common)}


def case_row(case, shown):
    main, rate = case.main(), case.rate()
    flagged = sorted({flag for one in case.measurements for flag in one.flags})
    name = Cell(grouping.describe(case, shown) or case.key, opens=case.key if case.measurements else None)
    if case.status == "failed":
        return [name, Alarm("failed"), "", "", "", "", "", ""]
    measured = [""] * 5
    if main:
        ends = [text.quantity(end, main.unit) for end in (main.low, main.high) if end is not None]
        half = (main.high - main.low) / 2 / main.value if ends and main.value > 0 else None
        measured = [
            case.heading(case.headline().name),
            Cell(text.quantity(main.value, main.unit), sort=main.value),
            " to ".join(ends),
            f"± {100 * half:.2g} %" if half is not None else "",
            main.samples,
        ]
    shown_rate = text.quantity(rate.value, rate.unit) if rate else ""
    marked = [Alarm(", ".join(flagged))] if set(flagged) & set(ALARMING) else [", ".join(flagged)]
    return [name, *measured, shown_rate, *marked]


COMPARED = ("verdict", "change", "95 % interval", "case", "why", "measured", "base", "new", "p (Holm)", "least found")


def compared(found, base):
    """What the program says of two sides: facts that differ, and every case."""
    headings = {case.key: case.heading for case in base.run.cases}
    known = {case.key: case for run in (found.side.run, base.run) for case in run.cases}
    names = names_of([known[row["key"]] for row in found.said["cases"] if row["key"] in known])
    rows = [
        compared_row(row, found.word(row), headings.get(row["key"], str), names.get(row["key"], row["key"]))
        for row in found.rows()
    ]
    return {
        "differences": [[one["what"], one["base"], one["new"]] for one in found.said["differences"]],
        **filled(COMPARED, rows, numbers=(1, 2, 6, 7, 8, 9)),
    }


def filled(head, rows, numbers):
    """The columns in which any row has something, and which of them are numbers."""
    keep = [place for place in range(len(head)) if any(row[place] != "" for row in rows)]
    return {
        "head": [head[place] for place in keep],
        "rows": [[row[place] for place in keep] for row in rows],
        "numbers": [new for new, old in enumerate(keep) if old in numbers],
    }


def names_of(known):
    """For each key the scenario with as much of the key as differs between its cases."""
    names = {}
    for group in grouping.alike(known, lambda case: case.scenario):
        names |= {case.key: f"{case.scenario}: {name}" for case, name in zip(group, grouping.names_apart(group))}
    return names


def compared_row(row, word, heading, name):
    medians = [
        Cell(text.quantity(row[side]["median"], row["unit"]), sort=row[side]["median"]) if side in row else ""
        for side in ("base", "new")
    ]
    alarming = row["verdict"] in comparison.ALARMING or row.get("failed", False)
    order = list(comparison.IN_WORDS)
    verdict = (Alarm if alarming else Cell)(word)
    verdict.sort = order.index(row["verdict"]) if row["verdict"] in order else len(order)
    return [
        verdict,
        Cell(text.change(row["ratio"]), sort=row["ratio"]) if "ratio" in row else "",
        " to ".join(map(text.change, row.get("ratio_ci95", []))),
        Cell(name, opens=row["key"]),
        "; ".join(comparison.reasons(row)),
        heading(row["measured"]),
        *medians,
        text.digits(row["p_holm"]) if "p_holm" in row else "",
        text.change(row["least_found"][row["better"] != "higher"]) if "least_found" in row else "",
    ]


CHANGES = ("change", "case", "from", "before", "after", "between versions", "what else differs")


def changes(series):
    """Of every change what changed, when, by how much, and what is known to differ between the files around it; those
    for the worse come first."""
    rows = []
    for one in series:
        for change in one.changes:
            last, first = one.runs[change.at - 1], one.runs[change.at]
            versions = [trend.version_of(run) for run in (last, first)]
            shown = Alarm if one.worse(change) else Cell
            moved = shown(text.change(change.ratio))
            moved.sort = change.ratio
            row = [
                moved,
                f"{one.cases[0].scenario}: {one.name}",
                first.record["started_at"],
                Cell(text.quantity(change.before, one.unit), sort=change.before),
                Cell(text.quantity(change.after, one.unit), sort=change.after),
                versions[0] if versions[0] == versions[1] else " and ".join(versions),
                "; ".join(differing(last, first)) or "nothing that the files tell",
            ]
            rows.append(row)
    return sorted(rows, key=lambda row: (not isinstance(row[0], Alarm), -abs(row[0].sort - 1)))


def differing(before, after):
    """Facts that two files state differently, but for those that always do."""
    old, new = facts_of(before), facts_of(after)
    names = [name for name in dict.fromkeys([*old, *new]) if name not in (*_OF_EACH_FILE, "command", "program")]
    differ = [name for name in names if old.get(name) != new.get(name)]
    return [f"{name}: {old.get(name, 'unknown')}, then {new.get(name, 'unknown')}" for name in differ]

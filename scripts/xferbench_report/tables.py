"""What the page says in words and tables: where the numbers are from, what is doubtful, and every case."""

import collections

from . import text

# The flags of docs/measurement.md in a few words; those that put the numbers in doubt come first.
FLAGS = {
    "throttled": "the GPU's clock was below 90 % of its highest: look at temperature and power limit",
    "xid": "the driver told of a critical error of the GPU: look for NVRM: Xid in the kernel's log",
    "ecc-errors": "the GPU's memory had errors: nvidia-smi -q -d ECC",
    "link-changed": "the link's width changed while the case ran: look at slot and riser",
    "pcie-replays": "the link had to send packets again: look at slot and riser",
    "throttle-hw-slowdown": "the GPU had slowed itself down: look at cooling and power",
    "throttle-hw-thermal": "the GPU had slowed itself down because it was too hot",
    "throttle-sw-thermal": "the driver had lowered the clocks because the GPU was too hot",
    "throttle-power-brake": "the server had told the GPU to slow down: look at its power supplies",
    "throttle-power-cap": "the power limit had lowered the clocks",
    "drift": "the first and the last third of the samples differ: something changed during the measurement",
    "bimodal": "the samples form two clusters: other work on the machine, or memory of the wrong node",
    "gate-timeout": "the host was too slow to submit in time; samples were taken again",
    "slow-first": "the first sample was slower than all others: the warm-up was short",
    "not-warm": "the warm-up ended before it had settled; harmless without drift",
    "autocorrelated": "samples depend on those before them; the interval has been widened",
    "outliers": "at least one sample far from the others; the median hardly moves",
}


class Alarm(str):
    """A text that should worry its reader."""


def environments(runs, timelines):
    """What the files say of their machines: the names of all facts, and of each file its name and its facts."""
    files = [(run.short_label, facts_of(run)) for run in runs]
    files += [(one.label, facts_of_timeline(one)) for one in timelines]
    return {"names": list(dict.fromkeys(name for _, facts in files for name in facts)), "files": files}


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
    return {name: value for name, value in known.items() if value is not None}


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
    """The sentences of the program, for each run that has some; those without one are numbers for programs."""
    found = []
    for run in runs:
        said = [one["text"] for one in run.findings if one["scenario"] == scenario and "text" in one]
        found += [(run.label if len(runs) > 1 else "", said)] if said else []
    return found


def not_measured(runs):
    """Failed cases of each file come first."""
    return [
        [run.short_label, case.key, Alarm(case.status) if case.status == "failed" else case.status, case.reason]
        for run in runs
        for case in sorted(run.cases, key=lambda one: one.status != "failed")
        if not case.ok
    ]


def warnings(runs):
    """How often each flag was raised in each file, and every warning."""
    counts = [
        collections.Counter(flag for c in run.cases for one in c.measurements for flag in one.flags) for run in runs
    ]
    flags = [flag for flag in FLAGS if any(flag in count for count in counts)]
    flags += sorted({flag for count in counts for flag in count} - set(FLAGS))
    said = [[run.short_label, c.key, warning] for run in runs for c in run.cases for warning in c.record["warnings"]]
    return {
        "files": [run.short_label for run in runs],
        "flags": [[flag, *(count[flag] or "" for count in counts), FLAGS.get(flag, "")] for flag in flags],
        "said": said,
    }


def cases(run):
    """Every case with the measurement that it is about."""
    return [case_row(case) for case in run.cases]


def case_row(case):
    main, rate, flags = case.main(), case.rate(), {flag for one in case.measurements for flag in one.flags}
    measured = [""] * 4
    if main:
        ends = [text.quantity(end, main.unit) for end in (main.low, main.high) if end is not None]
        heading = case.heading(case.headline().name)
        measured = [heading, text.quantity(main.value, main.unit), " to ".join(ends), main.samples]
    shown_rate = text.quantity(rate.value, rate.unit) if rate else ""
    return [case.key, case.status, *measured, shown_rate, ", ".join(sorted(flags))]


def compared(comparison, base):
    """What the program says of two files: facts that differ, and every case."""
    headings = {case.key: case.heading for case in base.cases}
    return {
        "differences": [[one["what"], one["base"], one["new"]] for one in comparison.said["differences"]],
        "rows": [compared_row(row, headings.get(row["key"], str)) for row in comparison.rows()],
    }


def compared_row(row, heading):
    medians = [text.quantity(row[side]["median"], row["unit"]) if side in row else "" for side in ("base", "new")]
    alarming = row["verdict"] == "regressed" or row.get("failed", False)
    return [
        Alarm(row["verdict"]) if alarming else row["verdict"],
        row["key"],
        heading(row["measured"]),
        *medians,
        text.change(row["ratio"]) if "ratio" in row else "",
        " to ".join(map(text.change, row.get("ratio_ci95", []))),
        text.digits(row["p_holm"]) if "p_holm" in row else "",
        "; ".join(row["notes"]),
    ]

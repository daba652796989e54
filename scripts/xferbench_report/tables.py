"""What the page says in words and tables: where the numbers are from, what is doubtful, and every case."""

import collections

from . import text

# The flags of docs/measurement.md in a few words; those that put the numbers in doubt come first.
FLAGS = {
    "throttled": "the GPU's clock was below 90 % of its highest: look at temperature and power limit",
    "drift": "the first and the last third of the samples differ: something changed during the measurement",
    "bimodal": "the samples form two clusters: other work on the machine, or memory of the wrong node",
    "gate-timeout": "the host was too slow to submit in time; samples were taken again",
    "slow-first": "the first sample was slower than all others: the warm-up was short",
    "not-warm": "the warm-up ended before it had settled; harmless without drift",
    "autocorrelated": "samples depend on those before them; the interval has been widened",
    "outliers": "at least one sample far from the others; the median hardly moves",
}
_MOST_ROWS = 5000  # of a table of cases; a page with more is no fun to open
_ALL_FINE = "<p>None.</p>"


def table(head, rows, numbers=(), keys=()):
    """Rows of cells that are HTML already."""

    def cell(column, content):
        kind = ' class="number"' if column in numbers else ' class="key"' if column in keys else ""
        return f"<td{kind}>{content}</td>"

    lines = ["<tr>" + "".join(cell(i, content) for i, content in enumerate(row)) + "</tr>\n" for row in rows]
    titles = "".join(f"<th>{text.html(title)}</th>" for title in head)
    return f'<div class="scroll"><table><thead><tr>{titles}</tr></thead><tbody>\n{"".join(lines)}</tbody></table></div>'


def named(name):
    """A name from a file: apart from its surroundings, should it run from right to left."""
    return f"<bdi>{text.html(name)}</bdi>"


def environments(runs, timelines):
    """A column for each file."""
    if not runs and not timelines:
        return ""
    facts = [facts_of(run) for run in runs] + [facts_of_timeline(one) for one in timelines]
    names = list(dict.fromkeys(name for known in facts for name in known))
    rows = [[f"<b>{text.html(name)}</b>", *(known.get(name, "") for known in facts)] for name in names]
    files = [run.short_label for run in runs] + [one.label for one in timelines]
    return table(["", *files], rows)


def facts_of(run):
    """What the file says of the machine; what it does not know it does not have."""
    environment, gpu, host = run.environment, run.environment["gpu"], run.environment["host"]
    statuses = collections.Counter(case.status for case in run.cases)
    counted = ", ".join(f"{statuses[status]} {status}" for status in ("ok", "failed", "skipped") if statuses[status])
    known = {
        "GPU": gpu["name"],
        "measured": run.mark or "on a real GPU",
        "cases": counted or "none",
        "complete": "yes" if run.record["complete"] else "NO: the run was interrupted or still goes on",
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
    facts = {name: named(value) for name, value in known.items() if value is not None}
    for alarming in ("measured" if run.simulated else "", "" if run.record["complete"] else "complete"):
        if alarming:
            facts[alarming] = f'<span class="mark">{facts[alarming]}</span>'
    return facts


def facts_of_timeline(one):
    known = {
        "GPU": one.other.get("gpu"),
        "measured": one.mark or "on a real GPU",
        "times from": one.other.get("source"),
        "program": one.other.get("tool"),
    }
    return {name: named(value) for name, value in known.items() if value is not None}


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
    """The sentences of the program; those without one are numbers for programs."""
    html = ""
    for run in runs:
        said = [one["text"] for one in run.findings if one["scenario"] == scenario and "text" in one]
        if said:
            of_run = f" of {named(run.label)}" if len(runs) > 1 else ""
            lines = "".join(f"<li>{named(sentence)}</li>" for sentence in said)
            html += f'<details open><summary>Findings{of_run}</summary><ul class="findings">{lines}</ul></details>\n'
    return html


def not_measured(runs):
    rows = [
        [
            named(run.short_label),
            named(case.key),
            f'<span class="mark">{case.status}</span>' if case.status == "failed" else case.status,
            named(case.reason),
        ]
        for run in runs
        for case in sorted(run.cases, key=lambda one: one.status != "failed")
        if not case.ok
    ]
    return limited(["file", "case", "status", "reason"], rows, keys=(1,)) if rows else _ALL_FINE


def limited(head, rows, **columns):
    """A table that says what it leaves out."""
    left = len(rows) - _MOST_ROWS
    return table(head, rows[:_MOST_ROWS], **columns) + (f"<p>{left} further rows are left out.</p>" if left > 0 else "")


def warnings(runs):
    """How often each flag was raised in each file, and every warning."""
    counts = [
        collections.Counter(flag for c in run.cases for one in c.measurements for flag in one.flags) for run in runs
    ]
    flags = [flag for flag in FLAGS if any(flag in count for count in counts)]
    flags += sorted({flag for count in counts for flag in count} - set(FLAGS))
    html = ""
    if flags:
        rows = [
            [text.html(flag), *(str(count[flag] or "") for count in counts), text.html(FLAGS.get(flag, ""))]
            for flag in flags
        ]
        numbers = range(1, len(runs) + 1)
        html += table(["flag", *(run.short_label for run in runs), "meaning"], rows, numbers=numbers)
        html += '<p class="quiet">Numbers of measurements with that flag. A case has several measurements.</p>'
    said = [
        [named(run.short_label), named(case.key), named(warning)]
        for run in runs
        for case in run.cases
        for warning in case.record["warnings"]
    ]
    if said:
        opened = " open" if len(said) <= 40 else ""
        body = limited(["file", "case", "warning"], said, keys=(1,))
        html += f"<details{opened}><summary>{text.plural(len(said), 'warning')}</summary>{body}</details>"
    return html or _ALL_FINE


def cases(runs):
    """Every case of every file with its main measurement."""
    html = ""
    for run in runs:
        rows = [case_row(case) for case in run.cases]
        head = ["case", "status", "median", "95 % interval", "samples", "rate", "flags"]
        body = limited(head, rows, keys=(0,), numbers=(2, 3, 4, 5))
        html += f"<details><summary>{named(run.label)}: {text.plural(len(rows), 'case')}</summary>{body}</details>\n"
    return html


def case_row(case):
    main, rate = case.main(), case.rate()
    interval = ""
    if main and main.low is not None:
        interval = f"{text.quantity(main.low, main.unit)} to {text.quantity(main.high, main.unit)}"
    flags = sorted({flag for one in case.measurements for flag in one.flags})
    cells = [
        text.quantity(main.value, main.unit) if main else "",
        interval,
        str(main.samples) if main else "",
        text.quantity(rate.value, "GB/s") if rate else "",
        ", ".join(flags),
    ]
    return [named(case.key), case.status, *map(text.html, cells)]

"""The page: one HTML file that holds everything it needs, and may fetch and run nothing else.

Its HTML is in templates/, where every name is escaped by Jinja.
"""

import base64
import functools
import hashlib
import pathlib

import jinja2
from markupsafe import Markup

from . import comparison, explanation, fleet, samples, tables, text, vendor
from .charts import catalogue, timeline
from .charts import comparison as comparison_charts
from .charts import explain as explain_charts
from .charts import fleet as fleet_charts
from .charts import trend as trend_charts

_TEMPLATES = pathlib.Path(__file__).resolve().parent / "templates"
_MOST_SHOWN = 12  # charts of a section that are open; the rest waits behind a click
_NO_CASES = "No case of these files has numbers that could be drawn."
_NO_EVENTS = "This timeline has no events."
_NOTHING_EMBEDDED = {"files": [], "keys": [], "cases": {}, "left_out": ""}


class Section:
    """A heading, the template of what stands below it with what that shows, and charts."""

    def __init__(self, title, template, charts=(), **shown):
        self.title, self.template, self.charts, self.shown = title, f"{template}.html", list(charts), shown


def sections(sides, timelines, compared=()):
    """All but the answer, which stands above them."""
    drawn, runs = [side.run for side in sides], [run for side in sides for run in side.runs]
    if compared:
        yield comparison_section(sides[0], compared)
    for scenario in dict.fromkeys(name for run in drawn for name in run.scenarios()):
        yield scenario_section(scenario, drawn)
    for one in timelines:
        charts = timeline.charts(one)
        yield Section(f"Timeline {one.label}", "scenario", charts, findings=[], nothing=_NO_EVENTS, cases=None)
    missing = tables.not_measured(runs)
    if missing["failed"] or missing["skipped"]:
        yield Section("Skipped and failed", "not_measured", **missing)
    yield Section("Warnings and flags", "warnings", **tables.warnings(runs))


def scenario_section(scenario, runs):
    charts = catalogue.of_scenario(scenario, runs)
    found = tables.cases(scenario, runs)
    findings = tables.findings(scenario, runs)
    return Section(f"Scenario {scenario}", "scenario", charts, findings=findings, nothing=_NO_CASES, cases=found)


def comparison_section(base, compared):
    shown = [(one, tables.compared(one, base)) for one in compared]
    mixed = len({one.side.run.simulated for one in compared} | {base.run.simulated}) > 1
    charts = comparison_charts.charts(base, compared)
    return Section("Comparison", "comparison", charts, base=base, mixed=mixed, found=shown)


def answer(sides, timelines, compared=()):
    """What the first screen says: what was asked, what became of it, the numbers asked for first, and what is wrong."""
    runs = [run for side in sides for run in side.runs]
    statuses = [case.status for run in runs for case in run.cases]
    base = sides[0].run if sides else None
    found = [one for name in base.scenarios() for one in catalogue.headlines(name, base)] if base else []
    skipped = tables.not_measured(runs)["skipped"]
    return {
        "asked": list(dict.fromkeys((side.run.short_label, tables.asked(side.runs[0])) for side in sides)),
        "counts": [statuses.count(status) for status in ("ok", "failed", "skipped")],
        "verified": bool(runs) and all(run.record.get("verified") is True for run in runs),
        "reasons": len({(row[1], row[3]) for row in skipped}),
        "compared": list(compared),
        "alarms": tables.alarms(runs),
        "headlines": tables.headlines(found, sides[:4]),
        "sides": sides[:4],
        "machine": "; ".join(dict.fromkeys(map(tables.machine_of, [*runs, *timelines]))),
        "begun": " and ".join(dict.fromkeys(side.run.record["started_at"].partition("T")[0] for side in sides)),
        "environments": tables.environments(runs, timelines),
    }


@functools.cache
def environment():
    """Whatever a template prints is one line that can be encoded, and escaped unless it is markup."""
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda value: value if hasattr(value, "__html__") else text.plain(value),
    )
    # A long name, as keys are, may break at its slashes.
    found.filters["breakable"] = lambda name: Markup("/<wbr>").join(text.plain(name).split("/"))
    found.filters["plural"] = text.plural
    found.filters["percent"] = text.percent
    found.filters["change"] = text.change
    found.tests["alarming"] = lambda value: isinstance(value, tables.Alarm)
    return found


def render(sides, timelines, title):
    """The whole page. The same files make the same page, whenever and wherever it is made."""
    runs = [run for side in sides for run in side.runs]
    if runs and runs[0].ranks:
        return render_fleet(runs[0], timelines, title)
    compared = [comparison.compare(sides[0], side) for side in sides[1:]]
    return document(
        title or default_title(runs, timelines),
        banner(runs, timelines),
        list(sections(sides, timelines, compared)),
        samples.embedded(sides),
        ("answer", answer(sides, timelines, compared)),
    )


def render_fleet(run, timelines, title):
    """A page of the ranks of mpirun or srun: thousands of them fit, so their samples are not in it."""
    shown = fleet.Fleet(run)
    found = [
        Section("Tests", "tests", fleet_charts.charts(shown), found=fleet.tests_table(shown)),
        Section("Ranks", "ranks", found=fleet.ranks_table(shown)),
    ]
    found += [section for section in sections([], timelines) if section.template == "scenario.html"]
    missing = tables.not_measured([run])
    if missing["failed"] or missing["skipped"]:
        found.append(Section("Skipped and failed", "not_measured", **missing))
    found.append(Section("Warnings and flags", "warnings", **tables.warnings([run])))
    first = ("fleet", fleet.answer(shown))
    return document(title or default_title([run], timelines), banner([run], timelines), found, first=first)


def render_explanation(explained, title):
    """A page of what the transfers of a program cost it."""
    shown = [
        Section(
            process.name,
            "explained",
            explain_charts.charts(process),
            process=process,
            findings=explanation.findings(process),
            together=explanation.together(process),
            asked_for=explanation.asked_for(process),
            watched=explanation.watched(process),
            traffic=explanation.traffic_table(process),
        )
        for process in explained.processes
    ]
    gpus = f" on {' and '.join(explained.gpus)}" if explained.gpus else ""
    return document(
        title or f"xferbench explain: {explained.command or explained.label}{gpus}",
        simulated_line([explained]),
        shown,
        first=("explanation", explanation.answer(explained)),
    )


def render_trend(sides, title):
    """A page of how the numbers of one machine went, over files in order of time."""
    runs = [side.run for side in sides]
    series = trend_charts.series_of(runs)
    charts, left_out = trend_charts.charts(series)
    every = [run for side in sides for run in side.runs]
    shown = tables.trend_answer(series, runs) | {"left_out": left_out}
    return document(
        title or f"xferbench: trend of {text.plural(len(runs), 'run')} on {runs[0].gpu}",
        banner(every, []),
        [Section("Every case over time", "scenario", charts, findings=[], nothing=_NO_CASES, cases=None)],
        _NOTHING_EMBEDDED,
        ("trend", shown | {"alarms": tables.alarms(every), "environments": tables.environments(runs[-1:], [])}),
    )


def document(title, alarm, shown, embedded=None, first=None):
    """`first` names the template of the first screen and holds what that shows."""
    embedded, figures = embedded or _NOTHING_EMBEDDED, {}
    for number, section in enumerate(shown, 1):
        section.place = f"section-{number}"
        widen_lonely(section.charts[:_MOST_SHOWN])
        for place, chart in enumerate(section.charts, 1):
            chart.place = f"{section.place}-chart-{place}"
            figures[chart.place] = chart.figure()
    # Only the two scripts with these hashes may run, and nothing may be fetched: the browser sees to it.
    scripts = [plotly_source(), (_TEMPLATES / "page.js").read_text(encoding="utf-8")]
    template = environment().get_template("page.html")
    return template.render(
        title=title,
        banner=alarm,
        sections=shown,
        most_shown=_MOST_SHOWN,
        first_template=f"{first[0]}.html" if first else None,
        first=first[1] if first else None,
        figures=Markup(text.script_json(figures)),
        samples=Markup(text.script_json(embedded)),
        number_of={key: place for place, key in enumerate(embedded["keys"])},
        hashes=Markup(" ".join(f"'sha256-{hash_of(script)}'" for script in scripts)),
        scripts=list(map(Markup, scripts)),
    )


def widen_lonely(charts):
    """A narrow chart without another beside it takes the whole width."""
    alone = None
    for chart in [*charts, None]:
        if chart is not None and chart.narrow:
            alone = chart if alone is None else None
        elif alone is not None:
            alone.narrow, alone = False, None


def default_title(runs, timelines):
    gpus = list(dict.fromkeys([run.gpu for run in runs] + [one.other.get("gpu", "") for one in timelines]))
    scenarios = list(dict.fromkeys(name for run in runs for name in run.scenarios()))
    return f"xferbench: {', '.join(scenarios) or 'timeline' if timelines or scenarios else 'no results'}" + (
        f" on {' and '.join(gpu for gpu in gpus if gpu)}" if any(gpus) else ""
    )


def banner(runs, timelines):
    """Empty exactly where nothing is simulated, all was verified, and no device was given a fault."""
    lines = [simulated_line([*runs, *timelines]), not_verified_line(runs)]
    faults = dict.fromkeys(run.fault for run in runs if run.fault)
    return ". ".join(line for line in [*lines, *(f"FAULT INJECTED: {fault}; not a measurement" for fault in faults)] if line)


def simulated_line(shown):
    marks = list(dict.fromkeys(one.marks[0] for one in shown if one.simulated))
    if not marks:
        return ""
    every = all(one.simulated for one in shown)
    what = "all numbers on this page are modelled, not measured" if every else "some numbers on this page are modelled"
    return f"{'; '.join(marks)}: {what}"


def not_verified_line(runs):
    if all(run.verified for run in runs):
        return ""
    which = "these results" if not any(run.verified for run in runs) else "some of these results"
    return f"NOT VERIFIED: {which} were measured with --no-verify; nobody looked whether data is right"


@functools.cache
def plotly_source():
    """The script that draws charts, as it can stand inside <script>."""
    source = vendor.source(vendor.PLOTLY).replace("\r", "")  # which the browser would drop: another text, another hash
    return source.replace("</script", "<\\/script").replace("<!--", "<\\!--")


@functools.cache
def hash_of(script):
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")

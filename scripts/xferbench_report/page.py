"""The page: one HTML file that holds everything it needs, and may fetch and run nothing else.

Its HTML is in templates/, where every name is escaped by Jinja.
"""

import base64
import hashlib
import pathlib

import jinja2
from markupsafe import Markup

from . import comparison, tables, text
from .charts import catalogue, timeline
from .charts import comparison as comparison_charts

_TEMPLATES = pathlib.Path(__file__).resolve().parent / "templates"
_MOST_SHOWN = 12  # charts of a section that are open; the rest waits behind a click
_NO_CASES = "No case of these files has numbers that could be drawn."
_NO_EVENTS = "This timeline has no events."


class Section:
    """A heading, the template of what stands below it with what that shows, and charts."""

    def __init__(self, title, template, charts=(), **shown):
        self.title, self.template, self.charts, self.shown = title, f"{template}.html", list(charts), shown


def sections(runs, timelines):
    yield Section("Files", "files", **tables.environments(runs, timelines))
    if len(runs) > 1:
        yield compared(runs)
    for scenario in dict.fromkeys(name for run in runs for name in run.scenarios()):
        charts = catalogue.of_scenario(scenario, runs)
        findings = tables.findings(scenario, runs)
        yield Section(f"Scenario {scenario}", "scenario", charts, findings=findings, nothing=_NO_CASES)
    for one in timelines:
        yield Section(f"Timeline {one.label}", "scenario", timeline.charts(one), findings=[], nothing=_NO_EVENTS)
    yield Section("Skipped and failed", "not_measured", rows=tables.not_measured(runs))
    yield Section("Warnings and flags", "warnings", **tables.warnings(runs))
    if runs:
        yield Section("All cases", "cases", tables=[(run, tables.cases(run)) for run in runs])


def compared(runs):
    found = [comparison.compare(runs[0], run) for run in runs[1:]]
    shown = [(one, tables.compared(one, runs[0])) for one in found]
    mixed = len({run.simulated for run in runs}) > 1
    charts = comparison_charts.charts(runs[0], found)
    return Section("Comparison", "comparison", charts, base=runs[0], mixed=mixed, found=shown)


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
    found.tests["alarming"] = lambda value: isinstance(value, tables.Alarm)
    return found


def render(runs, timelines, title):
    """The whole page. The same files make the same page, whenever and wherever it is made."""
    heading = title or default_title(runs, timelines)
    return document(heading, banner(runs, timelines), list(sections(runs, timelines)))


def document(title, alarm, shown):
    figures = {}
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
        figures=Markup(text.script_json(figures)),
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
    """Empty exactly where nothing is simulated and all was verified."""
    return ". ".join(line for line in (simulated_line([*runs, *timelines]), not_verified_line(runs)) if line)


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


def plotly_source():
    """Plotly's own script as the Python package brings it along."""
    from plotly.offline import get_plotlyjs

    source = get_plotlyjs().replace("\r", "")  # which the browser would drop, and the hash would be of another text
    return source.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def hash_of(script):
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")

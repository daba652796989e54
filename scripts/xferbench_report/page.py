"""The page: one HTML file that holds everything it needs, and may fetch and run nothing else."""

import base64
import hashlib
import pathlib

from . import tables, text
from .charts import catalogue, comparison, timeline

_FOLDER = pathlib.Path(__file__).resolve().parent
_MOST_SHOWN = 12  # charts of a section that are open; the rest waits behind a click
NO_CASES = "No case of these files has numbers that could be drawn."


class Section:
    """A heading, what stands below it as HTML, and charts."""

    def __init__(self, title, before="", charts=(), after=""):
        self.title, self.before, self.charts, self.after = title, before, list(charts), after


def sections(runs, timelines):
    yield Section("Files", tables.environments(runs, timelines))
    if len(runs) > 1:
        yield compared(runs)
    for scenario in dict.fromkeys(name for run in runs for name in run.scenarios()):
        charts = catalogue.of_scenario(scenario, runs)
        before = "" if charts else f"<p>{text.html(NO_CASES)}</p>"
        yield Section(f"Scenario {scenario}", before, charts, tables.findings(scenario, runs))
    for one in timelines:
        charts = timeline.charts(one)
        before = "" if charts else "<p>This timeline has no events.</p>"
        yield Section(f"Timeline {one.label}", before, charts)
    yield Section("Skipped and failed", tables.not_measured(runs))
    yield Section("Warnings and flags", tables.warnings(runs))
    if runs:
        yield Section("All cases", tables.cases(runs))


def compared(runs):
    found = [(run, comparison.pairs(runs[0], run)) for run in runs[1:]]
    lines = [
        f"<li><bdi>{text.html(run.label)}</bdi>: {text.html(comparison.summary(pairs))}</li>"
        if pairs
        else f"<li><bdi>{text.html(run.label)}</bdi>: no case in common</li>"
        for run, pairs in found
    ]
    mixed = len({run.simulated for run in runs}) > 1
    warning = '<p class="mark">Some of these files are simulated and some are not: their ratios mean little.</p>'
    head = f"<p>{text.html(comparison.EXPLANATION)}</p><p>The first file is <bdi>{text.html(runs[0].label)}</bdi>.</p>"
    before = head + (warning if mixed else "") + f"<ul>{''.join(lines)}</ul>"
    return Section("Comparison", before, comparison.charts(runs) if any(pairs for _, pairs in found) else ())


def render(runs, timelines, title):
    """The whole page. The same files make the same page, whenever and wherever it is made."""
    figures, body, contents = {}, [], []
    for number, section in enumerate(sections(runs, timelines), 1):
        place = f"section-{number}"
        links, html = section_html(section, place, figures)
        contents.append(f'<li><a href="#{place}"><bdi>{text.html(section.title)}</bdi></a>{links}</li>')
        body.append(html)
    heading = title or default_title(runs, timelines)
    return document(heading, banner(runs, timelines), contents, body, figures)


def widen_lonely(charts):
    """A narrow chart without another beside it takes the whole width."""
    alone = None
    for chart in [*charts, None]:
        if chart is not None and chart.narrow:
            alone = chart if alone is None else None
        elif alone is not None:
            alone.narrow, alone = False, None


def section_html(section, place, figures):
    widen_lonely(section.charts[:_MOST_SHOWN])
    drawn, links = [], []
    for number, chart in enumerate(section.charts, 1):
        name = f"{place}-chart-{number}"
        figures[name] = chart.figure()
        drawn.append(chart_html(chart, name))
        if len(section.charts) <= _MOST_SHOWN:
            shown = text.html(chart.title).replace("/", "/<wbr>")
            links.append(f'<li><a href="#{name}-title"><bdi>{shown}</bdi></a></li>')
    shown, hidden = drawn[:_MOST_SHOWN], drawn[_MOST_SHOWN:]
    html = f'<section id="{place}"><h2><bdi>{text.html(section.title)}</bdi></h2>{section.before}'
    if shown:
        html += f'<div class="charts">{"".join(shown)}</div>'
    if hidden:
        html += (
            f"<details><summary>{text.plural(len(hidden), 'further chart')}</summary>"
            f'<div class="charts">{"".join(hidden)}</div></details>'
        )
    return (f"<ul>{''.join(links)}</ul>" if links else ""), html + section.after + "</section>\n"


def chart_html(chart, name):
    marks = "".join(f' <span class="mark">{text.html(mark)}</span>' for mark in chart.marks())
    note = f'<p class="note">{text.html(chart.note)}</p>' if chart.note else ""
    return (
        f'<figure{" class=narrow" if chart.narrow else ""}><h3 id="{name}-title"><bdi>{text.html(chart.title)}</bdi>'
        f'{marks}</h3><div class="chart" id="{name}"></div>{note}</figure>\n'
    )


def default_title(runs, timelines):
    gpus = list(dict.fromkeys([run.gpu for run in runs] + [one.other.get("gpu", "") for one in timelines]))
    scenarios = list(dict.fromkeys(name for run in runs for name in run.scenarios()))
    return f"xferbench: {', '.join(scenarios) or 'timeline' if timelines or scenarios else 'no results'}" + (
        f" on {' and '.join(gpu for gpu in gpus if gpu)}" if any(gpus) else ""
    )


def banner(runs, timelines):
    """Empty exactly where nothing is simulated."""
    marks = list(dict.fromkeys(one.mark for one in [*runs, *timelines] if one.mark))
    if not marks:
        return ""
    every = all(one.simulated for one in [*runs, *timelines])
    what = "all numbers on this page are modelled, not measured" if every else "some numbers on this page are modelled"
    return f'<div class="banner" role="alert">{text.html("; ".join(marks))}: {what}</div>\n'


def plotly_source():
    """Plotly's own script as the Python package brings it along."""
    from plotly.offline import get_plotlyjs

    source = get_plotlyjs().replace("\r", "")  # which the browser would drop, and the hash would be of another text
    return source.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def hash_of(script):
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


def document(title, banner_html, contents, body, figures):
    """Only the two scripts with these hashes may run, and nothing may be fetched: the browser sees to it."""
    scripts = [plotly_source(), (_FOLDER / "page.js").read_text(encoding="utf-8")]
    hashes = " ".join(f"'sha256-{hash_of(script)}'" for script in scripts)
    policy = f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:"
    style = (_FOLDER / "page.css").read_text(encoding="utf-8")
    return "".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f'<link rel="icon" href="data:,">\n<title>{text.html(title)}</title>\n',
            f"<style>\n{style}</style>\n</head>\n<body>\n",
            banner_html,
            f'<div class="frame">\n<nav aria-label="Contents"><ul>{"".join(contents)}</ul></nav>\n',
            f"<main>\n<h1><bdi>{text.html(title)}</bdi></h1>\n",
            "<noscript><p class=mark>The charts need JavaScript; the tables do not.</p></noscript>\n",
            *body,
            "</main>\n</div>\n",
            f'<script type="application/json" id="figures">{text.script_json(figures)}</script>\n',
            *(f"<script>{script}</script>\n" for script in scripts),
            "</body>\n</html>\n",
        ]
    )

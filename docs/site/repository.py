"""What the site takes from the repository as it is: its navigation from docs/README.md, and what links lead to that is
no page. So nobody lists a page twice, and a link that works on a code host works on the site."""

import html
import os
import pathlib
import posixpath
import re

from docutils import nodes
from pygments.formatters import HtmlFormatter
from sphinx.util.osutil import relative_uri

OVERVIEW = "docs/README"
HOME = '<!doctype html><meta charset="utf-8"><title>xferbench</title><meta http-equiv="refresh" content="0; url={0}">' \
       '<a href="{0}">xferbench</a>\n'


def sections(overview):
    """Of each heading of that page, the pages that its tables and lists link to, in their order."""
    found = {}
    for part in re.split(r"^## ", overview, flags=re.MULTILINE)[1:]:
        heading, _, text = part.partition("\n")
        rows = "\n".join(line for line in text.splitlines() if line.startswith(("| ", "- ", "1. ")))
        found[heading] = re.findall(r"\]\(([^)\s#]+)\.md\)", rows)
    return found


def title_of(page):
    """Of its first heading, what stands before a colon: the rest explains, and a navigation has no room."""
    heading = re.search(r"^# (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return heading[1].partition(":")[0].replace("`", "")


def navigation(root):
    """A hidden table of contents for each section of the overview."""
    overview = (root / f"{OVERVIEW}.md").read_text(encoding="utf-8")
    listed = {OVERVIEW}
    text = "\n\n```{toctree}\n:hidden:\n\nAll pages </" + OVERVIEW + ">\n```\n"
    for heading, links in sections(overview).items():
        pages = dict.fromkeys(posixpath.normpath(posixpath.join("docs", link)) for link in links)
        entries = [f"{title_of(root / f'{page}.md')} </{page}>\n" for page in pages if page not in listed]
        listed.update(pages)
        text += "\n```{toctree}\n:hidden:\n:caption: " + heading + "\n\n" + "".join(entries) + "```\n"
    return text


def add_navigation(app, name, source):
    if name == app.config.root_doc:
        source[0] += navigation(pathlib.Path(app.srcdir))


def downloaded(app, path, from_page):
    """The address of a copy of this file, relative to a page; the builder copies it at the end."""
    place = app.env.dlfiles.add_file(from_page, path)
    return relative_uri(app.builder.get_target_uri(from_page), f"_downloads/{place}")


def resolve(app, env, node, content):
    """A link to a folder, or to a page that the site does not have. Whatever else is missing stays missing."""
    page = node["refdoc"]
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), node["reftarget"]))
    there = pathlib.Path(app.srcdir, path)
    if path.startswith("..") or not there.exists():
        return None
    if there.is_file():
        address = downloaded(app, path, page)
    elif f"{path}/README" in env.all_docs:
        address = app.builder.get_relative_uri(page, f"{path}/README")
    else:
        app.listed_folders.add(path)
        address = relative_uri(app.builder.get_target_uri(page), f"{path}/index.html")
    return nodes.reference("", "", content, internal=True, refuri=address)


def list_folders(app):
    """A page for each folder that is linked to and has none: its files, to be had."""
    for folder in sorted(app.listed_folders):
        name, entries = f"{folder}/index", ""
        for entry in sorted(os.scandir(pathlib.Path(app.srcdir, folder)), key=lambda one: one.name):
            if entry.is_file():
                address = downloaded(app, f"{folder}/{entry.name}", name)
                entries += f'<li><a href="{html.escape(address)}" download>{html.escape(entry.name)}</a></li>'
        title = f"Folder {html.escape(folder)}"
        yield name, {"title": title, "body": f"<h1>{title}</h1><ul>{entries}</ul>"}, "page.html"


def finish(app, failed):
    """What a web server shows first, and the colours of code in the dark."""
    if failed:
        return
    site = pathlib.Path(app.outdir)
    (site / "index.html").write_text(HOME.format(app.builder.get_target_uri(app.config.root_doc)), encoding="utf-8")
    colours = HtmlFormatter(style="monokai", nobackground=True).get_style_defs(".highlight")
    (site / "_static" / "pygments-dark.css").write_text(f"{colours}\n", encoding="utf-8")


def setup(app):
    app.listed_folders = set()
    app.connect("source-read", add_navigation)
    app.connect("missing-reference", resolve)
    app.connect("html-collect-pages", list_folders)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": False, "parallel_write_safe": False}

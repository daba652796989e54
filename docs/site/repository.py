"""What the site takes from the repository as it is: its navigation from docs/README.md, and what links lead to that is
no page. So nobody lists a page twice, and a link that works on a code host works on the site."""

import html
import os
import pathlib
import posixpath
import re

from docutils import nodes
from pygments.formatters import HtmlFormatter
from sphinx import addnodes
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
        there = [page for page in pages if page not in listed and (root / f"{page}.md").is_file()]
        entries = [f"{title_of(root / f'{page}.md')} </{page}>\n" for page in there]
        listed.update(pages)
        text += "\n```{toctree}\n:hidden:\n:caption: " + heading + "\n\n" + "".join(entries) + "```\n"
    return text


def add_navigation(app, name, source):
    if name == app.config.root_doc:
        source[0] += navigation(pathlib.Path(app.srcdir))


def copied(app, path, for_page):
    """Where the builder will put a copy of this file."""
    return f"_downloads/{app.env.dlfiles.add_file(for_page, path)}"


def path_of(node):
    """Where a link leads that MyST takes for one to a page, from the root; newer versions give a page by its name."""
    if node.get("refdomain") == "doc":
        return f"{node['reftarget']}.md"
    return posixpath.normpath(posixpath.join(posixpath.dirname(node["refdoc"]), node["reftarget"]))


def address_of(app, path, from_page):
    """Of what is no page of the site: a copy of a file, the page of a folder, or the list of its files."""
    there = pathlib.Path(app.srcdir, path)
    if path.startswith("..") or not there.exists() or path.removesuffix(".md") in app.env.found_docs:
        return None
    here = app.builder.get_target_uri(from_page)
    if there.is_file():
        return relative_uri(here, copied(app, path, from_page))
    if f"{path}/README" in app.env.found_docs:
        return app.builder.get_relative_uri(from_page, f"{path}/README")
    files = sorted(entry.name for entry in os.scandir(there) if entry.is_file())
    app.listed_folders[path] = [(name, copied(app, f"{path}/{name}", from_page)) for name in files]
    return relative_uri(here, f"{path}/index.html")


def resolve(app, doctree):
    """Links to folders, and to pages that the site does not have. Whatever else is missing stays missing."""
    for node in list(doctree.findall(addnodes.pending_xref)):
        if node["reftype"] == "myst" and not node["reftarget"].startswith("#"):
            if address := address_of(app, path_of(node), app.env.docname):
                node.replace_self(nodes.reference("", "", *node.children, internal=True, refuri=address))


def list_folders(app):
    """A page for each folder that is linked to and has none: its files, to be had."""
    for folder, files in app.listed_folders.items():
        here, entries = f"{folder}/index", ""
        for name, place in files:
            address = relative_uri(f"{here}.html", place)
            entries += f'<li><a href="{html.escape(address)}" download>{html.escape(name)}</a></li>'
        title = f"Folder {html.escape(folder)}"
        yield here, {"title": title, "body": f"<h1>{title}</h1><ul>{entries}</ul>"}, "page.html"


def finish(app, failed):
    """What a web server shows first, and the colours of code in the dark."""
    if failed:
        return
    site = pathlib.Path(app.outdir)
    (site / "index.html").write_text(HOME.format(app.builder.get_target_uri(app.config.root_doc)), encoding="utf-8")
    colours = HtmlFormatter(style="github-dark", nobackground=True).get_style_defs(".highlight")
    (site / "_static" / "pygments-dark.css").write_text(f"{colours}\n", encoding="utf-8")


def setup(app):
    app.listed_folders = {}
    app.connect("source-read", add_navigation)
    app.connect("doctree-read", resolve)
    app.connect("html-collect-pages", list_folders)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": False, "parallel_write_safe": False}

"""Whether every link of a built site leads somewhere, and whether it needs nothing from elsewhere to be shown."""

import html.parser
import pathlib
import re
import urllib.parse

# What fetches by itself; a link that somebody clicks may lead outside.
_LOADED = {"img", "script", "link", "source", "iframe", "audio", "video", "embed", "object"}
_OF_CSS = re.compile(r"""url\(\s*['"]?([^'")]+)|@import\s+['"]([^'"]+)""")


class Page(html.parser.HTMLParser):
    """The addresses that a page names, and the places in it that can be named."""

    def __init__(self, text):
        super().__init__()
        self.links, self.places, self.twice = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if given.get("id"):
            (self.twice.append if given["id"] in self.places else self.places.add)(given["id"])
        if tag == "a" and given.get("name"):
            self.places.add(given["name"])
        addresses = [given.get("href"), given.get("src"), given.get("data")]
        addresses += [one.split()[0] for one in (given.get("srcset") or "").split(",") if one.strip()]
        if given.get("http-equiv") == "refresh":
            addresses += re.findall(r"url=(\S+)", given.get("content") or "")
        self.links += [(tag in _LOADED, address) for address in addresses if address is not None]


def read(site):
    return {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


def trouble(site, page, loads, address, pages):
    """What is wrong with an address of a page; empty if nothing is."""
    parts = urllib.parse.urlsplit(address)
    if parts.scheme in ("http", "https") or address.startswith("//"):
        return "is fetched from elsewhere" if loads else ""
    if parts.scheme:
        return "" if parts.scheme in ("mailto", "data") else f"has the scheme {parts.scheme}"
    path = urllib.parse.unquote(parts.path)
    target = (page.parent / path).resolve() if path else page
    if not target.is_relative_to(site):
        return "leads out of the site"
    if not target.is_file():
        return "there is no such file"
    place = urllib.parse.unquote(parts.fragment)
    if place and target in pages and place not in pages[target].places:
        return "there is no such heading or place on that page"
    return ""


def fetched_by_styles(site):
    for path in sorted(site.rglob("*.css")):
        for found in _OF_CSS.findall(path.read_text(encoding="utf-8")):
            address = found[0] or found[1]
            if address.startswith(("http:", "https:", "//")):
                yield f"{path.relative_to(site)}: {address}: is fetched from elsewhere"
            elif not address.startswith(("data:", "#")) and not (path.parent / address.partition("?")[0]).exists():
                yield f"{path.relative_to(site)}: {address}: there is no such file"


def troubles(site):
    """A line for each link that is dead or leads out of the site, and for all that a page would fetch."""
    site = pathlib.Path(site).resolve()
    pages = read(site)
    found = list(fetched_by_styles(site))
    for page, content in pages.items():
        name = page.relative_to(site)
        for loads, address in dict.fromkeys(content.links):
            if said := trouble(site, page, loads, address, pages):
                found.append(f"{name}: {address}: {said}")
    return found

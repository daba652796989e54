#!/usr/bin/python3
"""Removes links whose targets are not installed from documentation pages: unlink_missing.py FOLDER

Pages link to sources, tests and settings of the repository, which packages leave out. Such a link is replaced by its
text. FOLDER contains the pages and everything else that is installed.
"""

import pathlib
import re
import sys

LINK = re.compile(r"(?<!!)\[((?:[^][]|\[[^][]*\])*)\]\(([^()\s]+)\)")


def leads_somewhere(page, target):
    place = target.partition("#")[0]
    return not place or re.match(r"[a-z]+:", place) is not None or (page.parent / place).exists()


def unlinked(page, text):
    """Replaces links with missing targets by their text."""
    return LINK.sub(lambda link: link[0] if leads_somewhere(page, link[2]) else link[1], text)


def main(folder):
    for page in sorted(pathlib.Path(folder).rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if (without := unlinked(page, text)) != text:
            page.write_text(without, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])

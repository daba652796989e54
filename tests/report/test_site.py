"""The site of scripts/docs: all links work, nothing is loaded from elsewhere, and the search finds pages."""

import functools
import http.server
import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

import support
from support import ROOT

sys.path.insert(0, str(ROOT / "docs" / "site"))

SKIPPED = 77  # CTest counts this exit code as skipped
PAGES = [
    *(path for path in (ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG")) if path.exists()),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "examples").rglob("*.md"),
]
DOCS = "docs"

# A small repository with every kind of broken link, next to correct ones.
SMALL = {
    "README.md": f"# Home\n\nSee [all]({DOCS}/README.md), [none]({DOCS}/none.md), [a file](LICENSE),"
    " [a folder](data).\n",
    "docs/README.md": "# All\n\n## First\n\n| [one.md](one.md) | a page |\n| [gone](gone.md) | none |\n\n## Second\n\n- [Home](../README.md)\n",
    f"{DOCS}/one.md": "# One: a page\n\n[here](#one-a-page), [nowhere](#two), [there](README.md#second),"
    " [not there](README.md#third)\n\n![a picture](none.png)\n",
    "LICENSE": "as you like\n",
    "data/numbers.txt": "1 2 3\n",
}


def make(root, output, *more):
    command = [str(root / "scripts" / "docs"), "-o", str(output), *more]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, stdin=subprocess.DEVNULL)


@functools.cache
def built():
    """The site of this repository, made once, and the output of making it."""
    holder = tempfile.TemporaryDirectory(prefix="xferbench-site-")
    site = pathlib.Path(holder.name, "site")
    return site, make(ROOT, site, "--check"), holder


class Whole(unittest.TestCase):
    def test_every_link_leads_somewhere_and_nothing_is_complained_of(self):
        site, outcome, _ = built()
        self.assertEqual((outcome.returncode, outcome.stdout), (0, ""), outcome.stderr)
        self.assertEqual(outcome.stderr, f"docs: the site is {site / 'index.html'}\n")

    def test_every_page_is_there_and_in_the_navigation(self):
        import links

        site, _, _ = built()
        home = (site / "README.html").resolve()
        listed = {address for _, address in links.read(site.resolve())[home].links}
        for page in PAGES:
            name = str(page.relative_to(ROOT).with_suffix(".html"))
            with self.subTest(page=name):
                self.assertTrue((site / name).is_file())
                self.assertTrue({name, "#"} & listed if name == "README.html" else name in listed)

    def test_is_small_enough_to_be_copied_about(self):
        size = sum(path.stat().st_size for path in built()[0].rglob("*") if path.is_file())
        self.assertLess(size, 20_000_000)


class Small(support.Folder):
    def setUp(self):
        super().setUp()
        self.root = self.folder / "repository"
        (self.root / "scripts").mkdir(parents=True)
        shutil.copy(ROOT / "scripts" / "docs", self.root / "scripts")
        ours = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "docs" / "site", self.root / "docs" / "site", ignore=ours)
        for name, text in SMALL.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self.site = self.folder / "site"

    def test_dead_links_are_named_and_fail_a_check(self):
        outcome = make(self.root, self.site, "--check")
        self.assertEqual(outcome.returncode, 1, outcome.stderr)
        for name in (f"{DOCS}/none.md", "gone.md", "#two", "README.md#third", "none.png"):
            self.assertIn(name, outcome.stderr)
        for name in ("LICENSE", "data", "one-a-page", "second"):
            self.assertNotIn(name, outcome.stderr)
        self.assertEqual(make(self.root, self.site).returncode, 0, "without --check it is only said")

    def test_what_is_no_page_is_copied(self):
        make(self.root, self.site)
        copies = [path for path in (self.site / "_downloads").rglob("*") if path.is_file()]
        found = {path.name: path.read_text(encoding="utf-8") for path in copies}
        self.assertEqual(found, {"LICENSE": "as you like\n", "numbers.txt": "1 2 3\n"})
        self.assertIn("numbers.txt", (self.site / "data" / "index.html").read_text(encoding="utf-8"))

    def test_only_a_site_is_replaced(self):
        self.site.mkdir()
        (self.site / "mine.txt").write_text("precious", encoding="utf-8")
        outcome = make(self.root, self.site)
        self.assertEqual(outcome.returncode, 2)
        self.assertIn("is not empty and not a site", outcome.stderr)
        self.assertEqual((self.site / "mine.txt").read_text(encoding="utf-8"), "precious")
        (self.site / "mine.txt").unlink()
        self.assertEqual(make(self.root, self.site).returncode, 0)
        (self.site / "docs" / "old.html").write_text("from before", encoding="utf-8")
        self.assertEqual(make(self.root, self.site).returncode, 0)
        self.assertFalse((self.site / "docs" / "old.html").exists())
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name.startswith(".docs-")], [])


class Links(support.Folder):
    """Checks of --check on HTML from any source."""

    def troubles(self, text, name="page.html"):
        import links

        self.write(name, text)
        return [line.rpartition(": ")[2] for line in links.troubles(self.folder)]

    def test_good_ones_are_no_trouble(self):
        self.write("other.html", '<h1 id="a b">x</h1>')
        good = '<a href="other.html#a%20b">x</a> <a href="#me" id="me">x</a> <a href="https://example.com/">x</a>'
        self.assertEqual(self.troubles(good + '<a href="mailto:a@b.c">x</a><img src="data:image/png;base64,AAAA">'), [])

    def test_each_kind_of_trouble(self):
        for text, trouble in (
            ('<a href="none.html">x</a>', "there is no such file"),
            ('<img src="none.png">', "there is no such file"),
            ('<img srcset="none.png 2x">', "there is no such file"),
            ('<meta http-equiv="refresh" content="0; url=none.html">', "there is no such file"),
            ('<a href="#none">x</a>', "there is no such heading or place on that page"),
            ('<a href="page.html#none">x</a>', "there is no such heading or place on that page"),
            ('<a href="../">x</a>', "leads out of the site"),
            ('<a href="/page.html">x</a>', "leads out of the site"),
            ('<a href="javascript:alert(1)">x</a>', "has the scheme javascript"),
            ('<script src="https://example.com/x.js"></script>', "is fetched from elsewhere"),
            ('<link rel="stylesheet" href="//example.com/x.css">', "is fetched from elsewhere"),
        ):
            with self.subTest(text=text):
                self.assertEqual(self.troubles(text), [trouble])

    def test_styles_fetch_nothing(self):
        self.write("page.html", "")
        imports = '@import url("b.css"); @import "https://example.com/c.css";'
        self.write("a.css", f"{imports} a {{ background: url(none.png); }}")
        self.write("b.css", "a { background: url(data:image/png;base64,AAAA) }")
        self.assertEqual(self.troubles(""), ["is fetched from elsewhere", "there is no such file"])


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@unittest.skipUnless(support.BROWSER and support.DRIVER, "no chromium or chromedriver on PATH")
class Read(support.BrowserTest):
    """The site in a browser, from a folder and from a web server."""

    @classmethod
    def setUpClass(cls):
        cls.browser = support.start_browser(reach="127.0.0.1")
        cls.addClassCleanup(cls.browser.quit)

    site = property(lambda self: built()[0])

    def served(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(self.site)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_address[1]}"

    def find(self, selector):
        return self.browser.find_elements("css selector", selector)

    def wait_for(self, selector):
        """Waits until an element matches the selector."""
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.browser, 30).until(lambda _: self.find(selector))

    def search_for(self, words):
        field = self.find("header input[type=search]")[0]
        field.clear()
        field.click()
        self.press(*words, "\ue007")  # the Enter key
        self.wait_for("ul.search li a")
        self.wait_for("#search-results > h2")
        self.browser.execute_async_script(
            """const done = arguments[0];
               const over = () => /finished|found/i.test(document.querySelector('.search-summary').textContent)
                 ? done() : setTimeout(over, 50);
               over();"""
        )
        return [one.text for one in self.find("ul.search li > a")]

    def assert_nothing_was_complained_of(self):
        worst = [line["message"] for line in self.browser.get_log("browser") if line["level"] in ("SEVERE", "WARNING")]
        self.assertEqual([line for line in worst if "favicon.ico" not in line], [])

    def test_searching_in_a_folder(self):
        self.open(self.site / "docs" / "scenarios" / "memcpy.html")
        self.assertIn("memcpy", self.find("nav.pages a.current")[0].text)
        found = self.search_for("write-combined")
        self.assertIn("memcpy", found)
        self.find("ul.search li > a")[found.index("memcpy")].click()
        self.assertIn("docs/scenarios/memcpy.html", self.browser.current_url)
        self.assert_nothing_was_complained_of()

    def test_searching_on_a_server(self):
        base = self.served()
        for kind in ("browser", "performance"):
            self.browser.get_log(kind)
        self.browser.get(f"{base}/")
        self.wait_for("header input[type=search]")
        self.assertTrue(self.browser.current_url.endswith("README.html"))
        for words, page in (("pageable", "Moving bytes"), ("consumers", "callback"), ("cupti", "Timelines")):
            with self.subTest(words=words):
                found = self.search_for(words)
                self.assertTrue([one for one in found if one.startswith(page)], found)
        self.assertEqual([one for one in self.search_for("overlap") if not one], [])
        self.assert_nothing_was_complained_of()

    def test_nothing_fits_nobody(self):
        self.open(self.site / "README.html")
        field = self.find("header input[type=search]")[0]
        field.clear()
        field.click()
        self.press(*"xyzzyplugh", "\ue007")
        self.browser.execute_async_script(
            """const done = arguments[0];
               const over = () => /did not match/.test(document.body.textContent) ? done() : setTimeout(over, 50);
               over();"""
        )
        self.assertEqual(self.find("ul.search li"), [])

    def test_wide_things_scroll_by_themselves_and_the_dark_is_dark(self):
        pages = ("README", "docs/h200/onchip", "docs/results/README", "docs/scenarios/overlap")
        for width, dark in ((1360, False), (420, True)):
            self.emulate(width, 900, dark)
            for name in pages:
                with self.subTest(page=name, width=width):
                    self.open(self.site / f"{name}.html")
                    wide = self.run_js("const a = document.documentElement; return a.scrollWidth > a.clientWidth;")
                    self.assertFalse(wide)
                    ground = self.run_js("return getComputedStyle(document.body).backgroundColor;")
                    self.assertEqual(max(map(int, re.findall(r"\d+", ground))) < 80, dark, ground)

    LOOKED_AT = [("docs/tutorial/2-streams-and-chunks", False), ("search", True)]  # (page, dark mode)

    def test_everyone_can_read_it(self):
        for name, dark in self.LOOKED_AT:
            with self.subTest(page=name, dark=dark):
                self.emulate(1360, 900, dark)
                self.open(self.site / f"{name}.html")
                self.assertEqual(self.serious(), [])

    def test_all_pages_unfold_on_a_narrow_screen(self):
        self.emulate(420, 900)
        self.open(self.site / "README.html")
        self.assertFalse(self.find("nav.pages .list a")[0].is_displayed())
        self.find("nav.pages label")[0].click()
        self.assertTrue(self.find("nav.pages .list a")[0].is_displayed())


@unittest.skipUnless(support.BROWSER and support.DRIVER, "no chromium or chromedriver on PATH")
class ReadLong(support.BrowserTest):
    PAGES = ("README", "docs/tutorial/2-streams-and-chunks", "docs/h200/onchip", "search")
    LOOKED_AT = [(name, dark) for name in PAGES for dark in (False, True)]
    site, test_everyone_can_read_it = Read.site, Read.test_everyone_can_read_it


if __name__ == "__main__":
    if not all(map(importlib.util.find_spec, ("sphinx", "myst_parser"))):
        print("skipped: no Sphinx or MyST for this Python (scripts/setup --docs)")
        sys.exit(SKIPPED)
    support.main()

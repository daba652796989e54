"""HTML pages of the program in a real browser: accessible, and no injected script runs."""

import json
import statistics
import subprocess
import sys

import fleets
import support

RESULTS = support.ROOT / "docs" / "results"
HOSTILE = "<script>window.pwned=1</script><img src=x onerror=window.pwned=2>\"'>"


class OwnPages(support.BrowserTest):
    def page(self, *arguments):
        path = self.folder / "page.html"
        subprocess.run([support.PROGRAM, *map(str, arguments), "--html", path], check=True, capture_output=True)
        self.open(path)
        return path

    def fleet(self, nodes):
        path = self.folder / f"fleet-{nodes}.json"
        path.write_text(json.dumps(fleets.fleet(nodes)), encoding="utf-8")
        return path

    def hostile(self):
        """Results in which every name contains hostile text."""
        report = json.loads((support.RESULTS / "h200-ci.json").read_bytes())
        report["environment"]["gpu"]["name"] = HOSTILE
        report["environment"]["profile"] = HOSTILE
        report["environment"]["backend"] = "simulated"
        for result in report["results"]:
            result["warnings"] = [HOSTILE]
        path = self.folder / "hostile.json"
        path.write_text(json.dumps(report), encoding="utf-8")
        return path

    def nights(self):
        """Twelve nights of results, of which the last six are slower."""
        report = json.loads((support.RESULTS / "h200-latency.json").read_bytes())
        for number in range(12):
            report["started_at"] = f"2026-03-{number + 1:02}T03:00:00Z"
            for result in report["results"]:
                for one in result.get("measurements", []):
                    scale = 1.1 if number == 6 else 1
                    one["samples"] = [scale * value for value in one["samples"]]
                    one |= {name: scale * one[name] for name in ("min", "max", "p90", "p99") if name in one}
                    one["median"] = statistics.median(one["samples"])
            (self.folder / f"night-{number:02}.json").write_text(json.dumps(report), encoding="utf-8")
        return sorted(self.folder.glob("night-*.json"))

    def test_everyone_can_read_them(self):
        shown = {
            "run": ("report", RESULTS / "h200-ci.json.xz"),
            "compare": ("report", "--base", RESULTS / "h200-ci-repeat-1.json.xz", "--new", RESULTS / "h200-ci-repeat-2.json.xz"),
            "trend": ("report", "--trend", *self.nights()),
            "soak": ("report", RESULTS / "h200-soak-20m.jsonl.xz"),
            "matrix": ("p2p", "--simulate", "h200-x8", "--size", "1M"),
            "explanation": ("report", support.ROOT / "tests" / "unit" / "golden" / "explain" / "torch.json"),
            "timeline": ("report", support.ROOT / "docs" / "timelines" / "h200-overlap.json"),
            "fleet": ("report", self.fleet(nodes=3)),
            "large fleet": ("report", self.fleet(nodes=150)),
        }
        for name, arguments in shown.items():
            for dark, width in ((False, 1280), (True, 420)):
                with self.subTest(page=name, dark=dark):
                    self.emulate(width, 800, dark)
                    self.page(*arguments)
                    self.run_js("document.querySelectorAll('details').forEach((one) => { one.open = true; });")
                    self.assertLessEqual(self.run_js("return document.documentElement.scrollWidth;"), width)
                    self.assert_quiet()
                    self.assertEqual(self.serious(), [])

    def test_no_name_does_any_harm(self):
        self.page("report", self.hostile())
        self.assertIsNone(self.run_js("return window.pwned;"))
        self.assert_quiet()
        self.assertIn(HOSTILE, self.run_js("return document.querySelector('main').textContent;"))

    def test_long_tables_are_sorted_and_filtered(self):
        self.page("p2p", "--simulate", "h200-x8", "--size", "1M", "--dir", "write")
        column = "return [...document.querySelectorAll('.long tbody tr')].filter((row) => !row.hidden)" + \
                 ".map((row) => row.cells[1].textContent);"
        before = self.run_js(column)
        click = "document.querySelectorAll('.long th button')[1].click();"
        self.run_js(click)
        self.assertEqual(self.run_js(column), sorted(before, key=int))
        self.run_js(click)
        self.assertEqual(self.run_js(column), sorted(before, key=int, reverse=True))
        self.run_js("const box = document.querySelector('.filter input'); box.value = 'nothing has this';"
                    "box.dispatchEvent(new Event('input'));")
        self.assertEqual(self.run_js(column), [])
        self.assertEqual(self.run_js("return document.querySelector('.filter [role=status]').textContent;"),
                         f"0 of {len(before)} rows")


if __name__ == "__main__":
    if not (support.BROWSER and support.DRIVER):
        print("skipped: no chromium or chromedriver on PATH (on Debian: apt install chromium chromium-driver)")
        sys.exit(77)  # CTest counts this exit code as skipped
    support.require_program()
    support.main()

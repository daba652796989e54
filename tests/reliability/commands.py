"""Small commands on the simulated device, for which the promises are tested."""

import itertools
from typing import NamedTuple

SMALL = ("--simulate", "--min-samples", "2", "--max-samples", "2")
TINY = (*SMALL, "--progress", "plain")
IN_TURNS = ("--simulate", "--min-samples", "2", "--max-samples", "6", "--turns", "3")
SCENARIOS = {
    "overlap": ("--size", "64K", "--streams", "1,2", "--chunks", "4"),
    "memcpy": ("--size", "4K"),
    "p2p": (),
    "together": (),
    "multipath": ("--size", "4M"),
    "async": ("--size", "4K"),
    "latency": (),
    "alloc": (),
    "staging": ("--size", "64K", "--threads", "1,2", "--slot", "4K"),
    "scatter": ("--size", "64K", "--piece", "8K", "--way", "calls,batch,kernel,staged"),
    "callback": ("--size", "64K", "--chunks", "4", "--consumers", "2"),
    "smem": (),
    "dynpar": (),
}
# Some twenty cases of 10 ms each.
LONGER = ("--simulate", "--size", "1M", "--streams", "1:4:+1", "--chunks", "4:32", "--max-samples", "10")
# Thirty cases, more than a second in all.
SOME_CASES = (
    *("--simulate", "--size", "1M", "--streams", "1:6:+1", "--chunks", "2:32"),
    *("--ci", "0.001", "--min-samples", "150", "--max-samples", "150"),
)
# Thirty cases, half a second in all.
SMALL_CASES = (
    *("memcpy", "--dir", "h2d", "--host", "pinned", "--simulate", "--size", "1K:30K:+1K"),
    *("--ci", "0.001", "--min-samples", "100", "--max-samples", "100"),
)
# 96 cases of 100 ms each.
MANY_CASES = (
    *("--simulate", "--size", "1M", "--streams", "1:16:+1", "--chunks", "2:64"),
    *("--ci", "0.001", "--min-samples", "300", "--max-samples", "300"),
)
# Runs for minutes and updates its file many times per second.
ENDLESS = (
    *("--simulate", "--size", "1M", "--streams", "1:16:+1", "--chunks", "2:64", "--turns", "100"),
    *("--ci", "0.001", "--min-samples", "1000", "--max-samples", "1000", "--budget", "1000"),
)
SUITE = '{"schema": "xferbench-suite/1", "description": "For a test", "runs": ["memcpy --dir h2d --size 4K,64K"]}'


class Command(NamedTuple):
    """A command line; a name in braces stands for a file of make_files(), or for a file that the command writes."""

    name: str
    arguments: tuple
    writes: tuple = ()  # names of files
    needs_gpu: bool = False

    def filled(self, files):
        return [argument.format_map(files) for argument in self.arguments]


def make_files(setting, folder):
    """Makes the files that commands read. Returns {name: path}."""
    names = ("base", "new", "cut", "suite", "cut_turns")
    files = {name: str(folder / f"{name}.json") for name in names}
    fewer = ("--dir", "h2d") if setting.quick else ()
    for name in ("base", "new"):
        run = setting.run(
            "memcpy", "--simulate", "--size", "4K,64K", *fewer, "--max-samples", "12", "--json", files[name]
        )
        if run.code != 0:
            raise RuntimeError(f"a run for later comparisons ended with {run.code}: {run.err.decode()}")
    (folder / "suite.json").write_text(SUITE, encoding="utf-8")
    return files


def everything(setting):
    """All commands, all scenarios (in the quick form in one run), and their typical errors."""
    written = ("--json", "{out}/r.json", "--csv", "{out}/r.csv", "--markdown", "{out}/r.md")
    files = ("r.json", "r.csv", "r.md")
    found = [
        Command("run", (*setting.number(LONGER, LONGER, SMALL_CASES), "--progress", "plain", *written), files),
        Command("run, in turns", ("memcpy", "--size", "4K", *IN_TURNS, "--progress", "plain", *written), files),
        Command("run, no file", ("memcpy", "--size", "4K", *TINY)),
        Command("tune", ("tune", "overlap", "--size", "64K", *TINY, "--budget", "0.01", "--json", "{out}/r.json")),
        Command("compare", ("compare", "{base}", "{new}", "--allow-simulated", "--json", "{out}/c.json"), ("c.json",)),
        Command("check", ("check", "{base}", "--expect", "h200", "--allow-simulated")),
        Command("list", ("list",)),
        Command("list of one", ("list", "memcpy")),
        Command("info", ("info", "--simulate")),
        Command("help", ("help",)),
        Command("help of one", ("help", "tune")),
        Command("--help", ("--help",)),
        Command("version", ("version",)),
        Command("completion", ("completion", "bash")),
        Command("man", ("man",)),
        Command("dry run", ("memcpy", "--dry-run")),
        Command(
            "--repeat",
            ("memcpy", "--size", "4K", *TINY, "--repeat", "2", "--json", "{out}/p.json"),
            ("p-1.json", "p-2.json"),
        ),
        Command("--suite", ("--suite", "{suite}", *TINY, "--json", "{out}/r.json"), ("r.json",)),
        Command("--resume", ("--resume", "{out}/resumed.json", "--progress", "plain"), ("resumed.json",)),
        Command("--resume of a complete file", ("--resume", "{base}")),
        Command("wrong flag", ("memcpy", "--frobnicate")),
        Command("wrong value", ("memcpy", "--dir", "sideways")),
        Command("missing file", ("compare", "{out}/absent.json", "{base}")),
        Command("missing file to resume", ("--resume", "{out}/absent.json")),
        Command("missing folder", ("memcpy", *TINY, "--json", "{out}/no/such/folder.json")),
        Command("no such suite", ("--suite", "no-such-suite", "--simulate")),
        Command("no GPU", ("memcpy", "--size", "4K"), needs_gpu=True),
    ]
    by_scenario = {name: (name, *flags) for name, flags in SCENARIOS.items()}
    if setting.quick:
        by_scenario = {"all scenarios": itertools.chain(*by_scenario.values())}
    found += [Command(name, (*words, *TINY, *written), files) for name, words in by_scenario.items()]
    return found


def cut_off(results, cases=1):
    """A results file as an interrupted run leaves it, with its first `cases` cases."""
    return results | {"complete": False, "results": results["results"][:cases], "findings": []}

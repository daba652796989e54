"""What the programs of this folder share: their arguments, and the stretch that is measured.

Each time the stretch is measured a line says "steps: 12.345 ms". Exit codes: 0 all is well, 1 an error, or results that
are wrong, 2 wrong arguments.
"""

import argparse
import ctypes
import os
import sys
import time


def arguments(description, *versions):
    """--mended, and a flag for each other version that there is."""
    parser = argparse.ArgumentParser(description=description)
    group = parser.add_mutually_exclusive_group()
    for version in ("mended", *versions):
        group.add_argument(f"--{version}", action="store_true")
    parser.add_argument("--repeat", metavar="N", type=int, default=1, help="measure the stretch so often")
    return parser.parse_args()


class Ranges:
    """NVTX for libraries that have no interface of their own to it, by the library that is built beside the programs in
    CUDA. EXPLAIN_RANGES names it. Without it nothing is marked, which changes nothing else."""

    def __init__(self):
        path = os.environ.get("EXPLAIN_RANGES")
        self.library = ctypes.CDLL(path) if path else None
        if self.library is None:
            print("EXPLAIN_RANGES names no library: the stretch is not marked", file=sys.stderr)

    def push(self, name):
        if self.library is not None:
            self.library.push_range(name.encode())

    def pop(self):
        if self.library is not None:
            self.library.pop_range()


def measure(stretch, wait, push, pop, repeat):
    """Runs the stretch once to warm up, in which libraries load, compile and choose, and then measures it. Waits for
    the GPU before and behind it. Returns what it returned last."""
    result = stretch()
    for _ in range(repeat):
        wait()
        push("steps")
        begin = time.perf_counter()
        result = stretch()
        wait()
        end = time.perf_counter()
        pop()
        print(f"steps: {1e3 * (end - begin):.3f} ms", flush=True)
    return result


def finish(right):
    if not right:
        sys.exit("the results are wrong")

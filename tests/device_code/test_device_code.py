"""Device code of the kernels: each method's kernels use the instructions that the method is named for, and no kernel
spills registers. Reads the output of cmake/device_code.cmake; needs no GPU.

Usage: test_device_code.py FOLDER [unittest's arguments]. It also writes FOLDER/registers.csv.
"""

import re
import sys
import unittest
from pathlib import Path
from typing import NamedTuple

import reading
from reading import Function, Resources


class File(NamedTuple):
    name: str  # "smem_tma" for kernels/smem/smem_tma.cu
    functions: list[Function] = []
    resources: list[Resources] = []


class Rule(NamedTuple):
    """Instructions required or forbidden in the kernels of a file whose short names match."""

    file: str
    kernel: str  # regular expression for the whole short name
    has: tuple[str, ...] = ()  # see Function.has
    has_not: tuple[str, ...] = ()


# Forbidden in plain kernels. Kernels in a file without rules must be plain.
NOT_PLAIN = ("cp.async", "mbarrier", "cp.reduce.async", "st.async", "red.async")
CG = "cp.async.cg.shared.global"
CA = "cp.async.ca.shared.global"
BULK_LOAD = "cp.async.bulk.shared::cluster.global"
BULK_STORE = "cp.async.bulk.global.shared::cta"
TENSOR_LOAD = "cp.async.bulk.tensor.2d.shared::cluster.global"
TENSOR_STORE = "cp.async.bulk.tensor.2d.global.shared::cta"
TRY_WAIT = "mbarrier.try_wait"
# CUDA's libraries choose among these by the alignment that the code promises.
ANY_COPY = "cp.async.cg|cp.async.ca|cp.async.bulk"

# Every kernel in these files matches exactly one rule. The last argument of cp_async_kernel is the size of its copies.
RULES = [
    Rule("smem_plain", r"direct_kernel\b.*", (), NOT_PLAIN),
    Rule("smem_plain", r"sync_kernel\b.*", (), NOT_PLAIN),
    Rule("smem_plain", r"prefetch_kernel\b.*", (), NOT_PLAIN),
    Rule("smem_cp_async", r"cp_async_kernel<(.*, )?16u?>", (CG,), (CA, "cp.async.bulk", "mbarrier")),
    Rule("smem_cp_async", r"cp_async_kernel<(.*, )?8u?>", (CA,), (CG, "cp.async.bulk", "mbarrier")),
    Rule("smem_cp_async", r"cp_async_kernel<(.*, )?4u?>", (CA,), (CG, "cp.async.bulk", "mbarrier")),
    Rule("smem_library", r"pipeline_kernel\b.*", (ANY_COPY,), ("cp.async.bulk.tensor",)),
    Rule("smem_library", r"cg_kernel\b.*", (ANY_COPY,), ("cp.async.bulk.tensor",)),
    Rule("smem_bulk", r"bulk_kernel\b.*", (BULK_LOAD, BULK_STORE, TRY_WAIT), ("cp.async.bulk.tensor", CG, CA)),
    Rule("smem_tma", r"tma_kernel\b.*", (TENSOR_LOAD, TENSOR_STORE, TRY_WAIT), (BULK_LOAD, CG, CA)),
    Rule("smem_tma", r"specialized_kernel\b.*", (TENSOR_LOAD, TENSOR_STORE, TRY_WAIT), (BULK_LOAD, CG, CA)),
    Rule("pieces", r"copy_pieces", (), NOT_PLAIN),
    Rule("pieces", r"copy_pieces_bulk", (BULK_LOAD, BULK_STORE, TRY_WAIT), ("cp.async.bulk.tensor", CG, CA)),
    Rule("pieces", r"busy_(memory|fma)", (), NOT_PLAIN),
]


def violations(files, rules):
    """Violations of the rules, one sentence each."""
    found = []
    unused = set(rules)
    for file in files:
        own = [rule for rule in rules if rule.file == file.name]
        names = reading.short_names(function.name for function in file.functions)
        for function, name in zip(file.functions, names):
            who = f"{file.name}.cu: {name}"
            if own and not function.is_kernel:
                found.append(f"{who} is no kernel and was not inlined: whose instructions are these?")
                continue
            matching = [rule for rule in own if re.fullmatch(rule.kernel, name)]
            unused.difference_update(matching)
            if own and len(matching) != 1:
                found.append(f"{who} matches {len(matching)} rules instead of one")
            for rule in matching if own else [Rule(file.name, name, (), NOT_PLAIN)]:
                found += [f"{who} lacks {i}" for i in rule.has if not function.has(i)]
                found += [f"{who} has {i}" for i in rule.has_not if function.has(i)]
    return found + [f"{rule.file}.cu: no kernel matches {rule.kernel}" for rule in rules if rule in unused]


def spills(files):
    found = []
    for file in files:
        spilling = [r for r in file.resources if r.spill_stores + r.spill_loads > 0]
        for r, name in zip(spilling, reading.short_names(r.name for r in spilling)):
            found.append(f"{file.name}.cu: {name} spills {r.spill_stores} bytes, and loads {r.spill_loads} again")
    return found


class InstructionRules(unittest.TestCase):
    COPIES = Function("f", True, [CG, "ret"])
    PLAIN = Function("g", True, ["ret"])

    def expect(self, functions, rules, *expected, name="x"):
        self.assertEqual(violations([File(name, functions)], rules), list(expected))

    def test_name_what_is_there_and_should_not_be_and_the_other_way_round(self):
        both = [self.COPIES, self.PLAIN]
        self.expect(both, [Rule("x", "f", (CG,), (CA,)), Rule("x", "g", (), NOT_PLAIN)])
        self.expect(both, [Rule("x", "f", (CA,), (CG,)), Rule("x", "g")], f"x.cu: f lacks {CA}", f"x.cu: f has {CG}")
        self.expect([self.COPIES], [], "other.cu: f has cp.async", name="other")

    def test_concern_every_kernel_once_and_none_in_vain(self):
        f = Rule("x", "f")
        self.expect([self.COPIES], [f, Rule("x", "g")], "x.cu: no kernel matches g")
        sync = Function("sync_f", True)
        self.expect([self.COPIES, sync], [f], "x.cu: sync_f matches 0 rules instead of one")
        self.expect([self.COPIES], [f, Rule("x", ".*")], "x.cu: f matches 2 rules instead of one")
        inner = "x.cu: h is no kernel and was not inlined: whose instructions are these?"
        self.expect([self.COPIES, Function("h", False)], [Rule("x", ".*")], inner)
        self.assertEqual(violations([], [f]), ["x.cu: no kernel matches f"])

    def test_a_spill_is_named(self):
        kernel = Resources("_Z1fIfEvv", True, registers=255, stack=0)
        self.assertEqual(spills([File("x", [], [kernel])]), [])
        kernel.spill_stores = 8
        self.assertEqual(spills([File("x", [], [kernel])]), ["x.cu: f<float> spills 8 bytes, and loads 0 again"])


class DeviceCode(unittest.TestCase):
    folder: Path
    files: list[File]

    def test_kernels_consist_of_the_instructions_they_are_named_for(self):
        self.assertEqual(violations(self.files, RULES), [])

    def test_ptx_and_report_speak_of_the_same_kernels(self):
        """nvcc's PTX and the assembler's report are parsed separately; a kernel missing in one would go unchecked."""
        for file in self.files:
            written = sorted(f.name for f in file.functions if f.is_kernel)
            assembled = sorted(r.name for r in file.resources if r.is_kernel)
            self.assertEqual(written, assembled, file.name)
        self.assertTrue(any(file.functions for file in self.files))

    def test_no_kernel_spills(self):
        self.assertEqual(spills(self.files), [])

    def test_registers_are_recorded(self):
        """For scripts/registers and comparisons of compilers. Names are the last column, as they contain commas."""
        lines = []
        for file in self.files:
            kernels = [r for r in file.resources if r.is_kernel]
            for r, name in zip(kernels, reading.short_names(r.name for r in kernels)):
                numbers = (r.registers, r.barriers, r.shared, r.stack, r.spill_stores, r.spill_loads)
                lines.append(f'{file.name},{",".join(map(str, numbers))},"{name}"')
        self.assertTrue(lines)
        lines.sort(key=lambda line: (line.partition(",")[0], line.partition('"')[2]))
        lines.insert(0, "file,registers,barriers,shared_bytes,stack_bytes,spill_store_bytes,spill_load_bytes,kernel")
        (self.folder / "registers.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    DeviceCode.folder = Path(sys.argv[1])
    DeviceCode.files = [
        File(path.stem, reading.functions(path.with_suffix(".ptx").read_text()), reading.resources(path.read_text()))
        for path in sorted(DeviceCode.folder.glob("*.txt"))
    ]
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])

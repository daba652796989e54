"""Parses output of nvcc and ptxas: the functions of a PTX file, and the resources of each function."""

import re
import subprocess
from dataclasses import dataclass, field


@dataclass
class Function:
    name: str  # mangled
    is_kernel: bool
    opcodes: list[str] = field(default_factory=list)  # such as "cp.async.cg.shared.global"

    def has(self, instruction):
        """Whether an instruction begins with these whole parts: "cp.async" matches "cp.async.wait_all" but not
        "cp.asynchronous". '|' separates alternatives."""
        begin = re.compile("(?:" + "|".join(map(re.escape, instruction.split("|"))) + r")(?=\.|::|$)")
        return any(begin.match(opcode) for opcode in self.opcodes)


# Comments of nvcc contain names and remarks from the source.
_IGNORED = re.compile(r'//[^\n]*|/\*.*?\*/|"[^"]*"', re.DOTALL)
_HEADER = re.compile(r"\.(entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)\s*(?:\([^)]*\))?[^{};]*(?={)")
# An instruction follows the end of a statement, a brace or a label. Directives begin with a dot, operands with '%', '['
# or ','.
_INSTRUCTION = re.compile(r"[;{}:]\s*(?:@!?[%\w]+\s+)?([a-z][\w.:]*)")


def functions(ptx):
    """Returns the functions that the file defines, without mere declarations. Raises ValueError if the text is cut
    off."""
    code = _IGNORED.sub(" ", ptx)
    found = []
    for header in _HEADER.finditer(code):
        body = code[header.end() : _end_of_braces(code, header.end(), header[2])]
        found.append(Function(header[2], header[1] == "entry", _INSTRUCTION.findall(body)))
    return found


def _end_of_braces(code, begin, name):
    depth = 0
    for brace in re.compile("[{}]").finditer(code, begin):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end()
    raise ValueError(f"PTX ends inside of {name}")


@dataclass
class Resources:
    """Resources of one function, in bytes unless they are counts. None: not reported."""

    name: str  # mangled
    is_kernel: bool = False
    registers: int | None = None  # per thread; of kernels only
    barriers: int = 0  # per block: hardware barriers, as used by __syncthreads()
    shared: int = 0  # per block, static
    stack: int | None = None  # per thread: spilled registers and addressable arrays
    spill_stores: int = 0  # per thread
    spill_loads: int = 0  # per thread


_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")


def resources(report):
    """Parses the report of `ptxas --verbose`. Raises ValueError if a value is missing."""
    found = {}
    kernel = function = None  # the current ones
    for line in report.splitlines():
        if match := re.search(r"Compiling entry function '([^']+)'", line):
            kernel = found.setdefault(match[1], Resources(match[1]))
            kernel.is_kernel = True
        elif match := re.search(r"Function properties for (\S+)", line):
            function = found.setdefault(match[1], Resources(match[1]))
        elif (match := _STACK.search(line)) and function:
            function.stack, function.spill_stores, function.spill_loads = map(int, match.groups())
        elif (match := re.search(r"Used (\d+) registers", line)) and kernel:
            kernel.registers = int(match[1])
            kernel.barriers = _number_before("barriers", line)
            kernel.shared = _number_before("bytes smem", line)
        elif "bytes stack frame" in line or "registers" in line:
            raise ValueError(f"ptxas reported in an unknown form: {line}")
    for each in found.values():
        if each.stack is None or (each.is_kernel and each.registers is None):
            raise ValueError(f"ptxas's report of {each.name} is not complete")
    return list(found.values())


def _number_before(what, line):
    match = re.search(rf"(\d+) {what}", line)
    return int(match[1]) if match else 0


def short_names(symbols):
    """Demangles and drops return types, namespaces and parameters: "_ZN9xferbench1fIfLj4EEEvi" becomes "f<float,
    4u>"."""
    # In relocatable code, nvcc prefixes internal kernels with the name of their file.
    mangled = [re.sub(r"^__nv_static_\d+_.*?_(?=_Z)", "", symbol) for symbol in symbols]
    filtered = subprocess.run(["c++filt"], input="\n".join(mangled), capture_output=True, text=True, check=True)
    return [_short(name) for name in filtered.stdout.splitlines()]


def _short(demangled):
    name = re.sub(r"(\(anonymous namespace\)|\b[a-zA-Z_]\w*)::", "", demangled)
    return re.match(r"(?:\w+ )?(\w+(?:<.*>)?)(?:\(|$)", name)[1]

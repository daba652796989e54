"""Reads what nvcc and its assembler wrote: the functions of a PTX file, and what each takes of a multiprocessor."""

import re
import subprocess
from dataclasses import dataclass, field


@dataclass
class Function:
    name: str  # mangled
    is_kernel: bool
    opcodes: list[str] = field(default_factory=list)  # "cp.async.cg.shared.global": no predicates, no operands

    def has(self, instruction):
        """Whether an instruction begins with these parts: "cp.async" finds "cp.async.wait_all" but not
        "cp.asynchronous". Alternatives are separated by '|'."""
        begin = re.compile("(?:" + "|".join(map(re.escape, instruction.split("|"))) + r")(?=\.|::|$)")
        return any(begin.match(opcode) for opcode in self.opcodes)


# nvcc writes names and the source's own remarks in comments.
_IGNORED = re.compile(r'//[^\n]*|/\*.*?\*/|"[^"]*"', re.DOTALL)
_HEADER = re.compile(r"\.(entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)\s*(?:\([^)]*\))?[^{};]*(?={)")
# Behind the end of a statement, a brace or a label. Directives begin with a dot, operands with '%', '[' or ','.
_INSTRUCTION = re.compile(r"[;{}:]\s*(?:@!?[%\w]+\s+)?([a-z][\w.:]*)")


def functions(ptx):
    """Those that the file defines, not those that it declares. ValueError for text that ends too early."""
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
    """What the assembler spends on one function; bytes where not counts. None: the report does not say."""

    name: str  # mangled
    is_kernel: bool = False
    registers: int | None = None  # of each thread; a kernel's only
    barriers: int = 0  # of each block: hardware barriers as __syncthreads() uses
    shared: int = 0  # of each block, static
    stack: int | None = None  # of each thread: spilled registers, and arrays that have addresses
    spill_stores: int = 0  # of each thread
    spill_loads: int = 0  # of each thread


_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")


def resources(report):
    """What `ptxas --verbose` says of each function. ValueError if something is missing of one."""
    found = {}
    kernel = function = None  # that the lines are about
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
    """Without return types, namespaces and parameters: "_ZN9xferbench1fIfLj4EEEvi" is "f<float, 4u>"."""
    # Relocatable code gives internal kernels a prefix that names their file.
    mangled = [re.sub(r"^__nv_static_\d+_.*?_(?=_Z)", "", symbol) for symbol in symbols]
    filtered = subprocess.run(["c++filt"], input="\n".join(mangled), capture_output=True, text=True, check=True)
    return [_short(name) for name in filtered.stdout.splitlines()]


def _short(demangled):
    name = re.sub(r"(\(anonymous namespace\)|\b[a-zA-Z_]\w*)::", "", demangled)
    return re.match(r"(?:\w+ )?(\w+(?:<.*>)?)(?:\(|$)", name)[1]

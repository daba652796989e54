"""Sources follow CONTRIBUTING.md: functions fit on a screen."""

import ast
import re
import unittest

from support import ROOT

FOLDERS = ("src", "scenarios", "kernels", "scripts", "examples")
MOST_LINES = 60

# Text in which braces do not count: comments, string and character literals (not digit separators), directives.
NO_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<!\w)'(?:\\.|[^'\\\n])+'"""
    r"""|^[ \t]*\#(?:\\\n|[^\n])*""",
    re.DOTALL | re.MULTILINE,
)
# What precedes the brace of a body: parameters, a lambda's captures (an array's brackets follow its name), member
# initialisers, or else, do, try; then optional specifiers of functions.
BODY = re.compile(
    r"(?:\)|(?:^|[^\w\]\s])\s*\[[^\[\]]*\]|\)\s*:(?!:).*|\b(?:else|do|try))\s*"
    r"(?:\b(?:const|noexcept|override|final|mutable)\b\s*|&{1,2}\s*|->\s*[\w:<>,*&\s]+)*$",
    re.DOTALL,
)
SCOPE = re.compile(r'(?:^|\W)(?:namespace|class|struct|union|enum|extern)\b[^()]*$')


def blank(found):
    return re.sub(r"[^\n]", " ", found[0])


def long_cpp(text):
    """Line and length of every long function, not counting braces that initialise data."""
    code = NO_CODE.sub(blank, text)
    found, open_braces, head, head_at, line, data_lines = [], [], "", 1, 1, set()
    for character in code:
        line += character == "\n"
        if character == "{":
            kind = "scope" if SCOPE.search(head) else "body" if BODY.search(head) else "data"
            open_braces.append((kind, head, head_at, line))
            head = ""
        elif character == "}":
            kind, before, begun, opened = open_braces.pop()
            if kind == "data":
                data_lines.update(range(opened + 1, line))
            length = line - begun + 1 - len(data_lines.intersection(range(begun, line)))
            if kind == "body" and length > MOST_LINES:
                found.append((begun, length))
            head, head_at = (before + "{}", begun) if kind == "data" else ("", line)
        elif character == ";" or (character == ":" and head.split()[-1:] in (["public"], ["protected"], ["private"])):
            head = ""
        else:
            head_at = line if not head.strip() else head_at
            head += character
    assert not open_braces, "braces that do not match: a directive chooses between some, or this reader is wrong"
    return found


def long_python(text):
    functions = [one for one in ast.walk(ast.parse(text)) if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]
    lengths = [(one.lineno, one.end_lineno - one.lineno + 1) for one in functions]
    return [(line, length) for line, length in lengths if length > MOST_LINES]


def long_shell(text):
    bodies = re.finditer(r"^\w+\(\) \{$.*?^\}$", text, re.DOTALL | re.MULTILINE)
    lengths = [(text.count("\n", 0, one.start()) + 1, one[0].count("\n") + 1) for one in bodies]
    return [(line, length) for line, length in lengths if length > MOST_LINES]


def reader_of(path):
    if path.suffix in (".cpp", ".hpp", ".cu", ".cuh", ".h"):
        return long_cpp
    first = path.read_bytes().partition(b"\n")[0]
    if path.suffix == ".py" or first.startswith(b"#!/usr/bin/python3"):
        return long_python
    return long_shell if path.suffix == ".sh" or first.startswith(b"#!/usr/bin/env bash") else None


class Functions(unittest.TestCase):
    def test_are_no_longer_than_a_page(self):
        read = set()
        for path in sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()):
            reader = reader_of(path)
            if reader is not None:
                read.add(reader)
                found = reader(path.read_text(encoding="utf-8"))
                with self.subTest(file=str(path.relative_to(ROOT))):
                    self.assertEqual(found, [], "lines at which longer functions begin, and their lengths")
        self.assertEqual(read, {long_cpp, long_python, long_shell})

    def test_that_are_planted_are_found(self):
        """Bodies of 61 lines are found and those of 60 are not, whatever their heads look like."""
        statement = "  f(1);  // it's {\n"
        for before, head, after in (
            ("", "int f() {", ""),
            ("#define A {\n", 'extern "C" int f() {', ""),
            ("int g();\n", "int f(int a,\n      int b) const noexcept override {", ""),
            ("", "X::X(int a) : Y(a), a_{a}, b_({1, 2}) {", ""),
            ("", "auto X::f(int a) -> std::vector<int> {", ""),
            ("class X : public Y {\n public:\n", "  template <class T>\n  __global__ void f(T a = {}) {", "};"),
            ("namespace a {\nstruct alignas(16) X {\n", "  struct Y* f() const& {", "};}"),
            ("", "const X all = [] {", "();"),
            ("", "int x = y(1'000, '{', \"{\", R\"(}{)\", [&a](int b) mutable {", ");"),
        ):
            for length in (MOST_LINES, MOST_LINES + 1):
                with self.subTest(head=head, length=length):
                    body = statement * (length - head.count("\n") - 2)
                    found = long_cpp(f"{before}{head}\n{body}}}{after}\n")
                    self.assertEqual(found, [(before.count("\n") + 1, length)] if length > MOST_LINES else [])

    def test_tables_and_types_may_be_longer(self):
        rows = '    {"a", 1},\n' * 100
        for text in (
            f"const std::vector<Row> kAll{{\n{rows}}};\n",
            f"const Row kAll[]{{\n{rows}}};\n",
            f"const Table& all() {{\n  static const Table all{{\n{rows}  }};\n  return all;\n}}\n",
            "class X final : public Y<int> {\n" + "  int f() { return 1; }\n" * 100 + "};\n",
            "namespace a::b {\n" + "int f();\n" * 100 + "}\n",
            "enum class X : int {\n" + "  a,\n" * 100 + "};\n",
        ):
            self.assertEqual(long_cpp(text), [], text[:60])

    def test_of_python_and_shell_that_are_planted_are_found(self):
        for reader, begin, end in ((long_python, "def f():\n", ""), (long_shell, "f() {\n", "}\n")):
            for length, expected in ((MOST_LINES, []), (MOST_LINES + 1, [(2, MOST_LINES + 1)])):
                body = "  f\n" * (length - 1 - len(end) // 2)
                self.assertEqual(reader("\n" + begin + body + end), expected)


if __name__ == "__main__":
    unittest.main()

"""Comments, printed texts and documentation are in plain English: no construction of BANNED, no sentence that is too
long. tests/report/words_exceptions.txt lists what is right all the same; a line there that nothing needs is an error.
"""

import re
import unittest

from support import ROOT

SOURCES = ("src", "scenarios", "kernels", "tests")
EXCEPTIONS = ROOT / "tests/report/words_exceptions.txt"
MOST_WORDS = 50  # in a sentence

# What nobody in the field writes, and what they write.
BANNED = {
    r"\bwhoever\b": "name who: the host thread, the caller, the stream",
    r"\bnobody (?:looked|knows|tells|told|said)\b": "not checked, unknown, not given",
    r"(?-i:^Of) (?:what|a|an|the|each|all|those|these|such|both)\b[^,.;]*: ": "a sentence with a subject",
    r"\bas one that\b": "like a",
    r"\bthat is (?:all )?for it to say\b": "measure this on real hardware",
    r"\bin step with nothing\b": "pseudo-random",
    r"\b[Cc]annot be told apart\b": "tied (within error), cannot be distinguished",
    r"\ball is well\b": "PASS, success",
    r"\bheld down by\b": "throttle reason",
    r"\bon its way\b|\bon their way\b": "in flight",
    r"\bis worked on\b|\bbe worked on\b": "is processed",
    r"\b(?:its|their) like\b": "its peers",
    r"\bput away\b|\blet go of\b": "release",
    r"\bcomes to nothing\b": "fails",
    r"\bbe held to\b": "must",
    r"\bodd ones?\b": "outlier",
    r"\bfarewell\b": "shutdown handshake",
    r"(?<!-)\bcrew\b": "thread pool",
    r"\b(?:un)?watched run\b": "profiled run, baseline",
    r"\bmend(?:s|ed|ing)?\b": "fix",
    r"\blie apart\b": "spread",
    r"\bdoes (?:it|so) all the same\b": "does it anyway",
    r"\bwhat (?:it|they) (?:is|are) given\b": "the argument",
    r"\bunwatched\b": "baseline",
    r"\b(?:blind|withheld)\b": "unknown, unavailable",
    r"\bpatience\b": "timeout",
    r"\bhow sure\b": "the confidence interval",
}

COMMENT = re.compile(r"(?:^[ \t]*///?<? ?[^\n]*\n)+|///?<? [^\n]*", re.MULTILINE)
LITERAL = re.compile(r'R"\((.*?)\)"|((?:"(?:[^"\\\n]|\\.)*"\s*)+)', re.DOTALL)


def comments(text):
    """Line and words of each comment; neighbouring lines are one, but for those further in, as of examples."""
    for found in COMMENT.finditer(text):
        words = re.sub(r"(?m)^[ \t]*///?<? ?|^///?<? ", "", found[0])
        for piece in re.split(r"(?m)^(?=  +)|(?<=:)$|^$", words):
            if piece.strip():
                yield text.count("\n", 0, found.start()) + 1, " ".join(piece.split())


def printed(text):
    """Line and words of each text of several words; neighbouring literals are one."""
    text = re.sub(r"(?m)^\s*(?://|#include)[^\n]*$", "", text)
    for found in LITERAL.finditer(text):
        words = found[1] or "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', found[2]))
        if len(re.findall(r"[A-Za-z]{2,}", words)) > 2:
            yield text.count("\n", 0, found.start()) + 1, words


def paragraphs(text):
    """Line and words of each paragraph, item or table cell of Markdown, without code."""
    text = re.sub(r"(?ms)^ *```.*?^ *```", lambda code: re.sub(r"[^\n]", " ", code[0]), text)
    for found in re.finditer(r"(?:^(?!\s*$|#|>).+\n?)+", text, re.MULTILINE):
        for piece in re.split(r"(?m)^\s*(?:[-*]|\d+\.) |\|", found[0]):
            words = re.sub(r"`[^`]*`|\]\([^)]*\)", " x ", piece)
            yield text.count("\n", 0, found.start()) + 1, " ".join(words.split())


def sentences(words):
    return re.split(r"(?<=[.!?;:])\s+(?=[A-Z`*(])|;\s", words)


def faults_in(words, limit):
    for pattern, instead in BANNED.items():
        if found := re.search(pattern, words, re.IGNORECASE):
            yield f"'{found[0]}': write {instead}"
    for sentence in sentences(words):
        if limit and len(sentence.split()) > limit:
            yield f"{len(sentence.split())} words in one sentence: '{sentence[:60]}...'"


def prose():
    """Path, line, words and longest sentence of every piece of prose."""
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".cpp", ".hpp", ".cu", ".cuh", ".h"):
                continue
            text = path.read_text()
            readers = (comments,) if folder == "tests" else (comments, printed)
            for reader in readers:
                yield from ((path, line, words, reader is comments and MOST_WORDS) for line, words in reader(text))
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))):
        if "lab" in path.parts or "results" in path.parts:
            continue
        yield from ((path, line, words, MOST_WORDS) for line, words in paragraphs(path.read_text()))


class Words(unittest.TestCase):
    maxDiff = None

    def test_are_those_of_the_field(self):
        wanted = {line for line in EXCEPTIONS.read_text().splitlines() if line and not line.startswith("#")}
        needed, found = set(), []
        for path, line, words, limit in prose():
            for fault in faults_in(words, limit):
                excused = {one for one in wanted if one in words}
                needed |= excused
                if not excused:
                    found.append(f"{path.relative_to(ROOT)}:{line}: {fault}")
        self.assertEqual(found, [], "rewrite them, or add a part of the sentence to " + str(EXCEPTIONS.name))
        self.assertEqual(wanted - needed, set(), "exceptions that nothing needs any more")

    def test_a_fault_of_each_kind_is_found(self):
        self.assertEqual(len(list(faults_in("Whoever waits", 0))), 1)
        self.assertEqual(len(list(faults_in("Of a value that others take: another of them", 0))), 1)
        self.assertEqual(len(list(faults_in("word " * (MOST_WORDS + 1), MOST_WORDS))), 1)
        self.assertEqual(list(comments("/// One.\n/// Two.\nint a;  // three\n")), [(1, "One. Two."), (3, "three")])
        self.assertEqual(list(printed('f("one two "\n  "three", "x");')), [(1, "one two three")])


if __name__ == "__main__":
    unittest.main()

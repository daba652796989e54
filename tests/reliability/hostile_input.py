"""Hostile input: bounds on memory and time, no control characters in output, and behaviour with a full disk or
memory."""

import errno
import json
import resource
import shutil
import subprocess
import sys

from . import commands
from .support import EXIT_CODES, ROOT, UNUSABLE, Figure, Outcome, Tally, how, is_results, read_json, read_with_journal
from .support import visible_files

TITLE = "hostile input is bounded"

_TEXT = "a\x1b]0;title\x07\x1b[2Jb\x07\x00c\r\nd\te\x7ff\x9bg\u202eh\u2028i"
_CASE_LINE = b"["


def bombs():
    """The module tests/fuzz/bombs.py."""
    sys.path.insert(0, str(ROOT / "tests" / "fuzz"))
    import bombs as found  # importable only now

    return found


def memory_and_time(setting):
    """Memory and time for each file that is made to be expensive."""
    made = bombs()
    names = setting.number(list(made.BOMBS), ["unknown_commas"])  # the test fuzz.bombs covers the others
    megabytes = setting.number(30, 4, 0.4)
    worst_memory = worst_time = broken = tried = 0
    with setting.scratch() as folder:
        # Programs built without optimisation, as in the tests, are slower. Growth faster than the file's size still
        # shows.
        allowed = setting.number(1, 30)
        for name, command, read, code, seconds, peak, wrong, _ in made.measure(
            setting.program, names, megabytes, allowed, str(folder)
        ):
            tried += 1
            worst_memory = max(worst_memory, (peak - made.BASE_MB) / read if read > 1 else 0)
            worst_time = max(worst_time, seconds / read * 10 if read > 1 else 0)
            if wrong:
                broken += 1
                took = f"exit code {code}, {seconds:.1f} s, {peak:.0f} MB"
                setting.say(f"  does not hold: {name} read by {command}: {took}: {wrong}")
    return Figure(
        f"memory 3 x the file, {allowed} s for each 10 MB",
        f"{worst_memory:.1f} x and {worst_time:.2f} s at most, over {tried} of {megabytes} MB",
        broken == 0,
    )


# --- Control characters -----------------------------------------------------------------------------------------------


def poisoned(value, fields):
    """A copy with control characters appended to all texts of these fields."""
    if isinstance(value, dict):
        found = {}
        for name, one in value.items():
            if name in fields and isinstance(one, str):
                one = one + _TEXT
            elif name in fields and isinstance(one, list) and all(isinstance(text, str) for text in one):
                one = [*one, _TEXT]
            found[name] = poisoned(one, fields)
        return found
    return [poisoned(one, fields) for one in value] if isinstance(value, list) else value


def control_bytes(text):
    """Control characters except line feeds: C0, DEL, C1, and Unicode characters that change direction or break
    lines."""
    decoded = text.decode("utf-8", "replace")
    return {hex(ord(c)) for c in decoded if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160 or c in "\u202e\u2028"}


def no_control_byte_is_printed(setting, tally):
    fields = ("reason", "warnings", "key", "version", "git", "compiler", "name", "driver", "cpu", "text", "kernel",
              "heading", "help", "unit", "flags", "profile", "started_at", "numa_note")
    with setting.scratch() as folder:
        files = commands.make_files(setting, folder)
        base = read_json(files["base"])
        base["results"][0] |= {"status": "failed", "reason": "because", "warnings": ["beware"]}
        base["tool"]["git"] = "a"
        data = folder / "data" / "suites"
        data.mkdir(parents=True)
        (data / "su\x1b[31mite\x07.json").write_text(commands.SUITE.replace("For a test", _TEXT.replace("\x00", "")
            .encode("unicode_escape").decode().replace("\\x", "\\u00")), encoding="utf-8")
        for field in (*fields, None):
            poisoned_file = folder / "poisoned.json"
            value = poisoned(base, [field] if field else fields)
            for complete in (True, False):
                if not complete:
                    value = commands.cut_off(value)
                poisoned_file.write_text(json.dumps(value), encoding="utf-8")
                for arguments in (
                    ("compare", poisoned_file, files["base"], "--allow-simulated"),
                    ("compare", files["base"], poisoned_file, "--allow-simulated", "--markdown", "-"),
                    ("check", poisoned_file, "--expect", "h200", "--allow-simulated"),
                    ("check", files["base"], "--expect", poisoned_file, "--allow-simulated"),
                    ("check", poisoned_file, "--expect", "h200", "--allow-simulated", "--junit", "-"),
                    ("check", poisoned_file, "--expect", "h200", "--allow-simulated", "--openmetrics", "-"),
                    ("compare", poisoned_file, files["base"], "--allow-simulated", "--annotations", "github"),
                    ("--resume", poisoned_file, "--csv", "-"),
                    ("--resume", poisoned_file, "--progress", "plain"),
                    ("--suite", poisoned_file, "--dry-run"),
                ):
                    outcome = setting.run(*arguments)
                    found = control_bytes(outcome.out + outcome.err)
                    tally.expect(not found, f"{arguments[0]} printed {found} of the field {field}")
                    tally.expect(outcome.code in EXIT_CODES, lambda: f"{arguments[0]}, field {field}: {how(outcome)}")
            if setting.short and field == fields[1]:
                break
        for arguments in (
            *(("list",), ("list", "x\x1b[2J"), ("--suite", "x\x1b[2J\x07"), ("memcpy", "--\x1b[2J")),
            *(("--json", "no\x1b[2J/such", "memcpy"), ("compare", "\x1b[2J", "b")),
        ):
            outcome = setting.run(*arguments, environment={"XFERBENCH_DATA": str(folder / "data")})
            found = control_bytes(outcome.out + outcome.err)
            tally.expect(not found, f"{arguments} printed {found}")


# --- Full memory and full disk ---


def least_memory(setting, made):
    """The least limit in bytes with which the program starts, found to 256 KiB: with a coarser one there may be room
    for all that follows."""
    low, high = 0, 1 << 32
    while high - low > 256 << 10:
        middle = (low + high) // 2
        starts = made.run(setting.program, ["version"], limit=middle)[0] == 0
        low, high = (low, middle) if starts else (middle, high)
    return high


def out_of_memory(setting, tally):
    """Runs with memory limits from too little to enough: each must succeed or exit with code 2."""
    made = bombs()
    refused = 0
    with setting.scratch() as folder:
        file = str(folder / "big.json")
        made.write("accepted_samples", setting.number(30, 3, 1), file)
        shutil.copyfile(file, file + ".copy")
        other = str(folder / "other.json")
        made.write("measured_results", 0.01, other)
        step = setting.number(4, 16) << 20
        base = least_memory(setting, made)
        for arguments in (["check", file, "--expect", "h200", "--allow-simulated"], ["compare", file, file + ".copy"],
                          ["--resume", file]):
            for limit in range(base, base + setting.number(240, 64, 48) * (1 << 20), step):
                code, _, _, said = made.run(setting.program, arguments, limit=limit)
                tally.expect(code in EXIT_CODES and (code != 1 or "memory" not in said),
                             f"{arguments[0]} within {limit >> 20} MB: {code}, {said!r}")
                refused += code == UNUSABLE and "memory" in said
    tally.expect(refused > 0, "no limit was too small to show anything")
    return refused


def lines_until_told(err):
    """The number of cases before the first complaint about the file; None if there is no complaint."""
    cases = 0
    for line in err.splitlines():
        if line.startswith(_CASE_LINE):
            cases += 1
        elif b"cannot write" in line or b"No space" in line or b"too large" in line:
            return cases
    return None


def full_disk(setting, tally, run):
    """A full disk is reported after the first case that could not be saved and again at the end. Earlier cases stay
    valid in the file, and the table has all cases."""
    with setting.scratch() as folder:
        outcome, file = run(folder)
        told = lines_until_told(outcome.err)
        found = read_json(file)
        tally.expect(outcome.code == UNUSABLE, lambda: f"full disk: {how(outcome)}")
        kept = is_results(found) and not found["complete"]
        tally.expect(kept, "full disk: what was saved before is lost, or complete")
        saved = len((read_with_journal(file) or {"results": []})["results"])
        late = None if told is None else told - saved
        tally.expect(late is not None and late <= 2, f"full disk: told after {told} cases, of which {saved} are saved")
        said = outcome.err.splitlines()
        cases = sum(line.startswith(_CASE_LINE) for line in said)
        tally.expect(told is not None and told < cases and b"the run continues" in outcome.err,
                     "full disk: not told while cases were still to come")
        tally.expect(said and b"cannot write" in said[-1], lambda: f"full disk: not told at the end: {how(outcome)}")
        tally.expect(outcome.out.count(b"\n") > cases, "full disk: the table lacks cases")
        tally.expect(set(visible_files(file.parent)) <= {file.name, f"{file.name}.journal"},
                     f"full disk: beside the file is left {visible_files(file.parent)}")


_RUN = (
    *("--simulate", "--size", "1M", "--streams", "1,2", "--chunks", "2:64", "--progress", "plain"),
    *("--ci", "0.001", "--min-samples", "300", "--max-samples", "300"),
)


def on_a_small_disk(setting):
    """A file system of 160 KiB, if this user may mount one."""

    def run(folder):
        mount = f"mount -t tmpfs -o size=160k none {folder} || exit 99"
        inside = f'{mount}; "$@"; code=$?; cp {folder}/r.json {folder}.saved; exit $code'
        command = ["unshare", "-Urm", "sh", "-c", inside, "sh", setting.program, *_RUN, "--json", f"{folder}/r.json"]
        done = subprocess.run(command, capture_output=True, check=False, timeout=300)
        kept = folder / "kept.json"
        shutil.move(f"{folder}.saved", kept)
        return Outcome(done.returncode, done.stdout, done.stderr), kept

    return run


def may_mount(setting):
    with setting.scratch() as folder:
        command = ["unshare", "-Urm", "mount", "-t", "tmpfs", "-o", "size=160k", "none", str(folder)]
        if shutil.which(command[0]) is None:
            return False
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


# A megabyte in all, so that there is a journal (above 256 KiB). Cases take longer than writing it.
_LONG_RUN = (
    *("memcpy", "--size", "64K:1M:+8K", "--host", "pinned", "--simulate", "--no-verify", "--progress", "plain"),
    *("--min-samples", "200", "--max-samples", "200"),
)


def by_a_limit(setting, size=60 << 10, command=_RUN):
    """RLIMIT_FSIZE, which causes SIGXFSZ or EFBIG."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    def run(folder):
        arguments = [setting.program, *command, "--json", str(folder / "r.json")]
        done = subprocess.run(arguments, capture_output=True, check=False, timeout=300, preexec_fn=limit)
        return Outcome(done.returncode, done.stdout, done.stderr), folder / "r.json"

    return run


def by_failing_writes(setting):
    """All writes fail from the eighth on."""

    def run(folder):
        failing = setting.failing("write", 8, 1_000_000_000, errno.ENOSPC)
        return setting.run(*_RUN, "--json", folder / "r.json", environment=failing), folder / "r.json"

    return run


def hostile_input_is_bounded(setting):
    printed, memory, disk = Tally(setting), Tally(setting), Tally(setting)
    no_control_byte_is_printed(setting, printed)
    refused = out_of_memory(setting, memory)
    ways = [by_a_limit(setting), by_a_limit(setting, 600 << 10, _LONG_RUN), by_failing_writes(setting)]
    if setting.quick:  # two ways that any user can use, without and with a journal
        del ways[2:]
    elif may_mount(setting):
        ways.append(on_a_small_disk(setting))
    for run in ways:
        full_disk(setting, disk, run)
    return [
        memory_and_time(setting),
        Figure("no control byte in any output", f"{printed.bad} of {printed.tried} checks failed", printed.bad == 0),
        Figure(
            "out of memory exits 2",
            f"{memory.bad} of {memory.tried} limits; {refused} were too small",
            memory.bad == 0,
        ),
        Figure(
            "a full disk is told within one case",
            f"{disk.bad} of {disk.tried} checks failed, {len(ways)} ways to fill it",
            disk.bad == 0,
        ),
    ]

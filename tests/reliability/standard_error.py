"""Standard error is never fatal: it may be closed, full, a pipe without a reader, or a terminal that is gone."""

import json
import os
import pty
import select
import signal
import subprocess

from . import commands
from .support import UNUSABLE, Figure, Tally, how, is_results, read_json, statuses, wait_for, without_times_of_day

TITLE = "standard error is never fatal"

# Shell commands that start the program $@ with broken streams. For pipes, descriptor 2 already is the writing end.
DONE_BY_A_SHELL = {
    "closed": 'exec "$@" 2>&-',
    "closed, as is standard input": 'exec "$@" 2>&- <&-',
    "full": 'exec "$@" 2>/dev/full',
    "both closed": 'exec "$@" 2>&- >&-',
    "reader gone": 'exec "$@"',
    "reader gone, SIGPIPE ignored": 'trap "" PIPE; exec "$@"',
    "standard output's reader gone, too": 'exec "$@" >&2',
}
HANGUP = 128 + signal.SIGHUP
NO_GPU = {"CUDA_VISIBLE_DEVICES": ""}


def conditions(setting, number):
    """The conditions for a command: all of them; in the short form every fourth; in the quick form three that differ
    from those of the next command."""
    known = list(DONE_BY_A_SHELL.items())
    if setting.quick:
        return dict(known[(number + step) % len(known)] for step in (0, 2, 4))
    return dict(known[:: setting.number(1, 4)])


def prepared(setting, folder, command, files):
    """Paths for the names in the command's arguments, and a folder for its output."""
    folder.mkdir()
    (folder / "resumed.json").write_text(json.dumps(commands.cut_off(read_json(files["base"]))), encoding="utf-8")
    return {**files, "out": str(folder)}


def run_behind(setting, shell, command, names):
    """Runs the command under this shell, with standard error broken by it, or a pipe without a reader. Returns the
    exit code."""
    stderr, ours = subprocess.PIPE, None
    if "reader gone" in shell or "trap" in shell or shell in ('exec "$@"', 'exec "$@" >&2'):
        reader, ours = os.pipe()
        os.close(reader)
        stderr = ours
    environment = {**os.environ, **(NO_GPU if command.needs_gpu else {})}
    arguments = ["sh", "-c", shell, "sh", setting.program, *command.filled(names)]
    try:
        return subprocess.run(
            arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr, env=environment,
            check=False, timeout=120,
        ).returncode
    except subprocess.TimeoutExpired:
        return None
    finally:
        if ours is not None:
            os.close(ours)


def left_behind(folder, command):
    """The files that the command wrote, without what differs between runs."""
    found = {}
    for name in command.writes:
        path = folder / name
        found[name] = None
        if path.exists():
            found[name] = without_times_of_day(path.read_bytes()).replace(str(folder).encode(), b"")
    return found


def whole(folder, command):
    """Whether all results files of the command are complete."""
    written = [read_json(folder / name) for name in command.writes if name.endswith(".json") and name != "c.json"]
    return all(is_results(one) and one["complete"] for one in written)


def ends_alike(setting, tally, files, command, scratch, behind):
    """Exit code and files must be the same, whatever happens to standard error."""
    undisturbed = scratch / "undisturbed"
    names = prepared(setting, undisturbed, command, files)
    expected = setting.run(*command.filled(names), environment=NO_GPU if command.needs_gpu else None)
    if not tally.expect(not expected.by_signal and not expected.hung, f"{command.name}, undisturbed: {how(expected)}"):
        return
    before = left_behind(undisturbed, command)
    for number, (what, shell) in enumerate(behind.items()):
        folder = scratch / f"{number}"
        code = run_behind(setting, shell, command, prepared(setting, folder, command, files))
        allowed = {expected.code}
        if "both" in what or "output" in what:
            allowed |= {2}  # output that cannot be written is an error
        if what.startswith("standard output"):
            allowed |= {-signal.SIGPIPE}
        tally.expect(code in allowed, f"{command.name}, standard error {what}: {code} instead of {expected.code}")
        if code == expected.code:
            same = left_behind(folder, command) == before
            tally.expect(same, f"{command.name}, standard error {what}: its files differ from an undisturbed run's")


# --- A terminal that is closed during a run ---


class Terminal:
    """A pseudo-terminal. The slave side stays open here too: otherwise reading would fail before the program opens
    it."""

    def __init__(self):
        self.master, self._slave = pty.openpty()
        self.name = os.ttyname(self._slave)

    def close(self):
        """Hangs up: the program gets SIGHUP, and EIO from then on."""
        os.close(self.master)
        os.close(self._slave)


def on_a_terminal(setting, arguments, with_output):
    """Starts the program with a new controlling terminal. Returns both."""
    terminal = Terminal()
    redirection = '2<>"$0"' + (' >&2' if with_output else "")
    process = subprocess.Popen(
        ["sh", "-c", f'exec "$@" {redirection}', terminal.name, setting.program, *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True, env={**os.environ, "TERM": "xterm"},
    )
    return process, terminal


def read_until(terminal, started):
    """Reads the program's output until started(output) is true, so that the program never blocks on a full terminal."""
    said = b""

    def looked():
        nonlocal said
        if select.select([terminal.master], [], [], 0.001)[0]:
            said += os.read(terminal.master, 65536)
        return started(said)

    wait_for(looked, 60)


def terminal_is_lost(setting, tally, folder, run, with_output, expected):
    """Closes the terminal of a run that writes a file. Returns whether the run was still going."""
    folder.mkdir()
    results = folder / "r.json"
    process, terminal = on_a_terminal(setting, [*run, "--json", str(results)], with_output)
    read_until(terminal, lambda _: len((read_json(results) or {}).get("results", [])) >= 2)
    there = len((read_json(results) or {}).get("results", []))
    terminal.close()
    what = f"terminal lost after {there} of {len(expected)} cases ({' '.join(run[-2:])})"
    try:
        code = process.wait(timeout=120)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait()
        what += ", then hung"
    tally.expect(code in ((0, 2) if with_output else (0,)), f"{what}: {code}")
    found = read_json(results)
    tally.expect(is_results(found) and found["complete"] and statuses(found) == expected, f"{what}: cases are missing")
    return there < len(expected)


def terminal_of_a_run_without_files_is_lost(setting, tally, with_output):
    """A run without files ends with SIGHUP, since nobody would see its results. If its table goes to the terminal,
    writing it may fail first."""
    process, terminal = on_a_terminal(setting, [*commands.MANY_CASES, "--progress", "plain"], with_output)
    read_until(terminal, lambda said: b"\n" in said)
    terminal.close()
    try:
        code = process.wait(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        code = f"hung, {process.wait()}"
    allowed = (HANGUP, UNUSABLE) if with_output else (HANGUP,)
    tally.expect(code in allowed, f"terminal lost, no file to write: {code} instead of {HANGUP}")


def standard_error_is_never_fatal(setting):
    tally = Tally(setting)
    lost = Tally(setting)
    all_commands = commands.everything(setting)
    with setting.scratch() as scratch:
        files = commands.make_files(setting, scratch)

        def one(item):
            number, command = item
            folder = scratch / f"command-{number}"
            folder.mkdir()
            behind = conditions(setting, number)
            ends_alike(setting, tally, files, command, folder, behind)
            return len(behind)

        tried = sum(setting.side_by_side(one, enumerate(all_commands)))
        run = setting.number(commands.SOME_CASES, commands.SOME_CASES, commands.SMALL_CASES)
        undisturbed = setting.run(*run, "--json", scratch / "whole.json")
        expected = statuses(read_json(scratch / "whole.json"))
        lost.expect(undisturbed.code == 0 and len(expected) > 10, how(undisturbed))
        amid = 0
        for number in range(setting.number(10, 1)):
            for progress in ("auto", "plain"):
                for with_output in (False, True):
                    folder = scratch / f"terminal-{number}-{progress}-{with_output}"
                    shown = [*run, "--progress", progress]
                    amid += terminal_is_lost(setting, lost, folder, shown, with_output, expected)
            for with_output in (False, True):
                terminal_of_a_run_without_files_is_lost(setting, lost, with_output)
    return [
        Figure(
            "0 aborts: closed, full, broken pipe x every command",
            f"{tally.bad} in {tried} runs of {len(all_commands)} commands",
            tally.bad == 0,
        ),
        Figure(
            "all cases complete after the terminal is lost",
            f"{lost.bad} of {lost.tried} checks failed; {amid} were lost amid the run",
            lost.bad == 0 and amid > 0,
        ),
    ]

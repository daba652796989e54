"""Files that nobody should have written: large, and each at what a careless reader would pay for dearly.

    bombs.py --list                              names each with what it is about
    bombs.py NAME MEGABYTES FILE                 writes one
    bombs.py --measure PROGRAM [MEGABYTES [NAME...]]
                                                 writes each, has the program read it in every way there is, and
                                                 prints what that took; exit code 1 if it was more than is promised

What is promised (docs/reliability.md): the program reads such a file or refuses it with exit code 2, in a second for
each 10 MB and with three times the file's memory above a base of 30 MB. That holds for optimised builds; a build
without optimisation needs `--seconds-per-10mb 30`. Time and memory that were too much are taken again, as what else the
machine did may be in them; a wrong exit code counts at once.
"""

import argparse
import itertools
import os
import pathlib
import resource
import shutil
import sys
import tempfile

BASE_MB = 36  # two files are read at once, and both may be at their peak
RESUME_MB = 50  # also holds the cases, which the file's command only implies
EXIT_CODES = {0, 1, 2, 3, 4, 5}
ATTEMPTS = 3

_HEAD = """{"schema": "xferbench/1", "complete": %s, "started_at": "2026-11-21T10:00:00Z",
 "tool": {"version": "0.1.0", "build": {"compiler": "c"}}, "command": %s,
 "environment": {"backend": "simulated", "profile": "h200", "gpu": {"name": "NVIDIA H200"}, "host": {},
 "variables": {%s}}, """
_MEASUREMENT = (
    '{"name":"%s","clock":"event","unit":"s","samples":[%s],"n":%d,"min":0,"median":%s,"max":9,"stop":"ci","batch":1,'
    '"warmup":{"runs":1,"converged":true},"outliers":{"mild":0,"severe":0},"flags":[]}'
)


def head(command='["xferbench"]', variables="", complete="true"):
    return _HEAD % (complete, command, variables)


def result(key, status="ok", reason="", params="", warnings="", measurements="", metrics="", labels="", scenario="memcpy"):
    return (
        f'{{"scenario":"{scenario}","key":"{key}","params":{{{params}}},"status":"{status}","reason":"{reason}",'
        f'"warnings":[{warnings}],"measurements":[{measurements}],"metrics":{{{metrics}}},"labels":{{{labels}}}}}'
    )


def many(item, size, between=","):
    """Yields about `size` bytes of text in pieces: item(0), item(1), ..., separated by `between`."""
    written = 0
    pieces = []
    held = 0
    for i in itertools.count():
        piece = (between if i else "") + item(i)
        pieces.append(piece)
        held += len(piece)
        if held > 1 << 20:
            yield "".join(pieces)
            written += held
            pieces, held = [], 0
        if written + held >= size:
            break
    yield "".join(pieces)


def measured(key, value="1"):
    return result(key, measurements=_MEASUREMENT % ("copy", ",".join([value] * 6), 6, value))


def results(item, size, **kwargs):
    """A results file with these items, after one measured result, which compare needs."""
    yield head(**kwargs) + '"results": [' + measured("memcpy/first") + ","
    yield from many(item, size)
    yield "]}"


def repeated(text, size):
    for _ in range(max(1, size // len(text) // 65536)):
        yield text * 65536


def inside_result(before, pieces, after):
    """A results file with one measured result, and one that has `pieces` in its field `before`."""
    text = result("memcpy/a", **{before: "@"})
    first, last = text.split("@")
    yield head() + '"results": [' + measured("memcpy/first") + "," + first
    yield from pieces
    yield after + last + "]}"


def samples(size):
    first, last = (_MEASUREMENT % ("copy", "@", 1, "1")).split("@")
    yield from inside_result("measurements", itertools.chain([first], repeated("0,", size), ["0"]), last)


def accepted_samples(size):
    """Samples that need about as much memory as their text."""
    count = size // 8
    first, last = (_MEASUREMENT % ("copy", "@", count, "0.5")).split("@")
    thousand = ",".join(f"0.{(i * 7919) % 90000 + 10000}" for i in range(1000))
    rest = ",".join(["0.5"] * (count % 1000))
    pieces = itertools.chain([first], [thousand], itertools.repeat("," + thousand, count // 1000 - 1), ["," + rest if rest else ""])
    yield from inside_result("measurements", pieces, last)


def unknown_commas(size):
    yield head() + '"unknown": ['
    yield from repeated("0,", size)
    yield '0], "results": [' + measured("memcpy/first") + "]}"


def unknown_nested(size):
    yield head() + '"unknown": '
    yield from repeated("[", size)


def unknown_lists(size):
    yield head() + '"unknown": ['
    yield from repeated("[[[[{}]]]],", size)
    yield '0], "results": [' + measured("memcpy/first") + "]}"


def unknown_names(size):
    yield head() + '"unknown": {'
    yield from many(lambda i: f'"{i}":0', size)
    yield '}, "results": [' + measured("memcpy/first") + "]}"


def unknown_fields(size):
    yield head()
    yield from many(lambda i: f'"{i}":0', size)
    yield ', "results": [' + measured("memcpy/first") + "]}"


def labels(size):
    yield from inside_result("labels", many(lambda i: f'"{i}":""', size), "")


def same_label(size):
    yield from inside_result("labels", many(lambda i: '"a":""', size), "")


def labels_in_results(size):
    one = ",".join(f'"{i}":""' for i in range(min(10_000, size // 200)))
    yield from results(lambda i: result(f"memcpy/{i}", labels=one), size)


def same_key(size):
    yield from results(lambda i: result("memcpy/a"), size)


def failed_results(size):
    reason = "the copy of the last chunk is wrong at byte 123456, expected 17 and found 18, as happens; " * 4
    yield from results(lambda i: result(f"memcpy/{i}", status="failed", reason=reason), size)


def tiny_results(size):
    yield from results(lambda i: result(f"memcpy/{i}", status="failed"), size)


def skipped_results(size):
    reason = "the simulator does not model page faults and migration, and so on, as reasons go"
    params = '"dir":"h2d","host":"managed","engine":"ce","api":"async","size":4096'
    key = "memcpy/dir=h2d/host=managed/engine=ce/api=async/size="
    yield from results(lambda i: result(f"{key}{i}B", status="skipped", reason=reason, params=params), size)


def measured_results(size):
    yield from results(
        lambda i: result(f"memcpy/{i}", measurements=_MEASUREMENT % ("copy", "1,1,1,1,1,1", 6, "1")), size
    )


def metric_results(size):
    yield from results(lambda i: result(f"memcpy/{i}", metrics='"bandwidth":{"value":1,"unit":"GB/s"}'), size)


def metrics(size):
    one = ",".join(f'"{i}":{{"value":1,"unit":"s"}}' for i in range(min(9_999, size // 200)))
    yield from results(lambda i: result(f"memcpy/{i}", metrics=one), size)


def measurements(size):
    one = ",".join(_MEASUREMENT % (i, "", 0, "0") for i in range(min(9_999, size // 200)))
    yield from results(lambda i: result(f"memcpy/{i}", measurements=one), size)


def tiny_warnings(size):
    one = ",".join('""' for i in range(min(9_999, size // 200)))
    yield from results(lambda i: result(f"memcpy/{i}", warnings=one), size)


def different_warnings(size):
    def warnings(i):
        return ",".join('"%s"' % ("x" * (j % 97) + chr(97 + j % 26) * (j // 97) + "y" * (i % 50)) for j in range(3000))

    yield from results(lambda i: result(f"memcpy/{i}", warnings=warnings(i)), size)


def long_texts(size):
    text = "x" * min(1_000_000, size // 2)
    yield from results(lambda i: result(f"memcpy/{i}", status="failed", reason=text), size)


def long_keys(size):
    text = "x" * 100_000
    yield from results(lambda i: result(f"memcpy/{text}{i}", status="failed"), size)


def long_measured_keys(size):
    text = "a" * 1000
    yield from results(lambda i: measured(f"memcpy/{text}{i}"), size)


def control_characters(size):
    text = "\\u001b]0;" * 10_000
    yield from results(lambda i: result(f"memcpy/{i}", status="failed", reason=text), size)


def endless_text(size):
    yield head() + '"unknown": "'
    yield from repeated("x", size)


def long_numbers(size):
    yield head() + '"unknown": ['
    yield from many(lambda i: "1" * min(1_000_000, size // 2), size)
    yield '], "results": [' + measured("memcpy/first") + "]}"


def long_samples(size):
    digits = "0." + "1" * 100_000
    first, last = (_MEASUREMENT % ("copy", "@", 1, "1")).split("@")
    yield from inside_result("measurements", itertools.chain([first], many(lambda i: digits, size)), last)


_DECLARATION = (
    '{"name":"%s","kind":"metric","better":"lower","headline":false,"heading":"","format":"number","help":""}'
)


def declared_scenarios(size):
    yield head() + '"metrics_declared": {'
    yield from many(lambda i: f'"{i}":[]', size)
    yield '}, "results": [' + measured("memcpy/first") + "]}"


def declared_metrics(size):
    one = ",".join(_DECLARATION % i for i in range(min(9_999, size // 200)))
    yield head() + '"metrics_declared": {'
    yield from many(lambda i: f'"{i}":[{one}]', size)
    yield '}, "results": [' + measured("memcpy/first") + "]}"


def findings(size):
    yield head() + '"results": [' + measured("memcpy/first") + '], "findings": ['
    text = "x" * 200
    yield from many(lambda i: f'{{"scenario":"a","kind":"b{i}","labels":{{}},"metrics":{{}},"text":"{text}"}}', size)
    yield "]}"


def command_words(size):
    yield head(command="@").split("@", maxsplit=1)[0] + "["
    yield from many(lambda i: '"--size"', size)
    yield "]" + head(command="@").split("@", maxsplit=1)[1] + '"results": []}'


def variables(size):
    one = ",".join(f'"{i}":""' for i in range(min(9_999, size // 200)))
    yield head(variables=one) + '"unknown": "", "results": [' + measured("memcpy/first") + "]}"


def resumed(size):
    """Results of a command with as many cases: all failed, and the last one is missing, so that --resume has work."""
    count = max(2, min(size // 240, 100_000))
    command = f'["xferbench","memcpy","--simulate","--dir","h2d","--host","pinned","--size","1:{count}:+1","--max-samples","6"]'

    def failed(i):
        params = f'"dir":"h2d","host":"pinned","engine":"ce","api":"async","size":{i + 1}'
        unit = f"{(i + 1) // 1024}KiB" if (i + 1) % 1024 == 0 else f"{i + 1}B"
        return result(f"memcpy/dir=h2d/host=pinned/engine=ce/api=async/size={unit}", "failed", "x" * 60, params)

    yield head(command=command, complete="false") + '"results": ['
    yield ",\n".join(failed(i) for i in range(count - 1))
    yield "]}"


def expectations(size):
    yield '{"schema": "xferbench-expect/1", "expect": ['
    yield from many(lambda i: '{"case":"*a*a*a*a*b","metric":"bandwidth","at_least":"1 GB/s"}', size)
    yield "]}"


def few_expectations(size):
    pattern = "*a" * 50
    yield '{"schema": "xferbench-expect/1", "expect": ['
    yield ",".join(
        '{"case":"%s*%d","metric":"bandwidth","at_least":"1 GB/s","optional":true}' % (pattern, i) for i in range(min(9_999, size // 200))
    )
    yield "]}"


def suite_runs(size):
    yield '{"schema": "xferbench-suite/1", "description": "d", "runs": ['
    yield from many(lambda i: '"memcpy"', size)
    yield "]}"


def suite_words(size):
    yield '{"schema": "xferbench-suite/1", "description": "d", "runs": ['
    words = '"memcpy' + " x" * 100_000 + '"'
    yield from many(lambda i: words, size)
    yield "]}"


_OF_RESULTS = [
    samples, accepted_samples, unknown_commas, unknown_nested, unknown_lists, unknown_names, unknown_fields, labels, same_label,
    labels_in_results, same_key, failed_results, tiny_results, skipped_results, measured_results, metric_results, metrics,
    measurements, tiny_warnings, different_warnings, long_texts, long_keys, long_measured_keys, control_characters, endless_text,
    long_numbers, long_samples, declared_scenarios, declared_metrics, findings, command_words, variables, resumed,
]  # fmt: skip
_OF_EXPECTATIONS = [expectations, few_expectations]
_OF_SUITES = [suite_runs, suite_words]
BOMBS = {bomb.__name__: bomb for bomb in _OF_RESULTS + _OF_EXPECTATIONS + _OF_SUITES}


def write(name, megabytes, path):
    """Writes the bomb of that name; returns its size in bytes, which may be less than was asked for."""
    # In a child process: the peak memory of a program includes what its process held before exec.
    writer = os.fork()
    if writer == 0:
        with open(path, "w", encoding="utf-8") as file:
            for piece in BOMBS[name](int(megabytes * 1e6)):
                file.write(piece)
        os._exit(0)
    if os.waitpid(writer, 0)[1] != 0:
        raise RuntimeError(f"{name} could not be written to {path}")
    return os.path.getsize(path)


def readers(name, path, other):
    """The commands that read such a file. `other` is a results file of a few cases."""
    bomb = BOMBS[name]
    if bomb in _OF_EXPECTATIONS:
        cases = path + ".cases"
        if not os.path.exists(cases):
            write("long_measured_keys", 2, cases)
        return [["check", file, "--expect", path, "--allow-simulated"] for file in (other, cases)]
    if bomb in _OF_SUITES:
        return [["--suite", path, "--dry-run", "--simulate"]]
    copy = path + ".copy"
    commands = [
        ["compare", path, copy],
        ["compare", "--across", path, copy],
        ["check", path, "--expect", "h200", "--allow-simulated"],
        ["--resume", path, "--quiet"],
    ]
    return commands


def run(program, arguments, environment=None, limit=None):
    """Exit code (negative: a signal), seconds of CPU time, peak of memory in MB, and the beginning of standard error."""
    with tempfile.TemporaryFile() as err, open(os.devnull, "w", encoding="utf-8") as nothing:
        child = os.fork()
        if child == 0:
            os.dup2(nothing.fileno(), 1)
            os.dup2(err.fileno(), 2)
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            os.execve(program, [program, *arguments], environment or os.environ)
        _, status, usage = os.wait4(child, 0)
        seconds = usage.ru_utime + usage.ru_stime  # CPU time, since other programs may be running
        err.seek(0)
        text = err.read(300).decode(errors="replace")
    return os.waitstatus_to_exitcode(status), seconds, usage.ru_maxrss / 1000, text


def measure(program, names, megabytes, seconds_per_10mb, folder):
    """Yields for each bomb and command: name, command, MB, exit code, seconds, peak MB, broken limits, standard
    error."""
    other = os.path.join(folder, "other.json")
    write("measured_results", 0.01, other)
    for name in names:
        path = os.path.join(folder, name + ".json")
        size = write(name, megabytes, path) / 1e6
        commands = readers(name, path, other)
        for arguments in commands:
            read = size + sum(os.path.getsize(a) / 1e6 for a in arguments if a != path and os.path.exists(a))
            if path + ".copy" in arguments:
                shutil.copyfile(path, path + ".copy")
                read = 2 * size
            most_seconds = 0.5 + seconds_per_10mb * read / 10
            most_mb = (RESUME_MB if arguments[0] == "--resume" else BASE_MB) + 3 * read
            for _ in range(ATTEMPTS):
                code, seconds, peak, err = run(program, arguments)
                if code not in EXIT_CODES or (seconds <= most_seconds and peak <= most_mb):
                    break
            broken = []
            if code not in EXIT_CODES:
                broken.append(f"exit code {code}: {err.strip()[:80]}")
            if peak > most_mb:
                broken.append(f"more than {most_mb:.0f} MB")
            if seconds > most_seconds:
                broken.append(f"more than {most_seconds:.1f} s")
            yield name, arguments[0], read, code, seconds, peak, "; ".join(broken), err
        for file in (path, path + ".copy", path + ".cases"):
            pathlib.Path(file).unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--measure", metavar="PROGRAM")
    parser.add_argument("--seconds-per-10mb", type=float, default=1)
    parser.add_argument("arguments", nargs="*")
    given = parser.parse_args()
    if given.list:
        print("\n".join(BOMBS))
        return 0
    if not given.measure:
        name, megabytes, path = given.arguments
        print(f"{write(name, float(megabytes), path)} bytes")
        return 0
    megabytes = float(given.arguments[0]) if given.arguments else 20
    failed = []
    print(f"{'bomb':<20} {'read by':<9} {'MB':>6} {'exit':>4} {'s':>7} {'peak MB':>8}  broken", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(given.measure, given.arguments[1:] or list(BOMBS), megabytes, given.seconds_per_10mb, folder)
        for name, command, size, code, seconds, peak, broken, err in rows:
            if broken:
                failed.append(f"{name}, read by {command}: {broken} ({seconds:.2f} s, {peak:.0f} MB)")
            said = err.strip().replace(folder + "/", "")[:90] if code == 2 else ""
            print(
                f"{name:<20} {command:<9} {size:>6.1f} {code:>4} {seconds:>7.2f} {peak:>8.0f}  "
                f"{broken.upper()}{'; ' if broken and said else ''}{said}",
                flush=True,
            )
    print("\n".join(failed) or "All as promised.")  # at the end, so that a truncated log still has it
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""A GPU that never answers ends the run: the file is saved, the exit code tells, and Ctrl-C works at once."""

import signal
import time

from .support import STUCK, Figure, Tally, how, is_results, read_json, statuses, wait_for

TITLE = "the watchdog"

RUN = ("overlap", "--simulate", "--size", "64K", "--streams", "1:4:+1", "--chunks", "4", "--max-samples", "10",
       "--progress", "plain")
# Calls in which the program waits for the device, or that block in the driver.
WAITS = ("synchronize-event", "launch", "copy", "record", "elapsed", "close-gate")
SOON = 2.0  # seconds from Ctrl-C to the end
LEAST = 30  # seconds; the watchdog's shortest timeout


def calls_of(setting, call):
    """The number of a call of this kind that is neither in the first nor the last case; None if there is none."""

    def failing(nth):
        with setting.scratch() as folder:
            fault = {"XFERBENCH_INJECT": f"fail:{call}:{nth}"}
            setting.run(*RUN, "--json", folder / "r.json", environment=fault)
            return list(statuses(read_json(folder / "r.json")).values())

    early, late = 0, 1  # early: a call in the first case; late: one after it
    while failing(late)[0] == "failed":
        early, late = late, 4 * late
    while late - early > 1:
        middle = (early + late) // 2
        found = failing(middle)
        if "failed" in found[1:-1]:
            return middle
        early, late = (middle, late) if found[0] == "failed" else (early, middle)
    return None


def hang(setting, folder, call, nth):
    """Starts a run that hangs in this call, and waits until it has saved a case."""
    file = folder / "r.json"
    process = setting.start(*RUN, "--json", file, environment={"XFERBENCH_INJECT": f"hang:{call}:{nth}"},
                            stderr=(folder / "said").open("wb"))
    wait_for(lambda: (read_json(file) or {"results": []})["results"] or process.poll() is not None, 30)
    return process, file


def earlier_cases_are_there(tally, file, what):
    found = read_json(file)
    valid = tally.expect(is_results(found) and not found["complete"], f"{what}: no valid file, or a complete one")
    tally.expect(valid and found["results"][0]["status"] == "ok", f"{what}: the cases before it are not in the file")


def interrupted(setting, tally, call, nth):
    """Interrupts a hanging run by Ctrl-C. Returns the seconds until its end."""
    with setting.scratch() as folder:
        process, file = hang(setting, folder, call, nth)
        time.sleep(0.3)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        try:
            code = process.wait(timeout=LEAST)
        except Exception:  # a timeout is a failure
            process.kill()
            code = f"hung, {process.wait()}"
        seconds = time.monotonic() - begin
        what = f"Ctrl-C while {call} hangs"
        tally.expect(code == 130, f"{what}: {code} instead of 130")
        tally.expect(seconds < SOON, f"{what}: {seconds:.1f} s")
        earlier_cases_are_there(tally, file, what)
        told = f"during a call ({call})" in (folder / "said").read_text(encoding="utf-8")
        tally.expect(told, f"{what}: it does not say in which call it was")
        reasons = [case["reason"] for case in (read_json(file) or {"results": []})["results"]]
        met = reasons.count("interrupted before its first samples")
        tally.expect(met == 1 and reasons[-1] == "interrupted before it began", f"{what}: the cases say {reasons}")
        resumed = setting.run("--resume", file, "--quiet")
        tally.expect(resumed.code == 0 and read_json(file)["complete"], lambda: f"{what}, resumed: {how(resumed)}")
        return seconds


def left_alone(setting, tally, call, nth):
    """Lets a run hang. Returns the seconds until it ended by itself."""
    with setting.scratch() as folder:
        begin = time.monotonic()
        process, file = hang(setting, folder, call, nth)
        try:
            code = process.wait(timeout=20 * LEAST)
        except Exception:  # a timeout is a failure
            process.kill()
            code = f"hung, {process.wait()}"
        seconds = time.monotonic() - begin
        what = f"{call} hangs"
        said = (folder / "said").read_text(encoding="utf-8")
        tally.expect(code == STUCK, f"{what}: {code} instead of {STUCK}")
        earlier_cases_are_there(tally, file, what)
        last = ((read_json(file) or {}).get("results") or [{}])[-1]
        told = last.get("status") in ("failed", "skipped") and last.get("reason")
        tally.expect(told, f"{what}: the file does not say why")
        tally.expect(call in said or "answer" in said, f"{what}: standard error does not say why: {said[-200:]}")
        return seconds


def watchdog_ends_a_stuck_gpu(setting):
    tally, calls = Tally(setting), {}
    for call in setting.number(WAITS, WAITS[:2]):
        nth = calls_of(setting, call)
        if nth is not None:
            calls[call] = nth
    tally.expect(len(calls) >= 2, f"only {list(calls)} could be made to hang")
    slowest = max((interrupted(setting, tally, call, nth) for call, nth in calls.items()), default=0.0)
    found = [
        Figure(
            f"Ctrl-C ends a stuck run within {SOON:.0f} s, with 130",
            f"{slowest:.2f} s at most, over {len(calls)} calls; {tally.bad} of {tally.tried} checks failed",
            tally.bad == 0,
        )
    ]
    if not setting.short:
        ended = Tally(setting)
        seconds = setting.side_by_side(lambda item: left_alone(setting, ended, *item), calls.items())
        found.append(
            Figure(
                f"ended by itself after {LEAST} s, exit code {STUCK}, file saved",
                f"{min(seconds):.0f} to {max(seconds):.0f} s; {ended.bad} of {ended.tried} checks failed",
                ended.bad == 0 and max(seconds) < 2 * LEAST + 10,
            )
        )
    return found

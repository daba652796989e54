#!/usr/bin/env python3
"""Counts test cases after a run of ctest: summary.py CTEST_REPORT REPORTS_FOLDER CTEST_STATUS
A GoogleTest program runs many cases in one test of ctest and leaves its own report; each other test is one case.
Prints the failed cases, and as the last line "N passed, N failed", with ", N skipped" if there are any. Exits with 1
if a case failed, if a program ended without reporting a failure, or if nothing ran.
"""

import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree


def cases_of(report):
    """Names of the failed, skipped and passed cases in one GoogleTest report."""
    counted = {"failed": [], "skipped": [], "passed": []}
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        if case.find("failure") is not None or case.find("error") is not None:
            counted["failed"].append(name)
        elif case.get("result") == "skipped" or case.get("status") == "notrun":
            counted["skipped"].append(name)
        else:
            counted["passed"].append(name)
    return counted


def outcome(test):
    """The outcome of one test of ctest, whose status is "run" if it passed, and "notrun" if it skipped itself or did
    not start."""
    if test.get("status") == "run":
        return "passed"
    skipped = test.find("skipped")
    if test.get("status") == "notrun" and skipped is not None and skipped.get("message", "").startswith("SKIP_"):
        return "skipped"
    return "failed"


def main():
    ctest_report, folder, status = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
    total = {"failed": [], "skipped": [], "passed": []}
    for test in ElementTree.parse(ctest_report).iter("testcase"):
        name, how = test.get("name"), outcome(test)
        report = folder / f"{name}.xml"
        if not re.fullmatch(r"\w+_tests\.\d+", name):
            total[how].append(name)
            continue
        try:
            counted = cases_of(report)
        except (OSError, ElementTree.ParseError):
            counted, how = {}, "failed"
        if how == "failed" and not counted.get("failed"):
            counted["failed"] = [f"{name} (ended without reporting a failure: crashed, or took too long)"]
        for key, names in counted.items():
            total[key] += names
    for name in total["failed"]:
        print(f"failed: {name}")
    if not total["passed"] and not total["failed"]:
        print("no test has run")
        status = 1
    elif status != 0 and not total["failed"]:
        print(f"ctest ended with code {status} although no test failed")
    line = f"{len(total['passed'])} passed, {len(total['failed'])} failed"
    if total["skipped"]:
        line += f", {len(total['skipped'])} skipped"
    print(line)
    return 1 if status != 0 or total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())

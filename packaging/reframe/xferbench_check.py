"""A check for ReFrame (https://reframe-hpc.readthedocs.io), version 4.0 or newer: runs a suite of xferbench.

    reframe -c packaging/reframe -r -S suite=ci

Each case's time and rate become performance variables, named after the case and the number:
memcpy/dir=h2d/host=pinned/engine=ce/api=async/size=256MiB_bandwidth. Give references in a class of your own that
inherits from xferbench_check.
"""

import json
import pathlib
import re

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ

RESULTS = "results.json"
NUMBERS = {"github-smaller": "times.json", "github-bigger": "rates.json"}  # files by the format that has their units


def variable_name(name):
    """Replaces what separates system and variable in the names of references."""
    return re.sub(r"[\s:*]+", "_", name)


@rfm.simple_test
class xferbench_check(rfm.RunOnlyRegressionTest):
    """Fails if a case fails, the run is incomplete or its data was not checked, or numbers leave their references."""

    #: name or file of the suite
    suite = variable(str, value="quick")
    #: further flags, for example ["--gpu", "1"]
    flags = variable(typ.List[str], value=[])
    #: accept simulated numbers
    simulated = variable(bool, value=False)

    descr = "data movement to GPUs, measured by xferbench"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "xferbench"
    num_gpus_per_node = 1
    time_limit = "30m"
    tags = {"gpu", "bandwidth"}

    @run_before("run")
    def set_options(self):
        formats = [f"--format={name}={file}" for name, file in NUMBERS.items()]
        self.executable_opts = ["--suite", self.suite, "--quiet", "--json", RESULTS, *formats, *self.flags]
        self.keep_files = [RESULTS, *NUMBERS.values()]

    def read(self, name):
        return json.loads((pathlib.Path(self.stagedir) / name).read_text(encoding="utf-8"))

    @sanity_function
    def all_cases_ran(self):
        report = self.read(RESULTS)
        failed = [f"{one['key']}: {one.get('reason', '')}" for one in report["results"] if one["status"] == "failed"]
        simulated = report["environment"]["backend"] == "simulated"
        return sn.all(
            [
                sn.assert_true(report["complete"], msg="the run is incomplete"),
                sn.assert_true(report.get("verified", True), msg="data was not checked"),
                sn.assert_eq(failed, [], msg="failed: " + "; ".join(failed)),
                sn.assert_true(self.simulated or not simulated, msg="the numbers are simulated"),
            ]
        )

    @run_before("performance")
    def set_performance_variables(self):
        for file in NUMBERS.values():
            for number in self.read(file):
                self.perf_variables[variable_name(number["name"])] = sn.make_performance_function(
                    sn.defer(number["value"]), number["unit"]
                )

"""A micro-benchmark for SuperBench (https://microsoft.github.io/superbenchmark): runs a suite of xferbench.

Copy it to superbench/benchmarks/micro_benchmarks/ and import XferbenchBenchmark in that folder's __init__.py. Then name
it in the configuration:

    superbench:
      benchmarks:
        xferbench:
          modes: [{name: local, proc_num: 1}]
          parameters: {suite: quick}

Results are named after case and measure: memcpy_dir_h2d_..._latency in ns, ..._bandwidth in GB/s.
"""

import json
import os
import re
import shlex

from superbench.benchmarks import BenchmarkRegistry, Platform
from superbench.benchmarks.micro_benchmarks import MicroBenchmarkWithInvoke
from superbench.common.utils import logger


def metric_name(case, measure):
    """SuperBench separates names by slashes and colons, so neither may be part of one."""
    return re.sub(r"[^A-Za-z0-9.\-]+", "_", f"{case}_{measure}").strip("_").lower()


class XferbenchBenchmark(MicroBenchmarkWithInvoke):
    """Fails if xferbench does, or if no case has a verified number."""

    def __init__(self, name, parameters=""):
        super().__init__(name, parameters)
        self._bin_name = "xferbench"

    def add_parser_arguments(self):
        super().add_parser_arguments()
        self._parser.add_argument("--suite", default="quick", help="Name or file of the suite. Default is quick.")
        self._parser.add_argument("--flags", default="", help="Further flags of xferbench, as one text.")

    def _preprocess(self):
        if not super()._preprocess():
            return False
        # Standard error is part of the output that SuperBench reads, so nothing else may be printed.
        words = [os.path.join(self._args.bin_dir, self._bin_name), "--suite", self._args.suite, "--quiet"]
        self._commands.append(" ".join([shlex.join([*words, "--format", "bmf"]), self._args.flags]).strip())
        return True

    def _process_raw_result(self, cmd_idx, raw_output):
        self._result.add_raw_data(f"raw_output_{cmd_idx}", raw_output, self._args.log_raw_data)
        try:
            numbers = json.loads(raw_output)
        except ValueError as error:
            logger.error("Output is not JSON - benchmark: {}, message: {}.".format(self._name, error))
            return False
        for case, measures in numbers.items():
            for measure, number in measures.items():
                self._result.add_result(metric_name(case, measure), number["value"])
        return bool(numbers)


BenchmarkRegistry.register_benchmark("xferbench", XferbenchBenchmark, platform=Platform.CUDA)

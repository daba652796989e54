"""The recording library in a test program that can end in many ways, with a stand-in for CUPTI:
test_inject.py LIBRARY FAKE_CUPTI VICTIM [CLASS...]
The program's output and end are compared with a run without the library.
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from recording import Recording

LIBRARY, FAKE, VICTIM = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:4])
STEP = {"copy": 1, "kernel": 3, "fill": 1, "synchronization": 1, "event": 1, "call": 7}  # records of one step
EXIT, MAX_RECORDS, WINDOW, WRITE_FAILED = range(4)
# Activities that must not be enabled: KERNEL serialises kernels, GRAPH_TRACE hides graph nodes, MARKER is expensive.
NEVER = {3, 12, 51}


class Lives(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="xferbench-inject-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.recordings_folder = self.folder / "recordings"
        self.recordings_folder.mkdir()
        self.log = self.folder / "log"

    def run_alone(self, life, **extra):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("XFERBENCH")}
        environment.update({"VICTIM_FILE": str(self.folder / "theirs"), **extra})
        done = subprocess.run(
            [VICTIM, life], env=environment, capture_output=True, timeout=60, check=False, cwd=self.folder
        )
        (self.folder / "theirs").unlink(missing_ok=True)
        return done.returncode, done.stdout, done.stderr

    def live(self, life, alone=True, **request):
        """Runs the victim with the library. Returns its recordings in order of modification.
        request: max="5" sets XFERBENCH_RECORD_MAX; upper-case names are set as they are."""
        variables = {
            "CUDA_INJECTION64_PATH": LIBRARY,
            "NVTX_INJECTION64_PATH": LIBRARY,
            "XFERBENCH_RECORD_FOLDER": str(self.recordings_folder),
            "XFERBENCH_RECORD_CUPTI": FAKE,
            "FAKE_CUPTI_LOG": str(self.log),
        }
        for name, value in request.items():
            variables[name if name.isupper() else f"XFERBENCH_RECORD_{name.upper()}"] = value
        watched = self.run_alone(life, **variables)
        if alone:
            self.assertEqual(watched, self.run_alone(life), "with the library and without")
        self.ended = watched
        files = sorted(self.recordings_folder.iterdir(), key=lambda file: file.stat().st_mtime_ns)
        return [Recording(file) for file in files]

    def live_once(self, life, **request):
        recordings = self.live(life, **request)
        self.assertEqual(len(recordings), 1)
        return recordings[0]

    def logged(self, function):
        """(process, arguments...) of each call of this CUPTI function."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [tuple(map(int, line.split()[1:])) for line in lines if line.split()[0] == function]

    def assert_steps(self, recording, steps):
        for word, each in STEP.items():
            self.assertEqual(len(getattr(recording, word)), each * steps, word)

    def assert_ends(self, recording, reason):
        self.assertEqual([end.reason for end in recording.end], [reason])
        self.assertEqual(recording.order[-1], "end")


class Ends(Lives):
    def test_in_order(self):
        for life, code in ("seven", 7), ("exits", 3):
            with self.subTest(life):
                recording = self.live(life)[-1]
                self.assertEqual(self.ended[0], code)
                self.assert_steps(recording, 5)
                self.assert_ends(recording, EXIT)

    def test_with_what_still_runs(self):
        recording = self.live_once("seven", FAKE_CUPTI_RUNNING="1")
        self.assert_steps(recording, 5)
        flags = [flags for _, flags, _ in self.logged("cuptiActivityFlushAll")]
        self.assertEqual((flags[-1], flags.count(1)), (1, 1), "forced, and only at the end")

    def test_after_some_seconds_where_cupti_hangs(self):
        begun = time.monotonic()
        self.assert_ends(self.live_once("seven", FAKE_CUPTI_STUCK="1"), EXIT)
        self.assertLess(time.monotonic() - begun, 20)

    def test_without_order(self):
        for life, end in ("aborts", -signal.SIGABRT), ("killed", -signal.SIGKILL), ("crashes", -signal.SIGSEGV):
            with self.subTest(life):
                recording = self.live(life)[-1]
                self.assertEqual(self.ended[0], end)
                self.assert_steps(recording, 5)
                self.assertEqual(recording.end, [])
                self.assertEqual({flags for _, flags, _ in self.logged("cuptiActivityFlushAll")}, {0})

    def test_at_once(self):
        for life in "killed_at_once", "leaves":
            with self.subTest(life):
                recording = self.live(life)[-1]
                self.assertEqual(recording.order[:1], ["process"])
                self.assertEqual(recording.end, [])

    def test_past_its_handlers(self):
        recording = self.live_once("leaves_late")
        self.assertEqual(self.ended[0], 4)
        self.assert_steps(recording, 5)

    def test_in_a_handler_of_a_signal(self):
        for _ in range(3):  # mostly within CUPTI, which then cannot hand over its records
            recording = self.live("ends_in_a_handler")[-1]
            self.assertEqual(self.ended[0], 6)
            self.assert_ends(recording, EXIT)

    def test_in_a_handler_of_a_signal_and_soon(self):
        """The signal mostly arrives within the library, which delays it until it has left its own code."""
        for _ in range(30):
            begun = time.monotonic()
            recording = self.live("ends_in_a_handler", alone=False, cupti="/nowhere")[-1]
            self.assertEqual(self.ended[0], 6)
            self.assert_ends(recording, EXIT)
            self.assertLess(time.monotonic() - begun, 10)

    def test_under_its_threads(self):
        for _ in range(3):
            recording = self.live("ends_under_threads")[-1]
            self.assertEqual(self.ended[0], 7)
            self.assert_ends(recording, EXIT)
            self.assertGreater(len(recording.copy), 10)


class Becomes(Lives):
    def test_two(self):
        recording = self.live_once("forks")
        self.assertEqual(self.ended[1], b"worked\nchild 5\n")
        self.assert_steps(recording, 6)
        self.assert_ends(recording, EXIT)
        callers = {line.split()[1] for line in self.log.read_text().splitlines()}
        self.assertEqual(callers, {str(recording.process[0].pid)}, "no call of CUPTI in a child")

    def test_two_before_it_begins(self):
        recordings = self.live("forks_first")
        self.assertEqual(len(recordings), 2)
        for recording in recordings:
            self.assert_steps(recording, 5)
            self.assert_ends(recording, EXIT)
        child, parent = recordings
        self.assertEqual(child.process[0].parent, parent.process[0].pid)

    def test_two_with_ranges_alone(self):
        child, parent = sorted(self.live("forks_from_ranges"), key=lambda one: len(one.order), reverse=True)
        self.assertEqual(child.process[0].parent, parent.process[0].pid)
        self.assert_steps(child, 5)
        self.assertEqual([one.name for one in child.range], ["child"])
        self.assertEqual([one.name for one in parent.range], ["parent"])
        self.assertGreater(child.process[0].begin, parent.process[0].begin)

    def test_another_program(self):
        first, second = self.live("executes")
        self.assertEqual(self.ended[0], 7)
        self.assertEqual(first.process[0].pid, second.process[0].pid)
        self.assert_steps(first, 5)
        self.assertEqual(first.end, [])
        self.assert_steps(second, 5)
        self.assert_ends(second, EXIT)
        self.assertGreater(second.process[0].begin, first.process[0].loaded, "it began when it was loaded")
        self.assertRegex(second.process[0].command, "seven$")

    def test_one_without_descriptors(self):
        recording = self.live_once("closes_all")
        self.assertEqual(self.ended[1], b"worked\nmany files, 0 bytes\n")
        self.assert_steps(recording, 10)
        self.assert_ends(recording, EXIT)

    def test_one_elsewhere(self):
        self.assert_steps(self.live_once("changes_folder"), 10)


class Troubles(Lives):
    def assert_notes(self, recording, text):
        self.assertEqual([note.failure for note in recording.note], [1])
        self.assertIn(text, recording.note[0].text)
        self.assertRegex(recording.note[0].text, r"^No CUDA activity could be recorded: ")
        self.assertEqual(recording.copy, [])
        self.assert_ends(recording, EXIT)

    def test_no_cupti(self):
        self.assert_notes(self.live_once("seven", cupti="/nowhere/libcupti.so"), "/nowhere/libcupti.so")

    def test_no_cupti_at_all(self):
        self.assert_notes(self.live_once("seven", cupti=LIBRARY), "lacks functions")

    def test_another_cupti(self):
        self.assert_notes(self.live_once("seven", FAKE_CUPTI_VERSION="150000"), "from CUDA 15")

    def test_cupti_in_use(self):
        self.assert_notes(self.live_once("seven", FAKE_CUPTI_BUSY="1"), "another tool in this program uses CUPTI")
        self.assertEqual(self.logged("cuptiActivityRegisterCallbacks"), [], "that would take the other tool's records")
        self.assertEqual(self.logged("cuptiActivityEnable"), [])

    def test_cupti_that_refuses(self):
        for error, reason in (
            (14, "CUPTI_ERROR_PRETENDED; is the driver older"),
            (35, "CUPTI_ERROR_PRETENDED: the driver allows profiling to administrators only"),
            (43, "CUPTI_ERROR_PRETENDED: this kind of GPU cannot be profiled here"),
        ):
            with self.subTest(error):
                for file in (self.log, *self.recordings_folder.iterdir()):
                    file.unlink(missing_ok=True)
                self.assert_notes(self.live_once("seven", FAKE_CUPTI_REFUSES=str(error)), reason)
                self.assertEqual(len(self.logged("cuptiUnsubscribe")), 1)

    def test_a_full_disk(self):
        recording = self.live_once("fills_the_disk")
        self.assertEqual(self.ended[0], 7)
        self.assert_ends(recording, WRITE_FAILED)
        self.assertEqual(recording.end[0].error, 27)  # EFBIG
        self.assertGreater(len(recording.copy), 5)
        self.assertGreater(len(self.logged("cuptiActivityDisable")), 5, "nothing more is recorded")

    def test_a_full_disk_and_a_handler_for_it(self):
        self.live("handles_size_signal")
        self.assertEqual(self.ended[:2], (0, b"handler there\n"))

    def test_a_disk_that_was_full_before(self):
        self.assertEqual(self.live("no_disk"), [])
        self.assertEqual(self.ended[0], 7)

    def test_no_folder(self):
        self.assertEqual(self.live("seven", folder=str(self.folder / "none")), [])
        self.assertEqual(self.logged("cuptiSubscribe"), [])

    def test_nobody_asks(self):
        self.assertEqual(self.live("seven", folder=""), [])

    def test_a_program_without_cuda(self):
        self.assertEqual(self.live("uses_nothing"), [])

    def test_cancelled_threads(self):
        recording = self.live_once("cancels")
        self.assertEqual(self.ended[0], 7)
        self.assert_ends(recording, EXIT)

    def test_errno(self):
        self.live_once("keeps_errno")
        self.assertEqual(self.ended[1], b"worked\nerrno 1\n")

    def test_lost_records(self):
        self.assertEqual(sum(lost.dropped for lost in self.live_once("drops").lost), 12)

    def test_a_reset(self):
        self.assert_steps(Counted(self.live_once("resets")), 5)
        self.assertIn(1, {flags for _, flags, _ in self.logged("cuptiActivityFlushAll")}, "forced")


class Counted:
    """A recording without calls of cudaDeviceReset."""

    def __init__(self, recording):
        self._recording = recording

    def __getattr__(self, word):
        return [one for one in getattr(self._recording, word) if getattr(one, "name", "") != "cudaDeviceReset"]


class Holds(Lives):
    def test_what_was_done(self):
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        recording = self.live_once("seven", alone=False)
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        process = recording.process[0]
        grain = 20_000_000  # resolution of process start times
        self.assertLess(before - grain, process.begin)
        self.assertLessEqual(process.begin, process.loaded)
        self.assertLess(abs(process.clock - time.time_ns()), 20_000_000_000)
        self.assertEqual((process.parent, process.backend), (os.getpid(), 0))
        self.assertEqual(process.executable, VICTIM)
        self.assertEqual(process.command, f"{VICTIM} seven")
        self.assertRegex(process.tool, r"^\d+\.\d+")
        self.assertEqual(recording.device[0].name, "Pretended GPU")
        self.assertEqual(recording.device[0].uuid, "GPU-00112233-4455-6677-8899-aabbccddeeff")
        self.assertEqual(recording.device[0].multiprocessors, 132)
        self.assertEqual([(s.context, s.stream, s.flag) for s in recording.stream], [(1, 7, 3), (1, 13, 2)])
        for copy in recording.copy:
            self.assertTrue(process.loaded < copy.begin < copy.end < after)
            self.assertEqual((copy.bytes, copy.kind, copy.source, copy.destination), (4 << 20, 1, 1, 3))
            self.assertEqual((copy.channel, copy.channel_id, copy.asynchronous, copy.stream), (2, 3, 1, 13))
        self.assertEqual({kernel.name for kernel in recording.kernel}, {"fill"})
        self.assertEqual({(kernel.grid, kernel.block) for kernel in recording.kernel}, {(24, 256)})
        self.assertEqual([kernel.graph_node for kernel in recording.kernel][:3], [0, 77, 0])
        self.assertEqual(sum(kernel.begin == 0 for kernel in recording.kernel), 5)
        self.assertEqual({fill.bytes for fill in recording.fill}, {512})

    def test_calls_that_matter(self):
        recording = self.live_once("seven", alone=False)
        counts = {}
        for call in recording.call:
            counts[call.name] = counts.get(call.name, 0) + 1
        self.assertEqual(counts, {"cudaMemcpyAsync": 5, "cudaLaunchKernel": 10, "cudaGraphLaunch": 5,
                                  "cudaMemsetAsync": 5, "cudaEventRecord": 5, "cudaStreamSynchronize": 5})
        by_number = {call.correlation: call.name for call in recording.call}
        self.assertEqual({by_number[copy.correlation] for copy in recording.copy}, {"cudaMemcpyAsync"})
        self.assertEqual({wait.kind for wait in recording.synchronization}, {3})
        events = [event.record for event in recording.event]
        self.assertEqual([wait.event_record for wait in recording.synchronization], events)
        self.assertNotIn(0, events)
        self.assertEqual({call.thread for call in recording.call}, {recording.process[0].pid})

    def test_that_cupti_is_asked_in_order(self):
        self.live_once("seven", alone=False)
        functions = [line.split()[0] for line in self.log.read_text().splitlines()]
        clock = functions.index("cuptiActivityRegisterTimestampCallback")
        self.assertLess(clock, functions.index("cuptiActivityEnable"), "times of one clock")
        kinds = {kind for _, kind, _ in self.logged("cuptiActivityEnable")}
        self.assertEqual(kinds & NEVER, set())
        self.assertEqual({kind for _, kind, _ in self.logged("cuptiActivityDisable")}, set())

    def test_no_stacks_unless_asked(self):
        self.assertEqual({call.stack for call in self.live_once("seven", alone=False).call}, {0})
        self.assertEqual(len(self.logged("cuptiEnableCallback")), 3, "new contexts, resets, copies")

    def test_what_copies_do_with_memory(self):
        """Each copy touches 4 MiB of new memory, in 1024 pages, or in 2 or more huge ones."""
        recording = self.live_once("seven", alone=False)
        usages = recording.usage
        self.assertEqual(len(usages), len(recording.copy))
        self.assertEqual({usage.correlation for usage in usages}, {copy.correlation for copy in recording.copy})
        for usage in usages:
            self.assertGreaterEqual(usage.faults_until_end - usage.faults_before, 2)
            self.assertEqual(usage.source_file, "")
        self.assertGreater(usages[0].read_before, 0)

    def test_files_that_it_reads(self):
        half = 2 << 20
        reads = self.live_once("reads_a_file", LD_PRELOAD=LIBRARY).file_read
        self.assertEqual([(one.offset, one.bytes) for one in reads], [(0, 2 * half), (0, half), (half, half)])
        self.assertEqual({one.file for one in reads}, {str(self.folder / "theirs")})
        self.assertEqual(self.live("reads_a_file")[-1].file_read, [], "not preloaded")

    def test_what_other_processes_use(self):
        recording = self.live_once("has_workers", alone=False)
        samples = [sample for sample in recording.workers if sample.children == 2]
        self.assertGreaterEqual(len(samples), 2, "each half second")
        self.assertGreater(samples[-1].cpu - samples[0].cpu, 1e7)
        self.assertGreater(recording.usage[0].cpu_before, 0)

    def test_mig_instances_have_their_own_uuid(self):
        devices = self.live_once("seven", alone=False, FAKE_CUPTI_MIG="1").device
        self.assertEqual([device.uuid for device in devices], ["MIG-00000000-0000-0000-0000-000000000007"])

    def test_mapped_files_are_named(self):
        model = self.folder / "a model.bin"
        model.write_bytes(bytes(4 << 20))
        usages = self.live_once("seven", alone=False, FAKE_CUPTI_SOURCE=str(model)).usage
        self.assertEqual({usage.source_file for usage in usages}, {str(model)})

    def test_stacks(self):
        recording = self.live_once("seven", stacks="1", alone=False)
        for call in recording.call:
            stack = recording.stacks[call.stack]
            self.assertTrue(any("(victim)" in frame for frame in stack), stack)
            self.assertFalse(any("xferbench-inject" in frame for frame in stack), stack)
        self.assertTrue(any(frame.startswith("fake_cuda_steps+0x") for frame in recording.stacks[1]))
        self.assertLess(len(recording.stacks), 15, "the same once")

    def test_ranges(self):
        recording = self.live_once("names_ranges")
        ranges = {one.name: one for one in recording.range}
        wide = "gr\u00f6\u00dfer \U0001F600"
        self.assertEqual(set(ranges), {"before CUDA", "registered", wide, "inner", "across", "open"})
        self.assertEqual(ranges["registered"].domain, "mine")
        self.assertEqual(ranges["inner"].domain, "")
        outer, inner = ranges["registered"], ranges["inner"]
        self.assertTrue(outer.begin < inner.begin < inner.end < outer.end)
        self.assertEqual((ranges["across"].of_process, ranges["inner"].of_process), (1, 0))
        self.assertEqual(ranges["open"].end, 0)
        self.assertEqual({one.thread for one in recording.range}, {recording.call[0].thread})
        self.assert_steps(recording, 1)
        self.assert_ends(recording, EXIT)


class Limits(Lives):
    def test_records(self):
        recording = self.live_once("works_much", max="1000")
        self.assert_ends(recording, MAX_RECORDS)
        self.assertEqual(sum(map(len, recording.records.values())), 1000 + 1)

    def test_seconds(self):
        recording = self.live_once("works_long", **{"from": "1", "for": "1.5"})
        self.assert_ends(recording, WINDOW)
        process = recording.process[0]
        begin, end = process.begin + 1_000_000_000, process.begin + 2_500_000_000
        self.assertEqual(recording.end[0].time, end)
        for word in "copy", "call", "synchronization":
            times = [one.begin for one in getattr(recording, word)]
            self.assertTrue(begin <= min(times) and max(times) <= end, word)
        # A copy every 0.1 s on an idle machine; a busy one has fewer.
        self.assertTrue(2 <= len(recording.copy) <= 16, len(recording.copy))
        self.assertEqual(len(recording.stream), 2, "what came before and is needed")
        self.assertGreater(len(self.logged("cuptiActivityDisable")), 5)

    def test_seconds_that_are_not_over(self):
        recording = self.live_once("seven", **{"for": "100"})
        self.assert_steps(recording, 5)
        self.assert_ends(recording, EXIT)

    def test_ranges_of_a_name(self):
        recording = self.live_once("works_in_ranges", range="step")
        self.assertEqual(len(recording.copy), 5, "all but what came before the first")
        ranges = recording.range
        outer = [one for one in ranges if any(one.begin < other.begin and other.end < one.end for other in ranges)]
        self.assertEqual((len(recording.range), len(outer)), (6, 3))
        inside = [copy for copy in recording.copy if any(one.begin <= copy.begin <= one.end for one in outer)]
        self.assertEqual(len(inside), 3)
        self.assertEqual(len(recording.device), 1)
        usages = recording.process_usage
        self.assertLess(usages[0].time, ranges[0].begin)
        self.assertGreater(usages[-1].time, ranges[-1].end)
        self.assertTrue(0 < usages[0].read <= usages[-1].read and 0 < usages[0].faults <= usages[-1].faults)
        self.assertGreaterEqual(len(usages), 4, "before the first range and after each")

    def test_managed_memory_of_each_gpu(self):
        self.live_once("uses_two_gpus")
        asked = [given[1:] for given in self.logged("cuptiActivityConfigureUnifiedMemoryCounter")]
        self.assertEqual(asked, [(2, 0), (2, 1)])

    def test_ranges_alone(self):
        recording = self.live_once("works_in_ranges", only_ranges="1")
        self.assertEqual(len(recording.range), 6)
        self.assertEqual((recording.copy, recording.note, recording.process_usage), ([], [], []))
        self.assertEqual(self.logged("cuptiSubscribe"), [])
        self.assert_ends(recording, EXIT)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])

// How a recorded program was run: the file run.json next to the recordings of its processes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xferbench {

struct RecordedRun {
  std::vector<std::string> command;
  std::string started_at;  ///< ISO 8601, UTC
  std::string version;
  std::string range{};                   ///< NVTX range to analyze; empty: the whole program
  double from = 0;                       ///< seconds after a process's start at which recording began
  std::uint32_t pid = 0;                 ///< process id of the started process in the run whose recording was kept
  std::uint64_t begin = 0;               ///< when the process was started, in nanoseconds of CLOCK_MONOTONIC
  std::uint64_t end = 0;                 ///< when the process ended, in nanoseconds of CLOCK_MONOTONIC
  std::vector<double> baseline{};        ///< seconds of the whole program in each run without the profiler
  std::vector<double> profiled{};        ///< seconds of the whole program in each run with the profiler
  std::vector<double> baseline_range{};  ///< seconds of the NVTX range (`range`) in each run without the profiler
  int exit_code = 0;  ///< exit code of the program in the kept run (see `pid`); 0 if a signal ended it
  int signal = 0;     ///< signal that ended the program in the kept run (see `pid`); 0: none
  /// Returns the duration of the run whose recording was kept, in seconds.
  [[nodiscard]] double seconds() const { return 1e-9 * static_cast<double>(end - begin); }
  friend bool operator==(const RecordedRun&, const RecordedRun&) = default;
};

/// Reads run.json. Throws InputError with one line: the place in the file, what is wrong, and what was expected.
RecordedRun read_recorded_run(const std::string& path);
/// Parses the text of a file run.json; `name` is used in messages.
RecordedRun parse_recorded_run(std::string_view text, std::string_view name);
std::string to_json(const RecordedRun& run);
/// Returns the contents of docs/recording-run-schema.json.
std::string recorded_run_schema();

}  // namespace xferbench

// How a program was run to be recorded: the file run.json beside the recordings of its processes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xferbench {

struct RecordedRun {
  std::vector<std::string> command;
  std::string started_at;            ///< ISO 8601, UTC
  std::string version;               ///< of this program
  std::string range{};               ///< NVTX range that was asked for; empty: the whole program
  double from = 0;                   ///< seconds after a process's start at which recording began
  std::uint32_t pid = 0;             ///< of the process that was started, in the run that was kept
  std::uint64_t begin = 0;           ///< when it was started, in nanoseconds of CLOCK_MONOTONIC ...
  std::uint64_t end = 0;             ///< ... and when it ended
  std::vector<double> bare{};        ///< seconds of the whole program, each time that it ran unwatched
  std::vector<double> watched{};     ///< and watched
  std::vector<double> bare_range{};  ///< seconds of the range, each time that the program ran unwatched
  int exit_code = 0;                 ///< of the run that was kept; 0 where a signal ended it
  int signal = 0;                    ///< that ended it
  /// That the kept run took.
  [[nodiscard]] double seconds() const { return 1e-9 * static_cast<double>(end - begin); }
  friend bool operator==(const RecordedRun&, const RecordedRun&) = default;
};

/// Throws InputError with one line that says where in the file something is wrong, and what was expected.
RecordedRun read_recorded_run(const std::string& path);
/// The same of a text; `name` is what messages call it.
RecordedRun parse_recorded_run(std::string_view text, std::string_view name);
std::string to_json(const RecordedRun& run);
/// What docs/recording-run-schema.json says.
std::string recorded_run_schema();

}  // namespace xferbench

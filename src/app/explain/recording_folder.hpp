// Reads recordings from disk. A recording is a folder with one file for each process, a file that says how the program
// was run, and a file with the machine's limits.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "results/recorded_run.hpp"
#include "results/recording_file.hpp"
#include "results/result.hpp"

namespace xferbench::app {

inline constexpr const char* kRunFile = "run.json";
inline constexpr const char* kLimitsFile = "limits.json";

struct RecordingFolder {
  RecordedRun run{};
  std::vector<Recording> recordings{};
  std::optional<Report> limits{};
  std::vector<std::string> warnings{};
  /// signal that stopped the program before any profiled run was complete, in which case all other members are empty;
  /// 0: none
  int given_up = 0;
  std::string no_trace{};  ///< why nothing was recorded, as a sentence; empty if unknown or if there are recordings
  /// Returns the program's exit code as a shell reports it: 128 plus the signal number if a signal ended it.
  [[nodiscard]] int code() const { return run.signal > 0 ? 128 + run.signal : run.exit_code; }
};

/// Returns all recordings in a folder, sorted by file name. An unreadable recording only adds a warning, because the
/// others are still useful.
std::vector<Recording> read_recordings(const std::filesystem::path& folder, std::vector<std::string>& warnings);

/// Reads the folder that the command names. Throws InputError if the path is not a folder or the folder contains no
/// readable recording, and UsageError if the path is a program.
RecordingFolder read_recording_folder(const cli::ExplainCommand& command);

}  // namespace xferbench::app

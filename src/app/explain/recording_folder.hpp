// A recording on the disk: a folder with a file for each process, how the program was run, and the machine's limits.
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
  int given_up = 0;        ///< the signal that ended the run before a profiled run; then all else is empty
  std::string no_trace{};  ///< why nothing could be recorded, as a sentence
  /// The exit code of the program, as a shell reports it.
  [[nodiscard]] int code() const { return run.signal > 0 ? 128 + run.signal : run.exit_code; }
};

/// All recordings in a folder, sorted by file name. An unreadable one adds a warning, because the others are still
/// useful.
std::vector<Recording> read_recordings(const std::filesystem::path& folder, std::vector<std::string>& warnings);

/// Reads the folder that the command names. Throws InputError if it is not a folder or contains no readable recording,
/// UsageError if the path is a program.
RecordingFolder read_recording_folder(const cli::ExplainCommand& command);

}  // namespace xferbench::app

// What a recording is on the disk: a folder with a file for each process, how they were run, and what the machine can
// do.
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
  int given_up = 0;     ///< the signal that ended the run before the program was watched, so that there is nothing here
  std::string blind{};  ///< why nothing could be recorded: a sentence
  /// The exit code of the program, as a shell says it.
  [[nodiscard]] int code() const { return run.signal > 0 ? 128 + run.signal : run.exit_code; }
};

/// All recordings in a folder, by their files' names. One that cannot be read is a warning: the others still tell
/// something.
std::vector<Recording> read_recordings(const std::filesystem::path& folder, std::vector<std::string>& warnings);

/// The folder that the command names. Throws InputError where it is none, or nothing in it can be read.
RecordingFolder read_recording_folder(const cli::ExplainCommand& command);

}  // namespace xferbench::app

#include "app/explain/recording_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "app/explain/machine_limits.hpp"
#include "core/error.hpp"
#include "recording/recording.hpp"
#include "results/json.hpp"

namespace xferbench::app {

namespace fs = std::filesystem;

std::vector<Recording> read_recordings(const fs::path& folder, std::vector<std::string>& warnings) {
  std::vector<fs::path> files;
  std::error_code unknown;
  for (const auto& entry : fs::directory_iterator(folder, unknown)) {
    if (entry.path().extension() == recording::kExtension) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<Recording> recordings;
  for (const fs::path& file : files) {
    try {
      recordings.push_back(read_recording(file.string()));
    } catch (const InputError& error) {
      warnings.emplace_back(error.what());
    }
  }
  return recordings;
}

namespace {

/// Throws if the path is not a folder. The message explains the likely mistake: a program in place of a recording.
void refuse_what_is_no_folder(const std::string& path) {
  std::error_code unknown;
  if (fs::is_directory(path, unknown)) return;
  if (fs::exists(path, unknown) && access(path.c_str(), X_OK) == 0) {
    throw UsageError(
        fmt::format("{0} is a program, not a recording: write it after --, as in xferbench explain -- {0}", path));
  }
  if (fs::exists(path, unknown)) {
    throw InputError(
        fmt::format("{} is not a recording: a recording is a folder made by explain --recording FOLDER", path));
  }
  throw InputError(
      fmt::format("there is no folder {}; write a program to run after --, as in xferbench explain -- {}", path, path));
}

}  // namespace

RecordingFolder read_recording_folder(const cli::ExplainCommand& command) {
  refuse_what_is_no_folder(command.folder);
  const fs::path path = command.folder;
  std::error_code unknown;
  if (!fs::exists(path / kRunFile, unknown)) {
    throw InputError(fmt::format("{} is not a recording: it lacks {}, which explain --recording FOLDER writes",
                                 command.folder, kRunFile));
  }
  RecordingFolder folder;
  folder.run = read_recorded_run((path / kRunFile).string());
  folder.recordings = read_recordings(path, folder.warnings);
  if (folder.recordings.empty() && !folder.warnings.empty()) throw InputError(folder.warnings.front());
  if (command.limits || command.simulate) {
    folder.limits = machine_limits(command, folder.recordings, folder.warnings);
  } else if (fs::exists(path / kLimitsFile, unknown)) {
    folder.limits = read_report((path / kLimitsFile).string());
  } else {
    folder.warnings.emplace_back(
        "The recording does not contain the limits of its machine: run xferbench --suite limits --json FILE there, and "
        "give --limits FILE");
  }
  return folder;
}

}  // namespace xferbench::app

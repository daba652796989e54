// `--resume FILE`: goes on with the cases that a results file does not have yet.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/live_report.hpp"
#include "app/session.hpp"
#include "cli/command.hpp"
#include "device/device.hpp"
#include "results/output_file.hpp"
#include "results/result.hpp"

namespace xferbench::app {

/// A results file, and the command that it came from.
struct StoredRun {
  std::string file;
  ResultsFile json;  ///< the file, locked
  Report report;
  cli::RunCommand command;  ///< without its files
};

/// Throws InputError if the file cannot be read, OutputError if it could not be gone on with (another process does),
/// UsageError if its command cannot be resumed.
StoredRun read_run(const std::string& file);

/// Results of two machines, drivers or builds (`before` and `tool` are those of the file) do not belong into one file.
/// Throws UsageError.
void refuse_another_machine(const std::string& file, const Environment& before, const Tool& tool, const Device& device);

/// By their indexes among the cases of the run.
struct ResumePlan {
  KnownResults known;                ///< all that the file has, of cases that are run again, too
  std::vector<std::size_t> missing;  ///< cases that are not in the file, were interrupted there, or skipped
};

/// Takes the results out of `stored`. Throws UsageError where the file has cases that its command does not have (any
/// more), InputError where nothing can be concluded from its results.
ResumePlan what_is_left(StoredRun& stored, const std::vector<PlannedCase>& cases);

/// What was skipped for a reason that still holds on this device is not missing.
void leave_skipped(ResumePlan& left, const std::vector<PlannedCase>& cases, Machine& machine, bool verify);

/// The report of the whole run, without results: begun when the first part was.
Report continue_report(const StoredRun& stored, const Device& device, Descriptors scenarios);

}  // namespace xferbench::app

// `--resume FILE`: continues with the cases that a results file does not have yet.
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

/// A results file, and the command that produced it.
struct StoredRun {
  std::string file;
  ResultsFile json;  ///< the file, locked
  Report report;
  cli::RunCommand command;  ///< command of the run, without its output files
};

/// Throws InputError if the file cannot be read, OutputError if it cannot be continued (another process does so),
/// UsageError if its command cannot be resumed.
StoredRun read_run(const std::string& file);

/// Refuses to mix results of two machines, drivers or builds in one file. `before` and `tool` are those of the file.
/// Throws UsageError.
void refuse_another_machine(const std::string& file, const Environment& before, const Tool& tool, const Device& device);

/// What is left to do of a run. Indexes are into the cases of its command.
struct ResumePlan {
  KnownResults known;                ///< all results in the file, also of cases that are run again
  std::vector<std::size_t> missing;  ///< cases that are not in the file, were interrupted there, or skipped
};

/// Moves the results out of `stored`. Throws UsageError if the file has cases that its command no longer has,
/// InputError if a scenario cannot draw conclusions from its results.
ResumePlan resume_plan(StoredRun& stored, const std::vector<PlannedCase>& cases);

/// Removes from `missing` the cases whose reason to be skipped still holds on this device.
void drop_still_skipped(ResumePlan& left, const std::vector<PlannedCase>& cases, Machine& machine, bool verify);

/// The report of the whole run without results. Its start is that of the first part.
Report continue_report(const StoredRun& stored, const Device& device, Descriptors scenarios);

}  // namespace xferbench::app

// Implements `--resume FILE`, which measures the cases that are missing in a results file.
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
  ResultsFile json;  ///< the open file, which is locked against other processes
  Report report;
  cli::RunCommand command;  ///< command of the original run, without its output files
};

/// Reads and locks the results file of an interrupted run. Throws InputError if the file cannot be read, OutputError if
/// it cannot be continued (for example because another process is writing it), and UsageError if its command cannot be
/// resumed.
StoredRun read_run(const std::string& file);

/// Throws UsageError if this machine, driver or build differs from that of the file (`before` and `tool`), because one
/// file must not mix results of different machines, drivers or builds.
void refuse_another_machine(const std::string& file, const Environment& before, const Tool& tool, const Device& device);

/// The cases of a run that are still to be measured. Indexes are into the cases of its command.
struct ResumePlan {
  KnownResults known;                ///< all results in the file, including those of cases that are measured again
  std::vector<std::size_t> missing;  ///< indexes of cases that are not in the file, or that were interrupted or skipped
};

/// Moves the results out of `stored` and finds the cases that are missing. Throws UsageError if the file has cases that
/// its command no longer has, and InputError if a scenario cannot derive findings from the stored results.
ResumePlan resume_plan(StoredRun& stored, const std::vector<PlannedCase>& cases);

/// Removes those skipped cases from `left.missing` whose reason for being skipped still holds on this device.
void drop_still_skipped(ResumePlan& left, const std::vector<PlannedCase>& cases, Machine& machine, bool verify);

/// Returns the report of the whole run without results. Its start time is that of the original process.
Report continue_report(const StoredRun& stored, const Device& device, Descriptors scenarios);

}  // namespace xferbench::app

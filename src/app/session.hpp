// What every command that measures does around its measuring: opens the device, keeps a report and the file that
// follows it, says what was doubtful, and chooses the exit code.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "core/error.hpp"
#include "core/result.hpp"
#include "device/device.hpp"
#include "report/output.hpp"
#include "report/style.hpp"

namespace xferbench::app {

/// The GPU or its model. Throws NoDeviceError.
std::unique_ptr<Device> open_device(const cli::Command& command);

/// Colours as the user wants them; if that was not said, on a terminal.
Style style_of(const cli::Command& command);

/// A report without results. `arguments` is the command line, for the record.
Report begin_report(const std::vector<std::string>& arguments, const Device& device);

/// One line for each failed case, and one for each kind of warning: a sweep may have hundreds of the same.
void print_warnings(const Report& report);

int exit_code(const Report& report);

/// The report of a run in progress and the file that follows it. Losing the file never ends the run: the table still
/// shows the results, and the error comes last.
class LiveReport {
 public:
  /// Throws OutputError if the file cannot be written.
  LiveReport(Report report, const std::optional<std::string>& path);

  [[nodiscard]] const Report& report() const { return report_; }
  [[nodiscard]] bool owns_standard_output() const { return file_ && file_->is_standard_output(); }

  void add(const Result& result);
  /// All results anew, where later ones change what was said of earlier ones.
  void replace(std::vector<Result> results);
  void finish(std::vector<Finding> findings);

  /// Throws the error of the last attempt to write, if it failed.
  void rethrow() const;

 private:
  using Clock = std::chrono::steady_clock;

  void update();
  void attempt(bool last);

  Report report_;
  std::optional<ResultsFile> file_;
  Clock::time_point next_update_;
  std::optional<OutputError> error_;
};

}  // namespace xferbench::app

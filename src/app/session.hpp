// What every command that measures does around its measuring: opens the device, keeps a report and the file that
// follows it, says what was doubtful, and chooses the exit code.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "core/error.hpp"
#include "device/machine.hpp"
#include "report/style.hpp"
#include "results/output_file.hpp"
#include "results/result.hpp"

namespace xferbench::app {

/// This machine with the GPU that was asked for, or the modelled one. Throws NoDeviceError.
std::unique_ptr<Machine> open_machine(const cli::DeviceChoice& choice);

/// Of every scenario.
std::vector<const ScenarioDescriptor*> descriptors();
/// What the results of these scenarios may have.
MetricsDeclared declared_by(Descriptors scenarios);

/// Colours as the user wants them; if that was not said, on a terminal.
Style style_of(const cli::Presentation& show);

/// Environment variables that change what CUDA does and so belong to a result.
std::vector<std::pair<std::string, std::string>> cuda_variables();

/// A report without results, of cases of these scenarios. `arguments` is the command line, for the record.
Report begin_report(const std::vector<std::string>& arguments, const Device& device, Descriptors scenarios);

/// One line for each failed case, and one for each kind of warning: a sweep may have hundreds of the same.
void print_warnings(const Report& report);

int exit_code(const Report& report);

/// Results by the indexes of their cases, ascending.
using KnownResults = std::vector<std::pair<std::size_t, Result>>;

/// How a report becomes one of its files.
using Writer = std::function<void(const Report&, const Sink&)>;
using ToText = std::function<std::string(const Report&)>;

/// The report of a run in progress, and its files: all but the timeline follow it, which is written at the end. Losing
/// a file never ends the run: the table still shows the results, and the error comes last.
class LiveReport {
 public:
  /// `to_markdown` shows what the command's table shows. Throws OutputError if a file cannot be written, UsageError if
  /// two are the same or standard output. The files exist from now on, so that a run that is killed in its first case
  /// can be resumed, too.
  /// `known` are results of earlier, by the indexes of their cases: there is no moment without them in the files.
  LiveReport(Report report, const cli::OutputFiles& files, ToText to_markdown, const KnownResults& known = {});

  [[nodiscard]] const Report& report() const { return report_; }
  [[nodiscard]] bool owns_standard_output() const;

  /// A case's result, or what is known of it so far; results stand in the order of the cases.
  void put(std::size_t index, const Result& result);
  /// All results anew, where later ones change what was said of earlier ones.
  void replace(std::vector<Result> results);
  void finish(std::vector<Finding> findings);

  /// Throws the error of a file that could not be written in the end.
  void rethrow() const;

 private:
  using Clock = std::chrono::steady_clock;

  struct Output {
    ResultsFile file;
    Writer writer;
    bool follows;                      ///< written after each case
    std::optional<OutputError> error;  ///< of the last attempt to write
  };

  void update();
  void write(Output& output, void (ResultsFile::*how)(const TextWriter&) const) const;

  Report report_;
  std::vector<std::size_t> indexes_;  ///< of the cases of these results, ascending
  std::vector<Output> outputs_;       ///< those that were asked for
  Clock::time_point next_update_;
};

}  // namespace xferbench::app

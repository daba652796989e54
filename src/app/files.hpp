// File handling that all commands share: an output never overwrites an input, and no input is used twice.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "paper/style.hpp"
#include "paper/writers.hpp"
#include "results/output_file.hpp"
#include "results/report_format.hpp"
#include "results/result.hpp"
#include "words/soak.hpp"

namespace xferbench::app {

/// Throws UsageError if an output file is also an input, even under another path. "-" is standard input or output.
void refuse_to_overwrite(std::span<const std::string> inputs, std::span<const cli::NamedFile> outputs);

/// Throws UsageError if two paths are the same file, because each file must be from a different process.
void refuse_same_twice(std::span<const std::string> files);

/// Reads results files; "-" is standard input. Reads two files at a time, which halves the waiting time for two large
/// files; reading more at once would need too much memory. Throws the same exceptions as read_report().
std::vector<NamedReport> read_reports(const std::vector<std::string>& files);

/// The two sides of a comparison, each with one report per process.
struct Sides {
  std::vector<NamedReport> base;
  std::vector<NamedReport> new_side;
};
/// Throws UsageError if a file is given twice on one side.
Sides read_sides(const std::vector<std::string>& base, const std::vector<std::string>& new_side);

/// Returns the transfer rates in a soak test's file, in order of time. Throws InputError if the file is unreadable.
std::vector<RateSample> rates_in(const std::string& file);

void warn(const std::vector<std::string>& warnings);

/// Returns a warning for each file of --format that lacks cases of the report.
std::vector<std::string> left_out_of(const std::map<ReportFormat, std::string>& formats, const Report& report);

/// Writes the outputs of a command that judges results or recordings. The table goes to standard output unless one of
/// the files is standard output.
class JudgementFiles {
 public:
  using Text = std::function<std::string()>;
  /// Functions that produce the contents of the outputs. Each function is called only if its output was requested.
  struct Texts {
    std::function<Document()> document;
    Style style{};                      ///< style of the table on the terminal
    std::function<Document()> shown{};  ///< returns the table for the terminal; if empty, `document` is used
    MarkdownLimits limits{};
    Text json{};
    Text junit{};
    Text openmetrics{};
    TextWriter timeline{};
    TextWriter csv{};
    const Report* report = nullptr;  ///< results for the files of --format; needed if there are any
  };

  /// Opens the output files. Throws OutputError or UsageError early, before any input is read.
  JudgementFiles(const cli::OutputFiles& files, std::span<const std::string> inputs);

  [[nodiscard]] bool shows_table() const;
  /// Writes all outputs, even if writing one of them fails. Then throws OutputError for the first failure.
  void write(const Texts& texts);

 private:
  struct Output {
    std::string flag;
    ResultsFile file;
  };
  std::map<ReportFormat, std::string> formats_;
  std::vector<Output> outputs_;  ///< one entry for each requested output
};

}  // namespace xferbench::app

// Rules for all commands that read and write files: no input is overwritten, and no input is read twice.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "paper/style.hpp"
#include "paper/writers.hpp"
#include "results/output_file.hpp"
#include "results/result.hpp"
#include "words/soak.hpp"

namespace xferbench::app {

/// Throws UsageError if an output file is also an input, under any name. "-" is standard input or standard output.
void refuse_to_overwrite(std::span<const std::string> inputs, std::span<const cli::NamedFile> outputs);

/// Throws UsageError if two files that stand for different processes are the same file.
void refuse_same_twice(std::span<const std::string> files);

/// Reads results files; "-" is standard input. It reads two at a time: that halves the wait for two large ones, and
/// more would only need more memory. Throws as read_report() does.
std::vector<NamedReport> read_reports(const std::vector<std::string>& files);

/// The two sides of a comparison, with one report per process. read_sides() throws UsageError if a side has a file
/// twice.
struct Sides {
  std::vector<NamedReport> base;
  std::vector<NamedReport> new_side;
};
Sides read_sides(const std::vector<std::string>& base, const std::vector<std::string>& new_side);

/// The rates in a soak's file in order of time, for charts. Throws InputError.
std::vector<RateSample> rates_in(const std::string& file);

void warn(const std::vector<std::string>& warnings);

/// The output files of a command that judges results or recordings. The table goes to standard output, unless one of
/// the files does.
class JudgementFiles {
 public:
  using Text = std::function<std::string()>;
  /// Functions that produce the outputs; each one is called only if its output was requested.
  struct Texts {
    std::function<Document()> document;
    Style style{};                      ///< of the table on the terminal
    std::function<Document()> shown{};  ///< the table on the terminal; absent: `document` is shown
    MarkdownLimits limits{};            ///< for the Markdown file
    Text json{};
    Text junit{};
    Text openmetrics{};
    TextWriter timeline{};
  };

  /// Throws OutputError or UsageError before anything is read, so that a typo costs no work.
  JudgementFiles(const cli::OutputFiles& files, std::span<const std::string> inputs);

  [[nodiscard]] bool shows_table() const;
  /// Writes all outputs, even if one of them fails. Then throws OutputError for the first failure.
  void write(const Texts& texts);

 private:
  struct Output {
    std::string_view flag;
    ResultsFile file;
  };
  std::vector<Output> outputs_;  ///< only the requested outputs
};

}  // namespace xferbench::app

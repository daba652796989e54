// What every command keeps to that reads files and writes files: nothing that it reads is lost, nothing is read twice.
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

/// Throws UsageError if a file that is to be written is one of those that the command reads, by whatever name. "-" is
/// standard input and standard output.
void refuse_to_overwrite(std::span<const std::string> inputs, std::span<const cli::NamedFile> outputs);

/// Throws UsageError if two of the files that stand for different processes are the same.
void refuse_same_twice(std::span<const std::string> files);

/// Results files; "-" is standard input. Two are read at a time: that halves the wait for two large ones, and more
/// would only need more memory at once. Throws as read_report() does.
std::vector<NamedReport> read_reports(const std::vector<std::string>& files);

/// What is compared, a report for each process. Throws UsageError where a file is there twice on one side.
struct Sides {
  std::vector<NamedReport> base;
  std::vector<NamedReport> next;
};
Sides read_sides(const std::vector<std::string>& base, const std::vector<std::string>& next);

/// The rates of a soak's file, which pages draw, in the order of time. Throws InputError.
std::vector<RateThen> rates_in(const std::string& file);

/// Each on standard error.
void warn(const std::vector<std::string>& warnings);

/// The files of a command that judges results or recordings; unless one of them is standard output, the table goes
/// there.
class JudgementFiles {
 public:
  using Text = std::function<std::string()>;
  /// What goes where; needed only where the file was asked for.
  struct Texts {
    std::function<Document()> document;
    Style style{};                      ///< of the terminal
    std::function<Document()> shown{};  ///< on the terminal, where that is another document
    MarkdownLimits limits{};            ///< of Markdown
    Text json{};
    Text junit{};
    Text openmetrics{};
    TextWriter timeline{};
  };

  /// Throws OutputError or UsageError before anything is read, so that no work is lost to a typo.
  JudgementFiles(const cli::OutputFiles& files, std::span<const std::string> inputs);

  [[nodiscard]] bool shows_table() const;
  /// All of them, also where one cannot be written. Then throws OutputError for the first of these.
  void write(const Texts& texts);

 private:
  struct Output {
    std::string_view flag;
    ResultsFile file;
  };
  std::vector<Output> outputs_;  ///< those that were asked for
};

}  // namespace xferbench::app

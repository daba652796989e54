#include "app/compare.hpp"

#include <fmt/format.h>

#include <array>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/files.hpp"
#include "app/session.hpp"
#include "compare/compare.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "report/compare/cells.hpp"
#include "report/compare/json.hpp"
#include "report/compare/markdown.hpp"
#include "report/compare/table.hpp"
#include "results/json.hpp"
#include "results/output_file.hpp"

namespace xferbench::app {

namespace {

using xferbench::compare::NamedReport;

/// Two at a time: that halves the wait for two large files, and more would only need more memory at once.
std::vector<NamedReport> read_all(const std::vector<std::string>& files) {
  std::vector<NamedReport> reports(files.size());
  const auto read = [&](std::size_t i) {
    reports[i].name = files[i] == "-" ? "standard input" : files[i];
    reports[i].report = read_report(files[i]);
  };
  for (std::size_t i = 0; i < files.size(); i += 2) {
    std::future<void> other;
    if (i + 1 < files.size()) other = std::async(std::launch::async, read, i + 1);
    read(i);
    if (other.valid()) other.get();
  }
  return reports;
}

/// With what this program knows of scenarios, for files that do not say it themselves.
xferbench::compare::Options with_declared(xferbench::compare::Options options) {
  options.metrics_declared = declared_by(descriptors());
  return options;
}

/// The files that were asked for; without one that is standard output, the table goes there.
class Outputs {
 public:
  /// Throws OutputError before anything is read, so that no work is lost to a typo.
  explicit Outputs(const cli::CompareCommand& command) {
    for (const auto* inputs : {&command.base, &command.next, &command.across}) {
      refuse_to_overwrite(
          *inputs, std::array{AskedFile{"json", command.files.json}, AskedFile{"markdown", command.files.markdown}});
    }
    if (command.files.markdown) markdown_.emplace(*command.files.markdown);
    if (command.files.json) json_.emplace(*command.files.json);
    if (markdown_ && json_) {
      cli::refuse_shared_files(
          std::array{cli::NamedFile{"markdown", markdown_->target()}, cli::NamedFile{"json", json_->target()}});
    }
    if (command.all && !shows_table()) {
      throw UsageError(
          "compare: --all is of the table, which is not shown beside --json - or --markdown -; leave it out");
    }
  }

  template <class Record, class ToTable>
  void write(const Record& record, const ToTable& to_table) const {
    if (markdown_) markdown_->finish(to_markdown(record));
    if (json_) json_->finish(to_json(record));
    if (shows_table()) write_standard_output(to_table());
  }

 private:
  [[nodiscard]] bool shows_table() const { return !is_standard_output(markdown_) && !is_standard_output(json_); }
  static bool is_standard_output(const std::optional<ResultsFile>& file) { return file && file->is_standard_output(); }

  std::optional<ResultsFile> markdown_;
  std::optional<ResultsFile> json_;
};

void warn(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) fmt::print(stderr, "xferbench: warning: {}\n", printable(warning));
}

int show_across(const cli::CompareCommand& command) {
  const Outputs outputs(command);
  const auto table = xferbench::compare::across(read_all(command.across), with_declared(command.options));
  if (!command.show.quiet) warn(table.warnings);
  outputs.write(table, [&] { return to_table(table, style_of(command.show)); });
  return static_cast<int>(ExitCode::ok);
}

ExitCode exit_code(const xferbench::compare::Comparison& comparison, bool strict) {
  if (comparison.worse()) return ExitCode::failed;
  return strict && comparison.undecided() ? ExitCode::undecided : ExitCode::ok;
}

}  // namespace

int compare(const cli::CompareCommand& command) {
  if (!command.across.empty()) return show_across(command);
  refuse_same_twice(command.base);
  refuse_same_twice(command.next);
  const Outputs outputs(command);
  std::vector<std::string> files = command.base;
  files.insert(files.end(), command.next.begin(), command.next.end());
  const std::vector<NamedReport> reports = read_all(files);
  const std::span<const NamedReport> all(reports);
  const auto comparison = xferbench::compare::compare(all.first(command.base.size()), all.subspan(command.base.size()),
                                                      with_declared(command.options));
  if (!command.show.quiet) {
    warn(comparison.warnings);
    std::vector<std::string> differences;
    for (const auto& d : comparison.differences) differences.push_back(difference_text(d));
    warn(differences);
  }
  outputs.write(comparison, [&] { return to_table(comparison, command.all, style_of(command.show)); });
  return static_cast<int>(exit_code(comparison, command.strict));
}

}  // namespace xferbench::app

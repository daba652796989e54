#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "app/commands.hpp"
#include "app/files.hpp"
#include "app/session.hpp"
#include "compare/compare.hpp"
#include "core/error.hpp"
#include "core/standard_error.hpp"
#include "report/annotations.hpp"
#include "report/compare/cells.hpp"
#include "report/compare/compare_report.hpp"
#include "results/spread_file.hpp"

namespace xferbench::app {

namespace {

/// With what this program knows of scenarios, for files that do not say it themselves.
xferbench::compare::Options with_declared(xferbench::compare::Options options) {
  options.metrics_declared = declared_by(descriptors());
  return options;
}

/// Of two records, both of which reports write alike.
template <class Record>
void write(JudgementFiles& files, const Record& record, const JudgementFiles::Text& table) {
  files.write(
      {.table = table, .json = [&] { return to_json(record); }, .markdown = [&] { return to_markdown(record); }});
}

void warn(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) tell("warning: " + warning);
}

int show_across(const cli::CompareCommand& command) {
  JudgementFiles files(command.files, command.across);
  const auto table = xferbench::compare::across(read_reports(command.across), with_declared(command.options));
  if (!command.show.quiet) warn(table.warnings);
  write(files, table, [&] { return to_table(table, style_of(command.show)); });
  return static_cast<int>(ExitCode::ok);
}

}  // namespace

int perform(const cli::CompareCommand& command) {
  if (!command.across.empty()) return show_across(command);
  refuse_same_twice(command.base);
  refuse_same_twice(command.next);
  std::vector<std::string> inputs = command.base;
  inputs.insert(inputs.end(), command.next.begin(), command.next.end());
  std::vector<std::string> read = inputs;
  if (command.spread) read.push_back(*command.spread);
  JudgementFiles files(command.files, read);
  if (command.all && !files.shows_table()) {
    throw UsageError(
        "compare: --all is of the table, which is not shown beside --json - or --markdown -; leave it out");
  }
  std::vector<NamedReport> next = read_reports(inputs);
  const auto behind_base = next.begin() + static_cast<std::ptrdiff_t>(command.base.size());
  std::vector<NamedReport> base(std::move_iterator(next.begin()), std::move_iterator(behind_base));
  next.erase(next.begin(), behind_base);
  base = by_process(std::move(base));
  next = by_process(std::move(next));
  xferbench::compare::Options options = with_declared(command.options);
  if (command.spread) options.known_spreads = read_spread(*command.spread);
  const auto comparison = xferbench::compare::compare(base, next, options);
  if (!command.show.quiet) {
    warn(comparison.warnings);
    std::vector<std::string> differences;
    for (const auto& d : comparison.differences) differences.push_back(difference_text(d));
    warn(differences);
  }
  if (command.annotations == cli::Annotations::github) {
    for (const std::string& line : github_lines(annotations_of(comparison))) show_line(line);
  }
  write(files, comparison, [&] { return to_table(comparison, command.all, style_of(command.show)); });
  return static_cast<int>(comparison.outcome.code);
}

}  // namespace xferbench::app

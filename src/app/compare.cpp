// Command `compare`: reports what changed between results files.
#include <string>
#include <vector>

#include "app/commands.hpp"
#include "app/files.hpp"
#include "app/session.hpp"
#include "compare/compare.hpp"
#include "core/error.hpp"
#include "core/lists.hpp"
#include "core/standard_error.hpp"
#include "report/annotations.hpp"
#include "report/compare/compare_report.hpp"
#include "results/spread_file.hpp"
#include "words/compare.hpp"
#include "words/compare_text.hpp"

namespace xferbench::app {

namespace {

/// Adds the declarations of this program's metrics. They are used for files that contain no metric declarations.
xferbench::compare::Options with_declared(xferbench::compare::Options options) {
  options.metrics_declared = declared_by(descriptors());
  return options;
}

/// Limits for the Markdown output, which is meant for CI. A GitHub comment may have 65,536 characters and the summary
/// of a CI step 1 MiB, so the smaller limit is used. The limit counts bytes, which are never fewer than characters.
constexpr MarkdownLimits kComment{.most = 65'000, .title_level = 3};

int show_across(const cli::CompareCommand& command) {
  JudgementFiles files(command.files, command.across);
  const auto table = xferbench::compare::across(read_reports(command.across), with_declared(command.options));
  if (!command.show.quiet) warn(table.warnings);
  files.write({.document = [&] { return document_of(table); },
               .style = style_of(command.show),
               .limits = kComment,
               .json = [&] { return to_json(table); }});
  return static_cast<int>(ExitCode::ok);
}

}  // namespace

int perform(const cli::CompareCommand& command) {
  if (!command.across.empty()) return show_across(command);
  std::vector<std::string> read = command.base;
  read.insert(read.end(), command.new_side.begin(), command.new_side.end());
  if (command.spread) read.push_back(*command.spread);
  JudgementFiles files(command.files, read);
  if (command.all && !files.shows_table()) {
    throw UsageError(
        "compare: --all needs the table, which --json -, --markdown - and --html - suppress; leave --all out");
  }
  const Sides sides = read_sides(command.base, command.new_side);
  xferbench::compare::Options options = with_declared(command.options);
  if (command.spread) options.known_spreads = read_spread(*command.spread);
  const auto comparison = xferbench::compare::compare(sides.base, sides.new_side, options);
  if (!command.show.quiet) {
    warn(comparison.warnings);
    warn(list_of(comparison.differences, difference_text));
  }
  if (command.annotations == cli::Annotations::github) {
    for (const std::string& line : github_lines(annotations_of(comparison))) show_line(line);
  }
  files.write({.document = [&] { return document_of(comparison); },
               .style = style_of(command.show),
               .shown = [&] { return document_of(comparison, command.all); },
               .limits = kComment,
               .json = [&] { return to_json(comparison); }});
  return static_cast<int>(comparison.outcome.code);
}

}  // namespace xferbench::app

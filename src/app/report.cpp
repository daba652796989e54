#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "app/commands.hpp"
#include "app/files.hpp"
#include "app/session.hpp"
#include "app/stored_cases.hpp"
#include "compare/compare.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "results/json.hpp"
#include "results/soak_file.hpp"
#include "results/stored_file.hpp"
#include "words/compare.hpp"
#include "words/run.hpp"
#include "words/soak.hpp"

namespace xferbench::app {

namespace {

constexpr std::string_view kOfResults = "xferbench/1";
constexpr std::string_view kOfSoak = "xferbench-soak/1";

/// Standard input can be read only once, and is taken for results.
std::string kind_of(const std::string& file) { return file == "-" ? std::string(kOfResults) : schema_of(file); }
bool is_soak(const std::string& file) { return kind_of(file) == kOfSoak; }

void refuse_other_kinds(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    const std::string kind = kind_of(file);
    if (kind == kOfResults || (kind == kOfSoak && files.size() == 1)) continue;
    std::error_code unknown;
    const bool is_folder = std::filesystem::is_directory(file, unknown);
    const bool is_empty =
        std::filesystem::is_regular_file(file, unknown) && std::filesystem::file_size(file, unknown) == 0;
    const std::string found = is_folder         ? "is a folder"
                              : is_empty        ? "is empty"
                              : kind == kOfSoak ? "is a soak beside other files"
                              : kind.empty()    ? "does not begin as a file of xferbench"
                                                : "is '" + kind + "'";
    throw InputError(
        fmt::format("{} {}; report shows results (what a run writes with --json) and a soak's file by "
                    "itself; a verdict or an explanation becomes a page by its own command, with --html",
                    printable(file), found));
  }
}

Document document_of_soak(const std::string& file) {
  const StoredSoak soak = read_soak(file);
  if (soak.last) return document_of(soak.header, *soak.last);
  throw InputError(fmt::format("{}: the soak ended before its first interval; there is nothing to show", file));
}

Document document_of_several(const cli::ReportCommand& command) {
  std::vector<NamedReport> base = read_reports(command.stored);
  const xferbench::compare::Options options{.metrics_declared = declared_by(descriptors()),
                                            .allow_simulated = command.allow_simulated};
  if (command.stored.size() > 2) {
    const auto table = xferbench::compare::across(base, options);
    if (!command.show.quiet) warn(table.warnings);
    return document_of(table);
  }
  const std::vector<NamedReport> next{std::move(base.back())};
  base.pop_back();
  const auto comparison = xferbench::compare::compare(base, next, options);
  if (!command.show.quiet) warn(comparison.warnings);
  return document_of(comparison, command.show.wide, false);
}

/// With cases as their scenarios declare them, so that sizes are shown as such; what is of another version stays.
Report with_axes(Report report) {
  for (Result& result : report.results) {
    const Scenario* scenario = scenario_of(result.config);
    try {
      if (scenario != nullptr) result.config = legal_case(*scenario, result.config);
    } catch (const UsageError&) {
    }
  }
  return report;
}

/// What they say; of a run all rows, or as many as a terminal has.
std::function<Document(bool every_row)> shown_by(const cli::ReportCommand& command) {
  const std::string& first = command.stored.front();
  if (command.stored.size() > 1) return [document = document_of_several(command)](bool) { return document; };
  if (is_soak(first)) return [document = document_of_soak(first)](bool) { return document; };
  return [report = with_axes(read_report(first)), details = command.show.details](bool every_row) {
    return document_of(report, descriptors(), {.details = details, .every_row = every_row});
  };
}

}  // namespace

int perform(const cli::ReportCommand& command) {
  JudgementFiles files(command.files, command.stored);
  refuse_other_kinds(command.stored);
  const auto shown = shown_by(command);
  const Style style = style_of(command.show);
  files.write(
      {.table = [&] { return to_terminal(shown(style.every_row), style); }, .document = [&] { return shown(true); }});
  return static_cast<int>(ExitCode::ok);
}

}  // namespace xferbench::app

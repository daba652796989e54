// Command `report`: shows stored files as tables, Markdown or HTML pages.
#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "app/commands.hpp"
#include "app/files.hpp"
#include "app/pooled_run.hpp"
#include "app/session.hpp"
#include "compare/compare.hpp"
#include "compare/processes.hpp"
#include "compare/trend.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "report/explain/explain_report.hpp"
#include "results/soak_file.hpp"
#include "results/stored_file.hpp"
#include "results/trace_file.hpp"
#include "words/compare.hpp"
#include "words/explain.hpp"
#include "words/soak.hpp"
#include "words/timelines.hpp"

namespace xferbench::app {

namespace {

constexpr std::string_view kOfResults = "xferbench/1";
constexpr std::string_view kOfSoak = "xferbench-soak/1";

/// Returns the schema name of a file. Standard input is assumed to contain results, because it can be read only once.
std::string kind_of(const std::string& file) { return file == "-" ? std::string(kOfResults) : schema_of(file); }

/// The input files of the command, in two groups. Timelines are shown below the `judged` files.
struct Stored {
  std::vector<std::string> judged{};
  std::string kind{};                                          ///< schema name of the first file in `judged`
  std::vector<std::pair<std::string, TraceFile>> timelines{};  ///< pairs of file name and timeline
};

bool stands_alone(const std::string& kind) { return kind == kOfSoak || kind == kExplanationSchema; }

void refuse_other_kinds(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    const std::string kind = kind_of(file);
    if (kind == kOfResults || kind == kTraceEvents || (stands_alone(kind) && files.size() == 1)) continue;
    std::error_code unknown;
    const bool is_folder = std::filesystem::is_directory(file, unknown);
    const bool is_empty =
        std::filesystem::is_regular_file(file, unknown) && std::filesystem::file_size(file, unknown) == 0;
    const std::string found = is_folder            ? "is a folder"
                              : is_empty           ? "is empty"
                              : kind == kOfSoak    ? "is a soak, which must be given alone"
                              : stands_alone(kind) ? "is an explanation, which must be given alone"
                              : kind.empty()       ? "is not a file written by xferbench"
                                                   : "is '" + kind + "'";
    throw InputError(
        fmt::format("{} {}; report shows results (--json of a run) and timelines, or one soak or explanation alone; "
                    "compare, check and validate write their own pages with --html",
                    printable(file), found));
  }
}

Document document_of_soak(const std::string& file) {
  const StoredSoak soak = read_soak(file);
  if (!soak.last) {
    throw InputError(fmt::format("{}: the soak ended before its first interval, so it has no results", file));
  }
  return document_of(soak.header, *soak.last, rates_in(file));
}

Document compared(const cli::ReportCommand& command, const Sides& sides, const xferbench::compare::Options& options) {
  const auto comparison = xferbench::compare::compare(sides.base, sides.new_side, options);
  if (!command.show.quiet) warn(comparison.warnings);
  return document_of(comparison, command.show.wide, false);
}

Stored sorted(const std::vector<std::string>& files) {
  Stored stored;
  for (const std::string& file : files) {
    if (kind_of(file) == kTraceEvents) {
      stored.timelines.emplace_back(std::filesystem::path(file).filename().string(), read_trace(file));
    } else {
      stored.judged.push_back(file);
    }
  }
  if (!stored.judged.empty()) stored.kind = kind_of(stored.judged.front());
  return stored;
}

/// Returns a document that contains only the warnings (simulated, injected fault, not verified) of all timelines.
Document document_of_timelines(const Stored& stored) {
  Trust trust = Trust::of_facts();
  for (const auto& [name, file] : stored.timelines) {
    const Trust its = trust_of(file);
    if (trust.profile.empty()) trust.profile = its.profile;
    if (trust.fault.empty()) trust.fault = its.fault;
    trust.verified = trust.verified && its.verified;
  }
  return {"xferbench", trust};
}

using Shows = std::function<Document(bool every_row)>;

Shows always(Document document) {
  return [document = std::move(document)](bool) { return document; };
}

/// Returns a function that shows a run, either with all table rows or with as many as fit on a terminal.
Shows shown_of_run(const cli::ReportCommand& command, xferbench::compare::Processes processes) {
  return [run = pooled(std::move(processes)), details = command.show.details](bool every_row) {
    return document_of_pooled(run, details, every_row);
  };
}

/// Shows one run, the comparison of two runs, or more runs side by side. A run may have several files.
Shows shown_of_runs(const cli::ReportCommand& command, const std::vector<std::string>& files,
                    const xferbench::compare::Options& options) {
  std::vector<xferbench::compare::Processes> runs = xferbench::compare::runs_of(read_reports(files));
  if (runs.size() == 2) return always(compared(command, {std::move(runs[0]), std::move(runs[1])}, options));
  if (runs.size() == 1) return shown_of_run(command, std::move(runs.front()));
  std::vector<NamedReport> whole;
  for (auto& run : runs) whole.push_back(xferbench::compare::pooled_run(std::move(run)));
  const auto table = xferbench::compare::across(whole, options);
  if (!command.show.quiet) warn(table.warnings);
  return always(document_of(table));
}

/// Returns a function that shows all files of the command except timelines. Its argument says whether a run is shown
/// with all table rows or with as many as fit on a terminal.
Shows shown_by(const cli::ReportCommand& command, const Stored& stored) {
  const xferbench::compare::Options options{.metrics_declared = declared_by(descriptors()),
                                            .allow_simulated = command.allow_simulated};
  if (!command.trend.empty()) {
    refuse_same_twice(command.trend);
    return always(document_of(xferbench::compare::trend(read_reports(command.trend), options)));
  }
  if (!command.base.empty()) return always(compared(command, read_sides(command.base, command.new_side), options));
  if (stored.judged.empty()) return always(document_of_timelines(stored));
  const std::string& first = stored.judged.front();
  if (stored.kind == kOfSoak) return always(document_of_soak(first));
  if (stored.kind == kExplanationSchema) return always(document_of(read_explanation(first)));
  return shown_of_runs(command, stored.judged, options);
}

/// Returns the run whose numbers --format writes. Throws UsageError if the files are not of one run.
PooledRun run_to_format(const cli::ReportCommand& command, const Stored& stored) {
  std::vector<xferbench::compare::Processes> runs;
  if (stored.kind == kOfResults) runs = xferbench::compare::runs_of(read_reports(stored.judged));
  if (runs.size() != 1) throw UsageError("--format writes the numbers of one run; name its results file or files");
  PooledRun run = pooled(std::move(runs.front()));
  if (!command.show.quiet) warn(left_out_of(command.files.formats, run.report));
  return run;
}

Document with_timelines(Document document, const Stored& stored) {
  for (const auto& [name, file] : stored.timelines) {
    document.add(Heading{.text = "timeline " + name, .common = {file.gpu}, .marks = trust_of(file).words()}, true);
    add_timelines(file, document);
  }
  return document;
}

}  // namespace

int perform(const cli::ReportCommand& command) {
  std::vector<std::string> inputs = command.stored;
  for (const auto* some : {&command.base, &command.new_side, &command.trend}) {
    inputs.insert(inputs.end(), some->begin(), some->end());
  }
  JudgementFiles files(command.files, inputs);
  refuse_other_kinds(inputs);
  const Stored stored = sorted(command.stored);
  std::optional<PooledRun> run;
  if (!command.files.formats.empty()) run = run_to_format(command, stored);
  const Shows of_run = [&](bool every_row) { return document_of_pooled(*run, command.show.details, every_row); };
  const Shows alone = run ? of_run : shown_by(command, stored);
  const Shows shown = [&](bool every_row) { return with_timelines(alone(every_row), stored); };
  const Style style = style_of(command.show);
  files.write({.document = [&] { return shown(true); },
               .style = style,
               .shown = [&] { return shown(style.every_row); },
               .report = run ? &run->report : nullptr});
  return static_cast<int>(ExitCode::ok);
}

}  // namespace xferbench::app

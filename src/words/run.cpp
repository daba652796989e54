#include "words/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "core/lists.hpp"
#include "core/printable.hpp"
#include "core/shell.hpp"
#include "core/units.hpp"
#include "words/answer.hpp"
#include "words/case_tables.hpp"
#include "words/charts.hpp"
#include "words/findings.hpp"
#include "words/fleet.hpp"
#include "words/heat_maps.hpp"
#include "words/machine.hpp"
#include "words/timelines.hpp"
#include "words/trust.hpp"

namespace xferbench {

namespace {

/// Adds the measurements of a single case: those that have a column, or with `details` all.
void add_measurements(const Result& result, const ScenarioDescriptor& scenario, bool details, Document& document) {
  std::vector<const Measurement*> shown;
  std::size_t more = 0;
  for (const Measurement& m : result.measurements) {
    if (m.samples.empty()) continue;
    const MetricDeclaration* declared = find(scenario.metrics, MetricDeclaration::Kind::measurement, m.name);
    const bool is_column = declared != nullptr && !declared->heading.empty();
    if (details || is_column) {
      shown.push_back(&m);
    } else {
      ++more;
    }
  }
  if (!shown.empty()) document.add(table_of(shown), true);
  if (more > 0) document.add(more_note(more, "measurement"), shown.empty());
}

Sentence note(std::string text) { return {.text = std::move(text), .tone = Tone::dim, .margin = 2}; }

std::vector<const Result*> without(std::vector<const Result*> results, const std::vector<const Result*>& others) {
  const std::set<const Result*> gone(others.begin(), others.end());
  std::erase_if(results, [&gone](const Result* r) { return gone.contains(r); });
  return results;
}

/// Maximum rows of a table above matrices; more rows would only repeat the numbers of the matrices.
constexpr std::size_t kMostRowsBesideMatrices = 24;

/// Maximum rows of a table. Nobody reads more in a terminal, and the text of all rows must fit in memory.
constexpr std::size_t kMostHeadlineRows = 1000;

/// Adds the table of cases, shortened to a readable length, and how many rows are left out for which reason.
void add_headline(const Group& group, const HeatMaps& maps, bool every_row, Document& document) {
  const std::vector<const Result*> in_rows = with_row(group);
  const bool left_out = !every_row && in_rows.size() > kMostRowsBesideMatrices;
  std::vector<const Result*> shown = left_out ? without(in_rows, maps.in_over_gpus) : in_rows;
  const std::size_t in_matrices = in_rows.size() - shown.size();
  const std::size_t too_many = every_row || shown.size() <= kMostHeadlineRows ? 0 : shown.size() - kMostHeadlineRows;
  shown.resize(shown.size() - too_many);
  if (!shown.empty()) document.add(headline_table(group, shown));
  const auto& about = group.scenario.note;
  if (about && std::ranges::any_of(shown, [&](const Result* r) { return r->metric(about->metric) != nullptr; })) {
    document.add(note(std::string(about->text)), false, Shown::elsewhere);
  }
  if (const std::vector<std::string> skipped = skipped_lines(group); !skipped.empty()) {
    document.add(List(skipped, Tone::dim));
  }
  if (in_matrices > 0) {
    document.add(note(fmt::format("{} rows not shown because the matrices have them; --wide shows them", in_matrices)));
  }
  if (too_many > 0) {
    document.add(note(fmt::format("{} more rows not shown; --wide shows them, --json and --csv have them", too_many)));
  }
  const auto not_begun = std::ranges::count_if(group.results, [](const Result* r) { return r->reason == kNotBegun; });
  if (not_begun > 0) {
    document.add(note(fmt::format("{} of {} cases not started", not_begun, group.results.size())));
  }
}

void add_maps(const HeatMaps& maps, Document& document) {
  for (const Matrix& map : maps.over_counts) document.add(map, true, Shown::coloured);
  for (const Matrix& map : maps.over_gpus) document.add(map, true);
  for (const std::string& text : maps.notes_over_counts) {
    document.add(Sentence{.text = text, .margin = 2}, true, Shown::coloured);
  }
  if (!maps.notes_over_gpus.empty()) document.add(List(maps.notes_over_gpus), true);
}

std::vector<const Result*> results_of(const Report& report, const ScenarioDescriptor& scenario) {
  return those_of(pointers_to(report.results), [&](const Result* r) { return r->config.scenario() == scenario.name; });
}

/// Adds the number of failed cases, and the answer of each scenario.
void add_answers(const Report& report, Descriptors scenarios, Document& document) {
  const auto failed = std::ranges::count(report.results, Status::failed, &Result::status);
  if (failed > 0) {
    const std::size_t all = report.results.size();
    const std::string text = fmt::format("{} of {} FAILED", failed, counted(all, "case"));
    document.add(Sentence{.text = text, .tone = Tone::bad, .strong = true});
  }
  const auto first = [&](const Result& r) { return r.config.scenario() == report.results.front().config.scenario(); };
  const bool several = !std::ranges::all_of(report.results, first);
  for (const ScenarioDescriptor* scenario : scenarios) {
    const auto leads = [&](const Finding& f) { return f.scenario == scenario->name && leads_answer(*scenario, f); };
    std::vector<std::string> answers = list_of(those_of(report.findings, leads), &Finding::text);
    std::ranges::move(answers_of(*scenario, results_of(report, *scenario)), std::back_inserter(answers));
    for (const std::string& answer : answers) {
      document.add(Sentence{.text = several ? scenario->name + ": " + answer : answer,
                            .tone = Tone::bold,
                            .strong = true,
                            .is_long = true});
    }
  }
}

void add_section(const Report& report, const ScenarioDescriptor& scenario, const RunView& shown, Document& document) {
  const std::vector<const Result*> results = results_of(report, scenario);
  if (results.empty()) return;
  const Group group{scenario, results};
  const Fixed fixed = fixed_axes(group);
  Heading heading{.text = std::string(scenario.name), .marks = document.trust.words()};
  for (const auto& [axis, value] : fixed) heading.common.push_back(axis + " " + value);
  const Environment& environment = report.environment;
  if (scenario.gpus == UsesGpus::one && environment.gpu_count() > 1) {
    heading.common.push_back(fmt::format("GPU {} only", environment.number_of(0)));
  }
  document.add(std::move(heading), true);
  std::vector<Chart> charts = charts_of(scenario, results);
  if (charts.empty()) {
    for (Bars& bars : bars_of(scenario, results)) document.add(std::move(bars), true, Shown::pages);
  }
  for (Chart& chart : charts) document.add(std::move(chart), true, Shown::pages);
  for (Bars& bars : gpu_bars_of(scenario, results)) document.add(std::move(bars), true, Shown::pages);
  const HeatMaps maps = heat_maps(scenario, results, environment);
  add_headline(group, maps, shown.every_row, document);
  if (results.size() == 1 && results.front()->status == Status::ok) {
    add_measurements(*results.front(), scenario, shown.details, document);
  }
  for (Table& table : gpu_tables(group)) document.add(std::move(table), true);
  add_maps(maps, document);
  const std::string whose = shown.findings_of_first ? fmt::format("findings of process 1 of {}", shown.processes) : "";
  add_findings(report, scenario, {fixed, shown.details, whose}, document);
}

/// Returns the warning without numbers and text in parentheses. Warnings that are then equal are of the same kind.
std::string kind_of(const std::string& warning) {
  std::string kind;
  int depth = 0;
  for (const char c : warning) {
    if (c == '(') ++depth;
    if (depth == 0 && std::isdigit(static_cast<unsigned char>(c)) == 0) kind += c;
    if (c == ')' && depth > 0) --depth;
  }
  return kind;
}

/// Returns for example "xferbench --suite ci; started 2026-11-21T10:00:00Z, xferbench 0.1.0 abc1234".
std::string origin_of(const Report& report) {
  constexpr std::size_t kLongest = 300;  // bytes
  std::string command;
  for (const std::string& word : report.command) {
    // --repeat adds this option to the command of each process that it starts.
    if (word.starts_with("--process=")) continue;
    command += (command.empty() ? "" : " ") + shell_quoted(word);
  }
  const std::string commit = report.tool.git.empty() ? "" : " " + report.tool.git;
  return fmt::format("{}; started {}, xferbench {}{}", shortened(command, kLongest), report.started_at,
                     report.tool.version, commit);
}

/// Returns for example "overlap, memcpy on 2 x NVIDIA H200, 2026-11-21".
std::string subject_of(const Report& report, Descriptors scenarios) {
  const auto has_results = [&](const ScenarioDescriptor* s) { return !results_of(report, *s).empty(); };
  const auto names = list_of(those_of(scenarios, has_results), &ScenarioDescriptor::name);
  const std::string machine = machine_line(report.environment);
  return fmt::format("{} on {}, {}", fmt::join(names, ", "), machine.substr(0, machine.find(',')),
                     report.started_at.substr(0, report.started_at.find('T')));
}

/// Whether every case was skipped for a reason that --resume would not change.
bool nothing_can_be_measured(const Report& report) {
  const auto cannot = [](const Result& r) {
    return r.status == Status::skipped && r.reason != kNotBegun && r.reason != kNoSamples;
  };
  return !report.results.empty() && std::ranges::all_of(report.results, cannot);
}

}  // namespace

Document document_of(const Report& report, Descriptors scenarios, const RunView& shown) {
  Document document("xferbench", trust_of(report));
  document.about = subject_of(report, scenarios);
  document.trust.next = shown.next;
  if (nothing_can_be_measured(report)) document.trust.incomplete = "NOTHING MEASURED: every case was skipped";
  if (report.fleet) {
    add_fleet(report, shown.every_row, document);
    document.add(Sentence{.text = origin_of(report), .tone = Tone::dim}, false, Shown::pages);
  } else {
    add_answers(report, scenarios, document);
    document.add(Sentence{.text = machine_line(report.environment), .tone = Tone::dim}, !document.parts.empty());
    document.add(Sentence{.text = origin_of(report), .tone = Tone::dim}, false, Shown::pages);
    for (const ScenarioDescriptor* scenario : scenarios) add_section(report, *scenario, shown, document);
  }
  add_timelines(report, document);
  if (const std::vector<std::string> warnings = warning_lines(report); !warnings.empty()) {
    const char* title = shown.processes > 1 ? "Warnings of single processes" : "Warnings";
    document.add(Heading{.text = title}, true, Shown::elsewhere);
    document.add(List(warnings), false, Shown::elsewhere);
  }
  return document;
}

std::vector<std::string> warning_lines(const Report& report) {
  using Warning = std::pair<const Result*, const std::string*>;
  const auto all = flat_list_of(report.results, [](const Result& r) {
    return list_of(r.warnings, [&r](const std::string& warning) { return Warning(&r, &warning); });
  });
  std::vector<std::string> lines;
  for (const auto& [kind, alike] : by_name(all, [](const Warning& w) { return kind_of(*w.second); })) {
    const auto& [first, warning] = alike.front();
    const std::string of = report.results.size() == 1 ? "" : first->identity() + ": ";
    const std::string more =
        alike.size() == 1 ? "" : fmt::format(" (and in {})", counted(alike.size() - 1, "more case"));
    lines.push_back(of + *warning + more);
  }
  return lines;
}

}  // namespace xferbench
